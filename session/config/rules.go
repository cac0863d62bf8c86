package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/permission"
)

// GrantsFile is where the user's grants in projects are kept.
func (p Paths) GrantsFile() string { return filepath.Join(p.Data, "grants.json") }

// AddRule puts a rule at the end of permissions.rules in the user's file; all
// else there stays as it is written. It reports whether the rule was not there
// yet.
func (p Paths) AddRule(r permission.Rule) (added bool, err error) {
	return p.changeRules(func(root *hujson.Object) (bool, error) {
		rules, err := rulesArray(root, true)
		if err != nil || indexRule(rules, r) >= 0 {
			return false, err
		}
		v, err := ruleValue(r)
		if err != nil {
			return false, err
		}
		before, after, comma := joint(len(rules.Elements), rules.AfterExtra, "\n      ", "\n    ", func() (first, last hujson.Value) {
			return rules.Elements[0], rules.Elements[len(rules.Elements)-1]
		})
		v.BeforeExtra, v.AfterExtra, rules.AfterExtra = before, comma, after
		rules.Elements = append(rules.Elements, v)
		return true, nil
	})
}

// RemoveRule takes a rule out of the user's file, wherever it stands there. The
// comments before it stay. It reports whether it was there.
func (p Paths) RemoveRule(r permission.Rule) (removed bool, err error) {
	if _, err := os.Stat(p.UserFile()); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return p.changeRules(func(root *hujson.Object) (bool, error) {
		rules, err := rulesArray(root, false)
		if err != nil || rules == nil {
			return false, err
		}
		for i := indexRule(rules, r); i >= 0; i = indexRule(rules, r) {
			cutElement(rules, i)
			removed = true
		}
		return removed, nil
	})
}

// RemoveGrants takes back what was granted in the project at root. It reports
// whether that changed anything.
func (p Paths) RemoveGrants(root string, rules []permission.Rule) (removed bool, err error) {
	err = p.grants().change(func(all *map[string][]permission.Rule) error {
		kept := slices.DeleteFunc(slices.Clone((*all)[root]), func(r permission.Rule) bool { return hasRule(rules, r) })
		removed = len(kept) < len((*all)[root])
		switch {
		case !removed:
		case len(kept) == 0:
			delete(*all, root)
		default:
			(*all)[root] = kept
		}
		return nil
	})
	return removed, err
}

// changeRules changes the object that the user's file is. The file keeps its
// mode, and stays where a link leads to. One that is no JSON is not touched.
func (p Paths) changeRules(change func(root *hujson.Object) (bool, error)) (changed bool, err error) {
	path := p.UserFile()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("the folder %s cannot be made: %w", filepath.Dir(path), err)
	}
	unlock, err := lockFile(filepath.Join(filepath.Dir(p.UserFile()), ".config.json.lock"))
	if err != nil {
		return false, err
	}
	defer unlock()
	data, err := readFile(path)
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	bom, text := []byte("\xef\xbb\xbf"), data
	if text = bytes.TrimPrefix(data, bom); len(text) == len(data) {
		bom = nil
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return false, fmt.Errorf("%s cannot be changed until it is mended: %w", path, err)
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return false, fmt.Errorf("%s cannot be changed: it must be an object, { … }", path)
	}
	if changed, err = change(root); err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	if !changed {
		return false, nil
	}
	if err := replaceFile(path, append(bom, v.Pack()...)); err != nil {
		return false, err
	}
	return true, os.Chmod(path, mode)
}

// rulesArray finds permissions.rules, and makes it where it is missing and wanted.
func rulesArray(root *hujson.Object, wanted bool) (*hujson.Array, error) {
	permissions, err := member(root, "permissions", "\n  ", "\n", wanted, func() hujson.ValueTrimmed { return &hujson.Object{} })
	if permissions == nil {
		return nil, err
	}
	o, ok := permissions.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("permissions must be an object")
	}
	rules, err := member(o, "rules", "\n    ", "\n  ", wanted, func() hujson.ValueTrimmed { return &hujson.Array{} })
	if rules == nil {
		return nil, err
	}
	list, ok := rules.Value.(*hujson.Array)
	if !ok {
		return nil, errors.New("permissions.rules must be a list")
	}
	return list, nil
}

// member finds a member of an object, and makes it where it is missing and wanted.
func member(o *hujson.Object, name, indent, end string, wanted bool, value func() hujson.ValueTrimmed) (*hujson.Value, error) {
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i].Value, nil
		}
	}
	if !wanted {
		return nil, nil
	}
	before, after, comma := joint(len(o.Members), o.AfterExtra, indent, end, func() (first, last hujson.Value) {
		return o.Members[0].Name, o.Members[len(o.Members)-1].Value
	})
	o.AfterExtra = after
	o.Members = append(o.Members, hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: value(), AfterExtra: comma},
	})
	return &o.Members[len(o.Members)-1].Value, nil
}

// joint is what stands before and after a further entry of a list that ends in
// extra: as with the entries that are there, of which a comment behind the last
// stays with it. Comma is the entry's AfterExtra, by which a comma at the end is
// kept.
func joint(n int, extra hujson.Extra, indent, end string, ends func() (first, last hujson.Value)) (before, after, comma hujson.Extra) {
	text := string(extra)
	space := text[len(strings.TrimRight(text, " \t\r\n")):] // behind the last comment
	if n == 0 {
		if space == "" || !strings.Contains(space, "\n") {
			space = end
		}
		return hujson.Extra(strings.TrimRight(text, " \t\r\n") + indent), hujson.Extra(space), nil
	}
	first, last := ends()
	if last.AfterExtra != nil {
		comma = hujson.Extra{}
	}
	lead := string(first.BeforeExtra)
	if at := strings.LastIndexByte(lead, '\n'); at >= 0 {
		lead = lead[at:]
	}
	if strings.Trim(lead, " \t\r\n") != "" || lead == "" {
		lead = " "
	}
	comments := text[:len(text)-len(space)]
	if comments != "" && !strings.HasPrefix(lead, "\n") {
		lead = "\n" + lead // a comment of a line ends with it
	}
	return hujson.Extra(comments + lead), hujson.Extra(space), comma
}

// cutElement takes an element out and keeps the comments around it.
func cutElement(list *hujson.Array, i int) {
	comments := commentsOf(list.Elements[i].BeforeExtra)
	last := i == len(list.Elements)-1
	comma := list.Elements[len(list.Elements)-1].AfterExtra
	list.Elements = slices.Delete(list.Elements, i, i+1)
	switch {
	case last && len(list.Elements) > 0:
		list.Elements[i-1].AfterExtra = comma
		list.AfterExtra = append(comments, list.AfterExtra...)
	case last:
		list.AfterExtra = append(comments, list.AfterExtra...)
	default:
		list.Elements[i].BeforeExtra = append(comments, list.Elements[i].BeforeExtra...)
	}
}

// commentsOf is what stands before an element without the blanks directly before
// it; empty where that is no comment.
func commentsOf(extra hujson.Extra) hujson.Extra {
	return hujson.Extra(strings.TrimRight(string(extra), " \t\r\n"))
}

// indexRule is where a rule stands in a list; below 0: nowhere.
func indexRule(list *hujson.Array, r permission.Rule) int {
	return slices.IndexFunc(list.Elements, func(e hujson.Value) bool {
		var have permission.Rule
		return decode(e, &have) == nil && hasRule([]permission.Rule{have}, r)
	})
}

// ruleValue is a rule as it is written in a file.
func ruleValue(r permission.Rule) (hujson.Value, error) {
	var b strings.Builder
	b.WriteByte('{')
	for _, field := range []struct{ name, value string }{{"permission", r.Permission}, {"pattern", r.Pattern}, {"action", r.Action.String()}} {
		if field.value == "" {
			continue
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(field.value); err != nil {
			return hujson.Value{}, err
		}
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: %s", field.name, bytes.TrimSpace(text.Bytes()))
	}
	b.WriteByte('}')
	return hujson.Parse([]byte(b.String()))
}
