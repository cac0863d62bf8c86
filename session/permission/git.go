package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// gitForm is how a subcommand of git only reads (policy section 6).
type gitForm struct {
	flags    string // exact words; a trailing "=" takes an attached value
	valued   string // flags with a value, attached by "=" or separate
	short    string // letters without a value
	shortVal string // letters with a value
	number   bool   // -20
	operands bool   // takes revisions and paths
	first    string // words that the first operand must be one of
	bare     bool   // may be without an operand where first is set
}

const gitShape = "no-ext-diff no-textconv oneline graph stat shortstat numstat name-only name-status no-color color= color patch no-patch raw summary pretty= format= abbrev-commit abbrev= decorate= decorate no-decorate all branches tags remotes reverse no-merges merges first-parent date= relative-date cached staged word-diff= word-diff ignore-all-space ignore-space-change ignore-blank-lines unified= minimal patience histogram diff-filter= find-renames follow topo-order date-order full-index binary exit-code quiet no-renames compact-summary dirstat cc check left-right stat= simplify-by-decoration"

// gitForms are the subcommands that are silent in a trusted folder.
var gitForms = map[string]gitForm{
	"status":        {flags: "short branch porcelain= porcelain long show-stash ahead-behind no-ahead-behind untracked-files= ignored= ignored no-renames verbose", short: "sbvuz", operands: true},
	"diff":          {flags: gitShape, valued: "diff-algorithm", short: "pusRabwzMC", shortVal: "UGS", operands: true},
	"log":           {flags: gitShape, valued: "since until after before author committer grep max-count skip", short: "pusiEFPwbzMC", shortVal: "nSGUL", number: true, operands: true},
	"show":          {flags: gitShape, valued: "max-count", short: "puswbzMC", shortVal: "nU", number: true, operands: true},
	"shortlog":      {flags: "summary numbered email no-merges all", valued: "since until", short: "sne", operands: true},
	"blame":         {flags: "porcelain line-porcelain show-email root date=", short: "blwtseMCp", shortVal: "L", operands: true},
	"branch":        {flags: "all remotes verbose list show-current contains no-contains merged no-merged sort= format= color= no-color", valued: "contains no-contains merged no-merged", short: "arv"},
	"tag":           {flags: "list sort= contains no-contains merged no-merged format=", valued: "contains no-contains merged no-merged", short: "ln"},
	"remote":        {flags: "verbose", short: "v", first: "get-url", bare: true},
	"stash":         {flags: "oneline stat patch", short: "p", first: "list show"},
	"worktree":      {flags: "porcelain verbose", short: "v", first: "list"},
	"reflog":        {flags: "oneline date=", shortVal: "n", number: true, first: "show", bare: true},
	"rev-parse":     {flags: "abbrev-ref abbrev-ref= show-toplevel show-prefix show-cdup short short= verify quiet git-dir git-common-dir is-inside-work-tree is-bare-repository symbolic-full-name all branches tags", short: "q", operands: true},
	"rev-list":      {flags: "count all no-merges merges first-parent left-right oneline reverse", valued: "max-count since until", shortVal: "n", number: true, operands: true},
	"ls-files":      {flags: "cached deleted modified others stage directory exclude-standard full-name error-unmatch", short: "cdmostz", operands: true},
	"ls-tree":       {flags: "name-only name-status long full-name full-tree abbrev=", short: "rdtlz", operands: true},
	"merge-base":    {flags: "all is-ancestor fork-point octopus independent", short: "a", operands: true},
	"describe":      {flags: "tags always all long dirty abbrev= exact-match contains", valued: "match", operands: true},
	"name-rev":      {flags: "name-only tags always", operands: true},
	"for-each-ref":  {flags: "sort= format= count= merged= contains=", operands: true},
	"show-ref":      {flags: "heads tags head verify quiet hash= hash abbrev=", short: "sqd", operands: true},
	"diff-tree":     {flags: "name-only name-status no-commit-id root stat patch", short: "rptvs", operands: true},
	"count-objects": {flags: "verbose human-readable", short: "vH"},
	"check-ignore":  {flags: "verbose quiet", short: "vqn", operands: true},
	"cat-file":      {short: "ptse", operands: true},
	"grep":          {flags: "ignore-case word-regexp line-number count name-only files-with-matches files-without-match extended-regexp fixed-strings perl-regexp cached untracked heading break show-function no-color color=", short: "iIwvhHEGPFnlLcqpWz", shortVal: "eABCm", number: true, operands: true},
}

// git says why a git command is not known to only read.
func (s *shell) git(args []string, c *command) string {
	shown := "`" + visible(c.text) + "`"
	rest, at, ok := s.gitGlobals(args, c.at)
	if !ok {
		return shown + " sets options of git that can choose programs, or does nothing"
	}
	if at := len(args) - len(rest); !s.hardenGit(c, at) {
		return shown + " cannot be made safe"
	}
	c = &command{text: c.text, at: at}
	sub, rest := rest[0], rest[1:]
	form, ok := gitForms[sub]
	if sub == "config" {
		return s.gitConfig(rest, c)
	}
	if !ok {
		return "`git " + visible(sub) + "` is not known to only read"
	}
	if why := s.gitPlace(c.at); why != "" {
		return why
	}
	operands, why := form.parse(sub, rest)
	if why != "" {
		return why
	}
	if sub == "diff" && len(operands) > 0 || sub == "grep" || sub == "show" || sub == "cat-file" || sub == "log" || sub == "blame" {
		return s.gitOperands(operands, c.at)
	}
	for _, o := range operands {
		for _, text := range pathsIn(o) {
			s.touchRead(text, c.at)
		}
	}
	return ""
}

// hardenGit notes that the subcommand at that place of git's arguments is to run
// without the programs that attributes and configuration choose for diffs. The
// flags are added where the command runs unasked.
func (s *shell) hardenGit(c *command, at int) bool {
	w := c.words[1+at]
	if w.text != "diff" && w.text != "log" && w.text != "show" {
		return true
	}
	if c.call == nil || w.src == nil {
		return false
	}
	call, src := c.call, w.src
	s.changes = append(s.changes, func() {
		if i := slices.Index(call.Args, src); i > 0 {
			if len(call.Args) > i+1 && call.Args[i+1].Lit() == noExtDiff {
				return // the body of a loop, judged more than once
			}
			call.Args = slices.Insert(call.Args, i+1, litWord(noExtDiff), litWord("--no-textconv"))
		}
	})
	return true
}

const noExtDiff = "--no-ext-diff"

// gitGlobals skips the harmless options before a subcommand, and follows -C.
func (s *shell) gitGlobals(args []string, at dirs) ([]string, dirs, bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] != "-C" {
			if !gitHarmless[args[0]] {
				return nil, nil, false
			}
			args = args[1:]
			continue
		}
		if len(args) < 2 || args[1] == "" {
			return nil, nil, false
		}
		var to dirs
		for _, dir := range at {
			p, err := s.resolve(args[1], dir)
			if err != nil || !p.Inside || !isDir(p.Target) {
				return nil, nil, false
			}
			to = s.union(to, dirs{p.Target})
		}
		args, at = args[2:], to
	}
	return args, at, len(args) > 0
}

func litWord(text string) *syntax.Word {
	return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}}
}

// gitConfig judges the forms of config that only read, which show settings and
// no credentials.
func (s *shell) gitConfig(args []string, c *command) string {
	if len(args) == 0 {
		return "`git config` needs a form that only reads"
	}
	switch args[0] {
	case "--get", "--get-all", "--get-regexp":
		if len(args) != 2 || strings.HasPrefix(args[1], "-") {
			return "`git config` is not in a form that only reads"
		}
	case "--list", "-l":
		if len(args) != 1 {
			return "`git config` is not in a form that only reads"
		}
	default:
		return "`git config` is not in a form that only reads"
	}
	return s.gitPlace(c.at)
}

// parse takes the arguments of a subcommand apart.
func (f gitForm) parse(sub string, args []string) (operands []string, why string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case !strings.HasPrefix(a, "-") || a == "-":
			operands = append(operands, a)
		case strings.HasPrefix(a, "--"):
			name, _, attached := strings.Cut(a[2:], "=")
			switch {
			case attached && (hasWord(f.flags, name+"=") || hasWord(f.valued, name)):
			case !attached && hasWord(f.valued, name) && i+1 < len(args) && (!hasWord(f.flags, name) || !strings.HasPrefix(args[i+1], "-")):
				i++
			case !attached && hasWord(f.flags, name): // at the end the value may be missing
			default:
				return nil, "the flag " + visible(a) + " of `git " + sub + "` is not known to only read"
			}
		case f.number && strings.Trim(a[1:], "0123456789") == "":
		default:
			used, ok := f.letters(a[1:], i+1 < len(args))
			if !ok {
				return nil, "the flag " + visible(a) + " of `git " + sub + "` is not known to only read"
			}
			if i += used; strings.Contains(a, "L") && sub == "log" { // -L RANGE:FILE
				value := args[i]
				if used == 0 {
					value = a
				}
				operands = append(operands, value[strings.LastIndexByte(value, ':')+1:])
			}
		}
	}
	return operands, f.check(sub, operands, args)
}

// letters reads a bundle of short flags.
func (f gitForm) letters(bundle string, more bool) (used int, ok bool) {
	for i := range len(bundle) {
		letter := bundle[i : i+1]
		switch {
		case strings.Contains(f.short, letter):
			if rest := bundle[i+1:]; (letter == "M" || letter == "C" || letter == "n") && strings.Trim(rest, "0123456789%") == "" {
				return 0, true
			}
			if letter == "u" && (bundle == "uno" || bundle == "uall" || bundle == "unormal") {
				return 0, true
			}
		case strings.Contains(f.shortVal, letter):
			if i+1 < len(bundle) {
				return 0, true
			}
			return 1, more
		default:
			return 0, false
		}
	}
	return 0, true
}

// check holds the operands against the form.
func (f gitForm) check(sub string, operands, args []string) string {
	switch {
	case f.first != "":
		if len(operands) == 0 && f.bare {
			return ""
		}
		if len(operands) == 0 || !hasWord(f.first, operands[0]) {
			return "`git " + sub + "` changes something in this form"
		}
	case !f.operands && len(operands) > 0:
		for _, a := range args {
			if a == "--list" || a == "-l" {
				return ""
			}
		}
		return "`git " + sub + "` with a name changes something"
	}
	return ""
}

// gitOperands judges revisions and paths whose content is shown: a part of one
// may name a file.
func (s *shell) gitOperands(operands []string, at dirs) string {
	for _, o := range operands {
		for _, text := range pathsIn(o) {
			s.touchRead(text, at)
		}
	}
	return ""
}

// touchRead judges a word that may be a path which is read.
func (s *shell) touchRead(text string, at dirs) {
	if len(text) > 200 || strings.HasPrefix(text, "^") || strings.HasPrefix(text, ":(") {
		if strings.HasPrefix(text, ":(") {
			s.floor("a path in git's own pattern language")
		}
		return
	}
	s.operand(readKind, text, at)
}

// gitPlace says why the repository at hand is not the trusted one of the
// workspace: then its own configuration may choose programs.
func (s *shell) gitPlace(at dirs) string {
	if !s.Trusted {
		return "git follows the repository's configuration, and the folder is not trusted"
	}
	if s.Roots == nil {
		return "no project folder is open"
	}
	root := s.resolved(s.Roots.Dir())
	for _, dir := range at {
		if why := gitRepository(root, s.resolved(dir)); why != "" {
			return why
		}
	}
	return gitRuns(filepath.Join(root, ".git"))
}

func gitRepository(root, dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if dir == root {
			if err != nil || !info.IsDir() {
				return "the project folder is not the top of a repository of its own"
			}
			return ""
		}
		if err == nil || bareLooking(dir) {
			return "another repository lies in the project, with a configuration of its own"
		}
		if dir == filepath.Dir(dir) {
			return "it would run outside of the project folder"
		}
	}
}

// bareLooking reports whether git would take a folder for a repository.
func bareLooking(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && (exists(filepath.Join(dir, "objects")) || exists(filepath.Join(dir, "config")) || exists(filepath.Join(dir, "commondir")))
}

// gitRuns reports what in the repository's configuration would make commands
// that only read run a program, or reads files that are not known.
func gitRuns(gitDir string) string {
	for _, name := range []string{"config", "config.worktree"} {
		path := filepath.Join(gitDir, name)
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return "the repository's configuration is not a plain file"
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "the repository's configuration cannot be read"
		}
		if key := executableKey(string(data)); key != "" {
			return "the repository's configuration sets " + visible(key) + ", which can run programs"
		}
	}
	return ""
}

var executable1 = lazy(`^(core\.(fsmonitor|pager|sshcommand|hookspath|editor|askpass|gitproxy|worktree|attributesfile|alternaterefscommand)|diff\..*\.(textconv|command)|diff\.external|filter\..*\.(clean|smudge|process)|gpg\.program|gpg\..*\.(program|defaultkeycommand)|credential\.(.*\.)?helper|alias\..*|include\.path|includeif\..*\.path|uploadpack\.packobjectshook|pager\..*|sequence\.editor|interactive\.difffilter|remote\..*\.(uploadpack|receivepack|vcs)|extensions\..*|merge\..*\.driver|log\.showsignature|.*\.tool\..*|difftool\..*|mergetool\..*|ssh\.variant|trailer\..*|http\..*|url\..*)$`)

// executableKey finds a setting in a git configuration that can run a program,
// pull in another file, or that this reader does not understand.
func executableKey(text string) string {
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			name, rest, ok := strings.Cut(line[1:], "]")
			if !ok || strings.Contains(rest, "[") {
				return line
			}
			section = sectionName(name)
			if line = strings.TrimSpace(rest); line == "" || line[0] == '#' || line[0] == ';' {
				continue
			}
		}
		key, value, _ := strings.Cut(line, "=")
		full := section + "." + strings.ToLower(strings.TrimSpace(key))
		if strings.HasSuffix(line, `\`) {
			return full
		}
		if harmlessValue(full, strings.TrimSpace(value)) {
			continue
		}
		if executable1().MatchString(full) && !harmlessKey(full) {
			return full
		}
	}
	return ""
}

// harmlessValue reports whether a setting that can run a program does not with this
// value: git's own watcher of files is none of the project's, and an alias is one of
// git's commands, which cannot take the name of another, unless it begins with "!".
func harmlessValue(full, value string) bool {
	switch {
	case full == "core.fsmonitor":
		return value == "false" || value == "true"
	case strings.HasPrefix(full, "alias."):
		return value != "" && value[0] >= 'a' && value[0] <= 'z'
	}
	return false
}

// writesConfig reports whether a command sets something in a configuration of git,
// which can choose programs: by option, by action, or with a name and a value.
func writesConfig(argv []string) bool {
	if baseName(argv[0]) != "git" {
		return false
	}
	rest, ok := afterGlobals(argv[1:], nil)
	if !ok || rest[0] != "config" {
		return false
	}
	operands := 0
	for _, a := range rest[1:] {
		switch {
		case a == "-l" || a == "--list" || strings.HasPrefix(a, "--get"):
			return false
		case !strings.HasPrefix(a, "-"):
			operands++
		case a == "-e" || hasWord("add replace-all unset unset-all rename-section remove-section edit", strings.TrimPrefix(a, "--")):
			return true
		}
	}
	switch {
	case operands == 0:
		return false
	case rest[1] == "get" || rest[1] == "list":
		return false
	}
	return operands > 1 || rest[1] == "edit"
}

// harmlessKey lifts extensions that change formats only.
func harmlessKey(full string) bool {
	switch full {
	case "extensions.objectformat", "extensions.refstorage", "extensions.partialclone":
		return true
	}
	return false
}

// sectionName brings [a "b"] and [a.b] into one form: a.b.
func sectionName(name string) string {
	head, sub, quoted := strings.Cut(name, `"`)
	head = strings.ToLower(strings.TrimSpace(head))
	if !quoted {
		return head
	}
	return head + "." + strings.TrimSuffix(strings.TrimSpace(sub), `"`)
}
