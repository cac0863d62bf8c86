package session

import (
	"errors"
	"fmt"
	"strings"
)

// parseFrontMatter takes a Markdown file apart that says at its head, between
// two lines of three dashes, what it is: fields of one level, `key: value`, as
// skills and agents have them. Of YAML it knows plain and quoted values, those
// that go on in indented lines, block scalars (| and >), and lists, which become
// one value with commas. What is nested deeper is left out. A file without a
// head has no fields.
func parseFrontMatter(text string) (fields map[string]string, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	before, head, found := cutLine(text, "---")
	if !found || before != "" || !strings.HasPrefix(text, "---") {
		return map[string]string{}, text, nil
	}
	head, body, closed := cutLine(head, "---")
	if !closed {
		return nil, "", errors.New("its head is not closed: a line --- is missing")
	}
	fields = map[string]string{}
	lines := strings.Split(head, "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		i++
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || key != strings.TrimSpace(key) || key == "" {
			return nil, "", fmt.Errorf("line %d of it is no `key: value`", i+1)
		}
		var below []string
		for ; i < len(lines) && (strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "\t") || strings.HasPrefix(lines[i], "- ")); i++ {
			below = append(below, lines[i])
		}
		if fields[key], err = frontValue(strings.TrimSpace(value), below); err != nil {
			return nil, "", fmt.Errorf("the value of %s: %w", key, err)
		}
	}
	return fields, body, nil
}

// cutLine cuts a text at the first line that is the mark, with or without blanks
// behind it.
func cutLine(text, mark string) (before, after string, found bool) {
	at := 0
	for line := range strings.Lines(text) {
		end := at + len(line)
		if strings.TrimRight(line, " \t\n") == mark {
			return strings.TrimSuffix(text[:at], "\n"), text[end:], true
		}
		at = end
	}
	return text, "", false
}

// frontValue is a value of which the indented lines below are a part.
func frontValue(value string, below []string) (string, error) {
	switch {
	case value != "" && (value[0] == '|' || value[0] == '>'):
		return blockScalar(below, value[0] == '|'), nil
	case value != "" && (value[0] == '"' || value[0] == '\''):
		return unquote(withoutComment(joinFolded(value, below)))
	case strings.HasPrefix(value, "["):
		return flowList(joinFolded(value, below))
	case value == "" && len(below) > 0 && strings.HasPrefix(strings.TrimSpace(below[0]), "- "):
		return blockList(below)
	case value == "" && nested(below):
		return "", nil
	}
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimSpace(value[:i])
	}
	return joinFolded(value, below), nil
}

// withoutComment takes off what stands behind a quoted value.
func withoutComment(value string) string {
	for end := len(value); ; {
		at := strings.LastIndex(value[:end], " #")
		if at < 0 {
			return value
		}
		if before := strings.TrimSpace(value[:at]); len(before) > 1 && before[len(before)-1] == value[0] {
			return before
		}
		end = at
	}
}

// nested reports whether the lines are fields of their own.
func nested(lines []string) bool {
	for _, l := range lines {
		if key, _, ok := strings.Cut(strings.TrimSpace(l), ":"); ok && !strings.ContainsAny(key, " \"'") {
			return true
		}
	}
	return false
}

func joinFolded(value string, below []string) string {
	for _, l := range below {
		if l = strings.TrimSpace(l); l != "" {
			value += " " + l
		}
	}
	return strings.TrimSpace(value)
}

func blockScalar(lines []string, literal bool) string {
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if literal {
		return strings.TrimSpace(strings.Join(lines, "\n"))
	}
	return joinFolded("", lines)
}

func blockList(lines []string) (string, error) {
	var items []string
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		item, ok := strings.CutPrefix(l, "- ")
		if !ok {
			return "", errors.New("an entry of the list does not begin with a dash")
		}
		item, err := unquote(strings.TrimSpace(item))
		if err != nil {
			return "", err
		}
		items = append(items, item)
	}
	return strings.Join(items, ", "), nil
}

func flowList(s string) (string, error) {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(s, "["), "]")
	if !ok {
		return "", errors.New("the list is not closed")
	}
	var items []string
	for item := range strings.SplitSeq(inner, ",") {
		item, err := unquote(strings.TrimSpace(item))
		if err != nil {
			return "", err
		}
		if item != "" {
			items = append(items, item)
		}
	}
	return strings.Join(items, ", "), nil
}

// unquote takes quotes off. In single quotes two of them are one; in double ones
// a backslash stands before a quote, a backslash and an n.
func unquote(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, nil
	}
	quote := s[:1]
	if len(s) < 2 || !strings.HasSuffix(s, quote) {
		return "", errors.New("the quote is not closed")
	}
	s = s[1 : len(s)-1]
	if quote == "'" {
		return strings.ReplaceAll(s, "''", "'"), nil
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(s), nil
}
