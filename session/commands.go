package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
)

// direct is a command that the agent itself carries out.
type direct func(ctx context.Context, t *Turn) error

// command is a slash command with the function that reads its arguments.
type command struct {
	Command
	parse func(s *Session, args string) (direct, error)
}

// commandTable is every slash command, in the order of the editor's menu.
func commandTable() []command {
	return []command{
		{Command{"read", "Read a file, without a model", "PATH [OFFSET [LIMIT]]"}, parseRead},
		{Command{"grep", "Search the files' text, without a model", "PATTERN [PATH]"}, parseGrep},
		{Command{"glob", "Find files by name, without a model", "PATTERN [PATH]"}, parseGlob},
		{Command{"run", "Run a shell command, without a model", "COMMAND"}, parseRun},
		{Command{"edit", "Replace text in a file, without a model", `PATH "OLD" "NEW"`}, parseEdit},
		{Command{"fetch", "Read a page of the web, without a model", "URL"}, parseFetch},
		{Command{"def", "Show where a symbol is defined", "SYMBOL [PATH[:LINE]]"}, parseLookUp("definition")},
		{Command{"refs", "Show where a symbol is used", "SYMBOL [PATH[:LINE]]"}, parseLookUp("references")},
		{Command{"symbols", "List the symbols of a file, or find symbols by name", "PATH|NAME"}, parseSymbols},
		{Command{"diag", "Show the problems that language servers find", "[PATH]"}, parseDiagnostics},
		{Command{"lsp", "Show the language servers, or start them anew", "[restart [NAME]]"}, parseServers},
		{Command{"mode", "Show or change what is asked before it is done", "[MODE]"}, parseMode},
		{Command{"permissions", "Show the rules in force, or take back what you granted", "[revoke N|PATTERN]"}, parsePermissions},
		{Command{"model", "Show or change the model", "[PROVIDER/MODEL]"}, parseModel},
		{Command{"help", "List the commands", ""}, parseHelp},
	}
}

// Commands is what the editor offers behind a slash: the agent's own commands,
// then the skills whose names are none of these.
func (s *Session) Commands() []Command {
	table := commandTable()
	out := make([]Command, 0, len(table))
	for _, c := range table {
		out = append(out, c.Command)
	}
	for _, k := range s.findSkills() {
		if !slices.ContainsFunc(table, func(c command) bool { return c.Name == k.name }) {
			out = append(out, Command{k.name, cmp.Or(shorten(k.description, maxCommandHint), "A skill"), "[WHAT TO DO WITH IT]"})
		}
	}
	return out
}

// maxCommandHint is how much of a skill's description stands in the menu, in
// bytes.
const maxCommandHint = 120

// parseCommand reads a prompt that begins with the name of a slash command. It
// returns nil where it is none: then it is the model's.
func (s *Session) parseCommand(prompt string) (direct, error) {
	name, args := commandName(prompt)
	for _, c := range commandTable() {
		if c.Name != name {
			continue
		}
		d, err := c.parse(s, strings.TrimSpace(args))
		if err != nil {
			// A slip of the user's is answered in the conversation.
			text := fmt.Sprintf("%v\n\nUse: `/%s %s`", err, c.Name, c.Hint)
			return func(ctx context.Context, t *Turn) error { t.answer(ctx, text); return nil }, nil
		}
		return d, nil
	}
	return nil, nil
}

// commandName cuts a prompt that begins with a slash into the name behind it and
// the rest; of any other the name is empty.
func commandName(prompt string) (name, args string) {
	name, args, _ = strings.Cut(strings.TrimSpace(prompt), " ")
	if first, rest, ok := strings.Cut(name, "\n"); ok {
		name, args = first, rest+" "+args
	}
	name, ok := strings.CutPrefix(name, "/")
	if !ok {
		return "", ""
	}
	return name, args
}

// runTool runs one tool with the arguments that a person typed, through the
// same permissions, and puts the result into the conversation.
func runTool(name string, args map[string]any) (direct, error) {
	input, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *Turn) error {
		c := t.newCall(name)
		c.rec.Args = string(input)
		rec := t.session.newRecorder()
		defer rec.finish(ctx, readerBoth)
		r := &reply{rec: rec, calls: []*call{c}}
		t.session.remember(model.Message{Role: model.RoleAssistant, Parts: []model.Part{c.rec.asCall()}})
		t.runCalls(ctx, r)
		text := kinds.Fence("", c.rec.Result)
		if c.rec.Failed || c.tool.Spec().Kind == kinds.KindEdit {
			text = prose(c.rec.Result)
		}
		if c.rec.Output.ErrorText == errRejected.Error() {
			text = shownError(errRejected)
		}
		id := rec.note(ctx, text, readerEditor)
		t.update(ctx, Chunk{MessageID: id, Content: Text(kinds.SafeMarkdown(text))})
		return nil
	}, nil
}

// answer says something of the agent's own in answer to a command. The model
// is not told.
func (t *Turn) answer(ctx context.Context, text string) {
	rec := t.session.newRecorder()
	defer rec.finish(ctx, readerBoth)
	id := rec.note(ctx, text, readerEditor)
	t.update(ctx, Chunk{MessageID: id, Content: Text(kinds.SafeMarkdown(text))})
}

func parseRead(_ *Session, args string) (direct, error) {
	words, err := splitWords(args)
	if err != nil {
		return nil, err
	}
	if len(words) < 1 || len(words) > 3 {
		return nil, fmt.Errorf("a path is needed, and at most the first line and the number of lines")
	}
	input := map[string]any{"path": words[0]}
	for i, key := range []string{"offset", "limit"} {
		if len(words) > i+1 {
			n, err := strconv.Atoi(words[i+1])
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q is no number of lines", words[i+1])
			}
			input[key] = n
		}
	}
	return runTool("read", input)
}

func parseGrep(_ *Session, args string) (direct, error) { return parseSearch("grep", args) }
func parseGlob(_ *Session, args string) (direct, error) { return parseSearch("glob", args) }

func parseFetch(_ *Session, args string) (direct, error) {
	if args == "" || strings.ContainsAny(args, " \n\t") {
		return nil, errors.New("one URL is needed")
	}
	if !strings.Contains(args, "://") {
		args = "https://" + args
	}
	return runTool("web_fetch", map[string]any{"url": args})
}

func parseSearch(tool, args string) (direct, error) {
	words, err := splitWords(args)
	if err != nil {
		return nil, err
	}
	if len(words) < 1 || len(words) > 2 {
		return nil, fmt.Errorf("a pattern is needed (in quotes where it has blanks), and at most a path")
	}
	input := map[string]any{"pattern": words[0]}
	if len(words) == 2 {
		input["path"] = words[1]
	}
	return runTool(tool, input)
}

func parseRun(_ *Session, args string) (direct, error) {
	if args == "" {
		return nil, fmt.Errorf("a command is needed")
	}
	return runTool("bash", map[string]any{"command": args})
}

func parseEdit(_ *Session, args string) (direct, error) {
	words, err := splitWords(args)
	if err != nil {
		return nil, err
	}
	if len(words) != 3 {
		return nil, fmt.Errorf("a path, the old text and the new text are needed, each in quotes where it has blanks")
	}
	return runTool("edit", map[string]any{"path": words[0], "old_string": words[1], "new_string": words[2]})
}

func parseMode(s *Session, args string) (direct, error) {
	if args == "" {
		return func(ctx context.Context, t *Turn) error {
			t.answer(ctx, fmt.Sprintf("The mode is `%s`. The modes are %s.", s.Mode(), modeNames()))
			return nil
		}, nil
	}
	return func(ctx context.Context, t *Turn) error {
		if err := s.SetMode(permission.Mode(args)); err != nil {
			t.answer(ctx, reasonOf(err))
			return nil
		}
		s.Save(ctx)
		s.tellMode(ctx)
		t.answer(ctx, fmt.Sprintf("The mode is now `%s`.", s.Mode()))
		return nil
	}, nil
}

func parseModel(s *Session, args string) (direct, error) {
	return func(ctx context.Context, t *Turn) error {
		if args != "" {
			if err := s.SetModel(args); err != nil {
				t.answer(ctx, reasonOf(err))
				return nil
			}
			s.Save(ctx)
			t.update(ctx, SettingsChanged{s.Settings()})
		}
		t.answer(ctx, fmt.Sprintf("The model is `%s`.", s.Model()))
		return nil
	}, nil
}

// reasonOf is what is wrong, without the name of the parameter: the user typed
// none.
func reasonOf(err error) string {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		return invalid.Reason
	}
	return err.Error()
}

func parseHelp(s *Session, _ string) (direct, error) {
	var b strings.Builder
	for _, c := range s.Commands() {
		fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimSpace("/"+c.Name+" "+c.Hint), c.Description)
	}
	return func(ctx context.Context, t *Turn) error { t.answer(ctx, b.String()); return nil }, nil
}

// splitWords cuts arguments at blanks. Single quotes take what is in them as it
// stands; double quotes know \n, \t, \" and \\.
func splitWords(s string) ([]string, error) {
	var words []string
	for s = strings.TrimLeft(s, " \t\n"); s != ""; s = strings.TrimLeft(s, " \t\n") {
		word, rest, err := cutWord(s)
		if err != nil {
			return nil, err
		}
		words, s = append(words, word), rest
	}
	return words, nil
}

func cutWord(s string) (word, rest string, err error) {
	switch s[0] {
	case '\'':
		end := strings.IndexByte(s[1:], '\'')
		if end < 0 {
			return "", "", fmt.Errorf("a ' is not closed")
		}
		return s[1 : 1+end], s[2+end:], nil
	case '"':
		return cutQuoted(s[1:])
	}
	if end := strings.IndexAny(s, " \t\n"); end >= 0 {
		return s[:end], s[end:], nil
	}
	return s, "", nil
}

// What may stand behind a backslash in double quotes, and what it means.
const (
	escapes  = `nt"\`
	meanings = "\n\t\"\\"
)

func cutQuoted(s string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(escapes, s[i+1]) >= 0:
			i++
			b.WriteByte(meanings[strings.IndexByte(escapes, s[i])])
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf(`a " is not closed`)
}
