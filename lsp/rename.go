package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rename is what renaming a symbol changes. Nothing is changed yet.
func (v *View) Rename(ctx context.Context, q Target, to string) (Edit, error) {
	var out Edit
	if strings.TrimSpace(to) == "" {
		return out, errors.New("new_name is empty")
	}
	err := v.with(ctx, q.Path, func(ctx context.Context, s session) error {
		if !s.can("renameProvider") {
			return s.cannot("rename")
		}
		places, err := s.places(ctx, q)
		if err != nil {
			return err
		}
		var refused error
		for _, at := range places { // a name in a comment is none that can be renamed, the next may be
			name, err := "", error(nil)
			s := s
			if s.server.spec.AtDeclaration {
				s, at = v.declaration(ctx, s, at)
			}
			if name, err = s.renamable(ctx, at); err == nil {
				left := v.showProjects(ctx, s, s.wordAt(at))
				name = cmp.Or(name, q.Symbol, fmt.Sprintf("what stands on line %d", at.Line+1))
				if err = s.server.spec.checkName(s.doc.path, name, to); err == nil {
					out, err = v.renameAt(ctx, s, at, name, to)
					out.Left = cmp.Or(left, v.unbuilt(ctx, s, at, out.changed()))
				}
			}
			if !errors.Is(err, errNotThere) {
				return err
			}
			refused = cmp.Or(refused, err)
		}
		return refused
	})
	return out, err
}

// errNotThere is in the errors that say that nothing can be renamed at a place.
var errNotThere = errors.New("cannot be renamed")

// renameAt has the server rename what stands at a place.
func (v *View) renameAt(ctx context.Context, s session, at Position, name, to string) (Edit, error) {
	params := struct {
		positionParams
		NewName string `json:"newName"`
	}{positionParams{identifier{fileURI(s.doc.path)}, at}, to}
	out, err := v.settle(ctx, s, func() (*workspaceEdit, error) {
		var answer *workspaceEdit
		err := s.ask(ctx, "textDocument/rename", params, &answer)
		if err == nil && (answer == nil || len(answer.steps) == 0) {
			err = fmt.Errorf("%s on line %d %w, says %s", cmp.Or(name, "what stands"), at.Line+1, errNotThere, s.server.spec.Name)
		}
		return answer, err
	})
	if err != nil {
		return Edit{}, err
	}
	if len(out.Files) == 0 {
		return Edit{}, fmt.Errorf("renaming %s to %s changes nothing", name, to)
	}
	out.Title = fmt.Sprintf("rename %s to %s", name, to)
	return out, nil
}

// strict are the languages whose identifiers are letters, digits, _ and $, and whose
// servers take any new name.
var strict = map[string]bool{"typescript": true, "typescriptreact": true, "javascript": true, "javascriptreact": true, "python": true}

// checkName is the error for a new name that makes no identifier of one.
func (s *Spec) checkName(path, old, to string) error {
	controls := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if strings.ContainsFunc(to, controls) {
		return fmt.Errorf("new_name %q has control characters", to)
	}
	plain := func(name string) bool {
		name = strings.TrimPrefix(name, "#") // a private member
		first, _ := utf8.DecodeRuneInString(name)
		return name != "" && !unicode.IsDigit(first) && !strings.ContainsFunc(name, func(r rune) bool { return !inWord(r) && r != '$' })
	}
	id, _ := s.language(path)
	switch {
	case strict[id] && plain(old) && !plain(to):
		return fmt.Errorf("new_name %q is no identifier", to)
	case id == "python" && strings.Contains(pythonKeywords, " "+to+" "):
		return fmt.Errorf("new_name %q is a keyword", to)
	}
	return nil
}

// pythonKeywords are no names anywhere. In JavaScript keywords name properties.
const pythonKeywords = " False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield "

// declaration is where the symbol at a place is declared, if that is in the
// project: TypeScript renames an imported name only in the file that imports it.
func (v *View) declaration(ctx context.Context, s session, at Position) (session, Position) {
	var found locations
	params := positionParams{identifier{fileURI(s.doc.path)}, at}
	if s.ask(ctx, "textDocument/definition", params, &found) != nil || len(found) != 1 {
		return s, at
	}
	path, err := filePath(found[0].URI)
	if err != nil {
		return s, at
	}
	if _, inside := v.find.folder(path); !inside || strings.Contains(path, string(filepath.Separator)+"node_modules"+string(filepath.Separator)) {
		return s, at
	}
	doc, err := v.show(ctx, s.run, path)
	if err != nil {
		return s, at
	}
	there := session{run: s.run, doc: doc}
	if there.wordAt(found[0].Range.Start) != s.wordAt(at) { // a name of its own for it, as in an import
		return s, at
	}
	return there, found[0].Range.Start
}

// renamable asks whether what stands at a place can be renamed; it returns its name.
func (s session) renamable(ctx context.Context, at Position) (string, error) {
	name := s.wordAt(at)
	if !member(s.caps.Rename, "prepareProvider") {
		return name, nil
	}
	var answer json.RawMessage
	err := s.ask(ctx, "textDocument/prepareRename", positionParams{identifier{fileURI(s.doc.path)}, at}, &answer)
	var place struct {
		Placeholder     string    `json:"placeholder"`
		Range           *Range    `json:"range"`
		Start           *Position `json:"start"`
		End             *Position `json:"end"`
		DefaultBehavior *bool     `json:"defaultBehavior"`
	}
	switch {
	case errors.Is(err, errAnswered):
		return "", fmt.Errorf("%s on line %d %w: %w", cmp.Or(name, "what stands"), at.Line+1, errNotThere, err)
	case err != nil:
		return "", err
	case !truthy(answer), json.Unmarshal(answer, &place) == nil && place.DefaultBehavior != nil && !*place.DefaultBehavior:
		return "", fmt.Errorf("%s on line %d %w, says %s", cmp.Or(name, "what stands"), at.Line+1, errNotThere, s.server.spec.Name)
	case place.Placeholder != "":
		return place.Placeholder, nil
	case place.Start != nil && place.End != nil:
		place.Range = &Range{*place.Start, *place.End}
	}
	if t := s.doc.text; place.Range != nil && place.Range.Start.Line == place.Range.End.Line {
		if from, to := t.offset(place.Range.Start, s.unit), t.offset(place.Range.End, s.unit); from < to {
			name = t.body[from:to]
		}
	}
	return name, nil
}

// wordAt is the word at a place.
func (s session) wordAt(at Position) string {
	body := s.doc.text.body
	from := s.doc.text.offset(at, s.unit)
	to := from
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(body[:from])
		if !inWord(r) {
			break
		}
		from -= size
	}
	for to < len(body) {
		r, size := utf8.DecodeRuneInString(body[to:])
		if !inWord(r) {
			break
		}
		to += size
	}
	return body[from:to]
}
