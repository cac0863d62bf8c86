// Package acpschema holds the published JSON Schema of the Agent Client Protocol
// for tests; NOTICE beside it says where it comes from. It leaves out checking
// anything by it (package acp/acptest).
package acpschema

import _ "embed"

//go:embed v1.schema.json
var v1 []byte

// V1 is the schema of version 1, stable. It must not be changed.
func V1() []byte { return v1 }
