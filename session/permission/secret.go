package permission

import "github.com/acp-agent/acp-agent/kinds"

// secretShape reports whether a text holds what keys and tokens look like
// (policy section 12).
func secretShape(s string) bool { return kinds.SecretShape(s) }
