package tools

import (
	"strconv"
	"strings"
	"time"
)

// unified reads the files of a unified diff.
func (r *patchReader) unified() ([]*patchFile, error) {
	var files []*patchFile
	for r.more() {
		line := r.line(0)
		var f *patchFile
		var err error
		switch {
		case strings.HasPrefix(line, "diff --git "):
			f, err = r.gitFile()
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(r.line(1), "+++ "):
			f, err = r.plainFile()
		case strings.HasPrefix(line, "--- ") && strings.HasPrefix(r.line(1), "@@"):
			err = r.wrong(0, `the line "+++ b/NAME" is missing below it`)
		case strings.HasPrefix(line, "@@ -"):
			err = r.wrong(0, `the hunk belongs to no file: write "--- a/NAME" and "+++ b/NAME" lines above it`)
		case strings.HasPrefix(line, "***************"):
			err = r.wrong(0, "it is a context diff: give a unified one")
		default:
			r.at++
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// patchNames are the names of a file on both sides as they are written.
type patchNames struct{ old, new string }

const devNull = "/dev/null"

// plainFile reads a file that begins with its two names.
func (r *patchReader) plainFile() (*patchFile, error) {
	f := &patchFile{line: r.at + 1}
	folded := strings.HasSuffix(r.lines[r.at], "\r")
	names, dates, err := r.headNames()
	if err != nil {
		return nil, err
	}
	if err := r.hunks(f, folded); err != nil {
		return nil, err
	}
	switch { // a file that is not there has the first of all times
	case len(f.hunks) != 1:
	case dates.old && f.hunks[0].oldAt == 0:
		names.old = devNull
	case dates.new && f.hunks[0].newAt == 0:
		names.new = devNull
	}
	f.old, f.new = names.stripped()
	if len(f.hunks) == 0 {
		return nil, r.wrong(f.line, `no hunk follows: each begins with a line like "@@ -1,3 +1,4 @@"`)
	}
	return f, r.checkNames(f)
}

// nothing says of each side whether its date means that there is no file.
type nothing struct{ old, new bool }

// headNames reads the lines that begin with --- and +++.
func (r *patchReader) headNames() (names patchNames, none nothing, err error) {
	if names.old, none.old, err = r.headName(); err == nil {
		names.new, none.new, err = r.headName()
	}
	return names, none, err
}

// headName reads one of them: a name, quoted where it is odd, and perhaps a tab
// and a date.
func (r *patchReader) headName() (name string, none bool, err error) {
	text := r.line(0)[len("--- "):]
	name, date, tab := strings.Cut(text, "\t")
	switch {
	case strings.HasPrefix(text, `"`):
		if name, date, err = r.quoted(text); err != nil {
			return "", false, err
		}
	case !tab:
		name, date = cutDate(text)
		name = strings.TrimRight(name, " ")
	}
	if name == "" {
		return "", false, r.wrong(0, "the name is missing")
	}
	r.at++
	date = strings.TrimSpace(date)
	return name, strings.HasPrefix(date, "1970-01-01 ") || strings.HasPrefix(date, "1969-12-31 "), nil
}

// cutDate takes off a date that is only a blank apart from the name.
func cutDate(text string) (name, date string) {
	const form = "2006-01-02 15:04:05"
	for i := 1; i+1+len(form) <= len(text); i++ {
		if text[i] != ' ' {
			continue
		}
		if _, err := time.Parse(form, text[i+1:i+1+len(form)]); err == nil {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// quoted reads a name in C's quotes, and gives what follows it.
func (r *patchReader) quoted(text string) (name, rest string, err error) {
	prefix, err := strconv.QuotedPrefix(text)
	if err == nil {
		name, err = strconv.Unquote(prefix)
	}
	if err != nil {
		return "", "", r.wrong(0, "the quoted name %s cannot be read", text)
	}
	return name, text[len(prefix):], nil
}

// stripped takes off the prefixes that git writes before names, a/ and b/ or
// others of one letter, and turns /dev/null into nothing.
func (n patchNames) stripped() (old, new string) {
	one, oldRest := letter(n.old)
	two, newRest := letter(n.new)
	if nowhere := devNull[1:]; oldRest == nowhere && one != "" {
		n.old = devNull
	} else if newRest == nowhere && two != "" {
		n.new = devNull
	}
	switch {
	case n.old == devNull && n.new == devNull:
		return "", ""
	case n.old == devNull && two != "":
		return "", newRest
	case n.old == devNull:
		return "", n.new
	case n.new == devNull && one != "":
		return oldRest, ""
	case n.new == devNull:
		return n.old, ""
	case one != "" && two != "" && one != two:
		old, new = oldRest, newRest
	case one != "" && oldRest == n.new || two != "" && newRest == n.old: // one of them has it
		return n.shorter(), n.shorter()
	default:
		old, new = n.old, n.new
	}
	if old != new && isBackup(old, new) {
		return new, new
	}
	oldTop, oldBelow, _ := strings.Cut(old, "/")
	newTop, newBelow, _ := strings.Cut(new, "/")
	if oldTop != "" && newTop != "" && oldTop != newTop && newBelow != "" && oldBelow == newBelow { // diff -r OLD NEW
		return newBelow, newBelow
	}
	return old, new
}

func (n patchNames) shorter() string {
	if len(n.old) < len(n.new) {
		return n.old
	}
	return n.new
}

// isBackup reports whether old is named as what new was before.
func isBackup(old, new string) bool {
	switch strings.TrimPrefix(old, new) {
	case ".orig", ".old", ".bak", "~":
		return true
	}
	return false
}

// letter cuts off a prefix that git writes (diff.mnemonicPrefix).
func letter(name string) (prefix, rest string) {
	if len(name) > 2 && name[1] == '/' && strings.Contains("abciow12", name[:1]) {
		return name[:1], name[2:]
	}
	return "", name
}

func (r *patchReader) checkNames(f *patchFile) error {
	switch {
	case f.old == "" && f.new == "":
		return r.wrong(f.line, "no file is named: both sides are /dev/null")
	case f.renamed():
		return r.wrong(f.line, `it names two files, %q and %q: to rename, begin with "diff --git a/OLD b/NEW", "rename from OLD" and "rename to NEW"`, f.old, f.new)
	}
	return nil
}

// hunks reads all that follow.
func (r *patchReader) hunks(f *patchFile, folded bool) error {
	for r.more() && strings.HasPrefix(r.line(0), "@@") {
		h, err := r.hunk(folded)
		if err != nil {
			return err
		}
		f.hunks = append(f.hunks, h)
	}
	return nil
}

// gitHead is what git writes above a file's hunks.
type gitHead struct {
	names            patchNames // of the first line
	from, to         string     // of renames and copies
	created, deleted bool
}

// gitFile reads a file that begins with "diff --git".
func (r *patchReader) gitFile() (*patchFile, error) {
	f := &patchFile{line: r.at + 1}
	folded := strings.HasSuffix(r.lines[r.at], "\r")
	head := gitHead{}
	head.names = r.gitNames(r.line(0)[len("diff --git "):])
	for r.at++; r.more(); r.at++ {
		known, err := r.gitHeader(f, &head)
		if err != nil {
			return nil, err
		}
		if !known {
			break
		}
	}
	if strings.HasPrefix(r.line(0), "--- ") && strings.HasPrefix(r.line(1), "+++ ") {
		var err error
		if head.names, _, err = r.headNames(); err != nil {
			return nil, err
		}
	}
	if err := r.hunks(f, folded); err != nil {
		return nil, err
	}
	return f, r.name(f, head)
}

// name gives the file its names.
func (r *patchReader) name(f *patchFile, head gitHead) error {
	f.old, f.new = head.names.stripped()
	switch {
	case head.from != "" || head.to != "":
		if f.old, f.new = head.from, head.to; f.old == "" || f.new == "" {
			return r.wrong(f.line, `"rename from" and "rename to" come together`)
		}
		return nil
	case head.created:
		f.old = ""
	case head.deleted:
		f.new = ""
	}
	if f.old == "" && f.new == "" {
		return r.wrong(f.line, "the names of the file cannot be told: write --- and +++ lines")
	}
	return r.checkNames(f)
}

// gitHeader reads one line of the head; known is false where it is none.
func (r *patchReader) gitHeader(f *patchFile, head *gitHead) (known bool, err error) {
	line := r.line(0)
	for _, key := range []string{"old mode ", "new mode ", "new file mode ", "deleted file mode ", "rename from ", "rename to ",
		"rename old ", "rename new ", "copy from ", "copy to ", "similarity index ", "dissimilarity index ", "index "} {
		if value, ok := strings.CutPrefix(line, key); ok {
			return true, r.gitValue(f, head, strings.TrimSpace(key), value)
		}
	}
	if strings.HasPrefix(line, "GIT binary patch") || strings.HasPrefix(line, "Binary files ") {
		return false, r.wrong(0, "it changes a binary file, which a text cannot: change it with a command")
	}
	return false, nil
}

func (r *patchReader) gitValue(f *patchFile, head *gitHead, key, value string) (err error) {
	switch key {
	case "index":
		if _, mode, ok := strings.Cut(value, " "); ok {
			_, err = r.mode(mode)
		}
	case "old mode":
		_, err = r.mode(value)
	case "new mode":
		f.exec, err = r.mode(value)
	case "new file mode":
		head.created = true
		f.exec, err = r.mode(value)
	case "deleted file mode":
		head.deleted = true
		_, err = r.mode(value)
	case "copy from", "rename from", "rename old":
		head.from, err = r.bareName(value)
		f.copied = key == "copy from"
	case "copy to", "rename to", "rename new":
		head.to, err = r.bareName(value)
	}
	return err
}

// bareName is a name that is alone on its line.
func (r *patchReader) bareName(text string) (name string, err error) {
	if strings.HasPrefix(text, `"`) {
		text, _, err = r.quoted(text)
	}
	return text, err
}

// mode reads a file's mode as git has it.
func (r *patchReader) mode(text string) (execBit, error) {
	mode, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32)
	switch kind := mode &^ 0o7777; {
	case err != nil:
		return execKept, r.wrong(0, "%q is no mode: a file's is 100644 or 100755", text)
	case kind == 0o120000:
		return execKept, r.wrong(0, "it changes a symbolic link, which a patch here does not: use a command")
	case kind == 0o160000:
		return execKept, r.wrong(0, "it changes a submodule, which a patch here does not: use git")
	case kind != 0o100000:
		return execKept, r.wrong(0, "%q is no file's mode: it is 100644 or 100755", text)
	case mode&0o100 != 0:
		return execSet, nil
	}
	return execCleared, nil
}

// gitNames reads the two names of a "diff --git" line. Where they are not
// quoted and have spaces, they are cut where both sides say the same; names that
// differ are in other lines too.
func (r *patchReader) gitNames(text string) patchNames {
	if strings.HasPrefix(text, `"`) {
		if old, rest, err := r.quoted(text); err == nil {
			new, _ := r.bareName(strings.TrimPrefix(rest, " "))
			return patchNames{old, new}
		}
		return patchNames{devNull, devNull}
	}
	if old, _, ok := strings.Cut(text, ` "`); ok && strings.HasSuffix(text, `"`) {
		if new, _, err := r.quoted(text[len(old)+1:]); err == nil {
			return patchNames{old, new}
		}
	}
	for i, c := range text {
		if c != ' ' {
			continue
		}
		n := patchNames{text[:i], text[i+1:]}
		if old, new := n.stripped(); old == new {
			return n
		}
	}
	return patchNames{devNull, devNull}
}
