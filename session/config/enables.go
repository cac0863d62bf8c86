package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/permission"
)

// Part is what sort of thing a project's files enable. The value is the heading
// under which the user reads it.
type Part string

// The parts, the most dangerous first.
const (
	PartHooks    Part = "Hooks, which run these commands without asking"
	PartServers  Part = "MCP servers, which may be started"
	PartLanguage Part = "Language servers and how they are started"
	PartWide     Part = "Rules that allow everything of a kind without asking, and further folders that count as inside"
	PartRules    Part = "Rules that allow without asking"
	PartSettings Part = "Settings"
)

// Enabled is one thing that a project's files put into force once the project is
// trusted (security/policy.md, section 11).
type Enabled struct {
	Part   Part
	Text   string // what it is, whole, as it stands in the file
	File   string
	Line   int
	Digest string // of all that takes effect
}

// Sorted is the list with its parts together, the most dangerous first.
func Sorted(list []Enabled) []Enabled {
	parts := []Part{PartHooks, PartServers, PartLanguage, PartWide, PartRules, PartSettings}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Enabled) int { return slices.Index(parts, a.Part) - slices.Index(parts, b.Part) })
	return list
}

// enable notes what a project's file would put into force. What makes it the same
// thing is the parts of its digest.
func (r *reader) enable(part Part, text string, offset int, same ...string) {
	if r.scope != permission.Project {
		return
	}
	h := sha256.New()
	for _, s := range append([]string{string(part)}, same...) {
		h.Write([]byte(strconv.Quote(s)))
	}
	r.enabled = append(r.enabled, Enabled{part, text, r.file, r.line(offset), hex.EncodeToString(h.Sum(nil))})
}

// enableValue notes a setting, or one server, as it is written.
func (r *reader) enableValue(part Part, name string, v hujson.Value) {
	value := compact(v)
	r.enable(part, name+" = "+value, v.StartOffset, name, value)
}

// enableWide notes what takes effect in no project before the user confirmed this
// very thing, however trusted the folder is. It reports whether they did.
func (r *reader) enableWide(text string, offset int, same ...string) bool {
	r.enable(PartWide, text, offset, same...)
	if r.confirmed != nil && r.confirmed(r.enabled[len(r.enabled)-1].Digest) {
		return true
	}
	r.warn(offset, "%s: this waits for a word of its own, which `acp-agent trust` gives", text)
	return false
}

// servers notes the MCP servers of a file that has nothing else of ours.
func (r *reader) servers(root *hujson.Object) {
	if v := find(root, "mcpServers"); v != nil && !r.restrictOnly {
		r.enableServers(PartServers, *v)
	}
}

// compact is a value without comments and blanks.
func compact(v hujson.Value) string {
	v = v.Clone()
	v.Standardize()
	var b bytes.Buffer
	if err := json.Compact(&b, v.Pack()); err != nil {
		return string(v.Pack())
	}
	return b.String()
}

// enableKey notes what a key of a project's file puts into force. Rules and folders say
// that themselves.
func (r *reader) enableKey(key string, v hujson.Value) {
	switch {
	case key == "permissions.rules" || key == "additionalDirectories":
	case strings.HasPrefix(key, "hooks."):
		r.enableHooks(strings.TrimPrefix(key, "hooks."), v)
	case key == "mcpServers":
		r.enableServers(PartServers, v)
	case key == "lsp.servers":
		r.enableServers(PartLanguage, v)
	default:
		r.enableValue(PartSettings, key, v)
	}
}

// enableHooks notes the hooks of an event.
func (r *reader) enableHooks(event string, v hujson.Value) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return
	}
	for _, e := range list.Elements {
		hook, err := readHook(e)
		if err != nil {
			continue // it never runs
		}
		text := event
		if len(hook.Match) > 0 {
			text += " (" + strings.Join(hook.Match, ", ") + ")"
		}
		r.enable(PartHooks, text+": "+hook.Command, e.StartOffset, event, compact(e))
	}
}

// enableServers notes the servers of an object by name.
func (r *reader) enableServers(part Part, v hujson.Value) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	for _, m := range o.Members {
		r.enableValue(part, m.Name.Value.(hujson.Literal).String(), m.Value)
	}
}
