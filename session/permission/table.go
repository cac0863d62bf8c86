package permission

import (
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
)

// operands is what the operands of a program are.
type operands int

const (
	noOperands operands = iota
	anyText             // not paths
	content             // files whose content is shown
	listed              // files and folders whose names and properties are shown
	patterned           // a pattern, then files whose content is shown
)

// reader is a program that only reads, with the flags that keep it so. Flags
// not listed are questions: there are no prefixes of long ones and no bundles
// with other letters.
type reader struct {
	short      string // letters without a value
	valued     string // letters with a value, attached or not
	long       string // words without a value; a trailing "=" allows an attached one
	longValued string // words with a value, attached or not
	number     bool   // -5
	operands   operands
	most       int                             // operands; 0: any number
	recursive  string                          // flags that make it read folders
	trusted    bool                            // only in a trusted folder
	check      func(s *shell, u *usage) string // further conditions
}

// usage is a command taken apart by a reader's flags.
type usage struct {
	program  string
	flags    map[string]bool
	values   map[string]string
	given    [][2]string // flags with a value, in their order
	operands []string
	at       dirs
	piped    bool
}

// take notes a flag and its value.
func (u *usage) take(flag, value string) {
	u.flags[flag], u.values[flag] = true, value
	u.given = append(u.given, [2]string{flag, value})
}

// all are the values of a flag that may be given often.
func (u *usage) all(names ...string) []string {
	var out []string
	for _, g := range u.given {
		if slices.Contains(names, g[0]) {
			out = append(out, g[1])
		}
	}
	return out
}

// readers is the table of what only reads (policy section 6). Programs with
// subcommands and with languages of their own stand beside it.
var readers = map[string]reader{
	"cat":       {short: "AbeEnstTuv", long: "show-all number number-nonblank show-ends show-tabs show-nonprinting squeeze-blank", operands: content},
	"head":      {short: "qvz", valued: "nc", long: "quiet silent verbose zero-terminated", longValued: "lines bytes", number: true, operands: content},
	"tail":      {short: "qvzfF", valued: "ncs", long: "quiet silent verbose zero-terminated follow= follow retry", longValued: "lines bytes sleep-interval", number: true, operands: content},
	"wc":        {short: "clmwL", long: "bytes chars lines words max-line-length", operands: content},
	"nl":        {short: "p", valued: "bdfhilnsvw", operands: content},
	"tac":       {short: "br", valued: "s", operands: content},
	"rev":       {operands: content},
	"cut":       {short: "nsz", valued: "bcdf", long: "complement only-delimited zero-terminated", longValued: "bytes characters delimiter fields output-delimiter", operands: content},
	"tr":        {short: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: anyText, most: 2},
	"paste":     {short: "sz", valued: "d", operands: content},
	"fold":      {short: "bs", valued: "w", operands: content},
	"comm":      {short: "123z", operands: content, most: 2},
	"cmp":       {short: "bls", valued: "n", operands: content, most: 2},
	"expand":    {short: "i", valued: "t", operands: content},
	"unexpand":  {short: "a", valued: "t", operands: content},
	"column":    {short: "tx", valued: "s", operands: content},
	"md5sum":    {short: "bt", operands: content},
	"sha1sum":   {short: "bt", operands: content},
	"sha256sum": {short: "bt", operands: content},
	"ls":        {short: "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX", long: "all almost-all author color= directory human-readable inode recursive reverse size si full-time group-directories-first classify= no-group numeric-uid-gid", longValued: "ignore hide sort time time-style format", operands: listed},
	"stat":      {short: "t", valued: "c", long: "terse", longValued: "format printf", operands: listed},
	"du":        {short: "abchkmsSx", valued: "d", long: "all apparent-size bytes total human-readable summarize separate-dirs one-file-system", longValued: "max-depth exclude", operands: listed},
	"df":        {short: "ahHiklmPT", long: "human-readable", operands: listed},
	"file":      {short: "bi", long: "brief mime", operands: content},
	"realpath":  {short: "emqsz", long: "canonicalize-existing canonicalize-missing quiet strip no-symlinks", operands: listed},
	"readlink":  {short: "efmnqsvz", long: "canonicalize canonicalize-existing canonicalize-missing no-newline", operands: listed},
	"tree":      {short: "adfh", valued: "LIP", long: "prune", operands: listed},
	"basename":  {short: "az", valued: "s", operands: anyText},
	"dirname":   {short: "z", operands: anyText},
	"pwd":       {short: "LP"},
	"echo":      {operands: anyText},
	"true":      {operands: anyText},
	"false":     {operands: anyText},
	":":         {operands: anyText},
	"printf":    {operands: anyText},
	"seq":       {short: "w", valued: "fs", operands: anyText},
	"sleep":     {operands: anyText, check: durations},
	"which":     {short: "a", operands: anyText},
	"type":      {short: "aftpP", operands: anyText},
	"command":   {short: "vV", operands: anyText},
	"date":      {short: "uR", valued: "d", long: "utc universal rfc-email iso-8601= rfc-3339=", longValued: "date", operands: anyText, most: 1, check: dateFormat},
	"uname":     {short: "asnrvmpio"},
	"arch":      {},
	"nproc":     {long: "all"},
	"uptime":    {short: "ps"},
	"hostname":  {},
	"whoami":    {},
	"id":        {short: "gGnruz", operands: anyText, most: 1},
	"groups":    {operands: anyText},
	"sort":      {short: "bdfghiMnRrVcCmsuz", valued: "kt", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort ignore-nonprinting month-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated", longValued: "key field-separator", operands: content},
	"uniq":      {short: "cdDiuz", valued: "fsw", long: "count repeated ignore-case unique zero-terminated", longValued: "skip-fields skip-chars check-chars", operands: content, most: 1},
	"grep":      grepReader,
	"egrep":     grepReader,
	"fgrep":     grepReader,
	"rg":        {short: "bciFHhIlnNopPqSsUuVvwx0.", valued: "eABCmgtTjMrEd", long: "case-sensitive ignore-case smart-case fixed-strings word-regexp line-regexp invert-match count count-matches files files-with-matches files-without-match only-matching line-number no-line-number with-filename no-filename no-heading heading hidden no-ignore no-ignore-vcs unrestricted multiline multiline-dotall pcre2 quiet json stats trim vimgrep column null text no-messages type-list version", longValued: "regexp after-context before-context context max-count max-depth glob iglob type type-not color colors sort sortr max-columns replace encoding threads engine max-filesize", number: false, operands: patterned, check: searchesFolders},
	"diff":      {short: "uqrwbBNyidacetTEZ", valued: "UWxIC", long: "unified= brief recursive side-by-side ignore-all-space ignore-space-change ignore-blank-lines ignore-case new-file text color= minimal suppress-common-lines report-identical-files strip-trailing-cr", longValued: "exclude label width", operands: content, most: 2, check: diffsFolders},
	"fmt":       {short: "cstu", valued: "wp", number: true, operands: content},
	"strings":   {short: "a", valued: "nt", operands: content},
	"od":        {short: "bcdfilosvx", valued: "AtjNw", operands: content, most: 1},
	"xxd":       {short: "bpuieE", valued: "lscgon", operands: content, most: 1},
	"hexdump":   {short: "bcCdovx", valued: "ns", operands: content, most: 1},
	"base64":    {short: "di", valued: "w", long: "decode", longValued: "wrap", operands: content, most: 1},
	"free":      {short: "bkmghtwl", long: "human mega giga total"},
	"ps":        {short: "efaAxlFHjwT", valued: "opuC", long: "forest no-headers", longValued: "sort format pid user ppid", operands: anyText, most: 1, check: processes},
	"fd":        fdReader,
	"fdfind":    fdReader,
	"exit":      {operands: anyText, most: 1, check: numbers},
	"break":     {operands: anyText, most: 1, check: numbers},
	"continue":  {operands: anyText, most: 1, check: numbers},
	"test":      {operands: anyText, check: testOperands},
	"[":         {operands: anyText, check: testOperands},
}

var fdReader = reader{
	short: "HIusiFgpa01", valued: "tedESc", long: "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case fixed-strings glob full-path absolute-path print0 prune",
	longValued: "type extension max-depth min-depth exact-depth exclude size changed-within changed-before color max-results", operands: patterned,
}

var grepReader = reader{
	short: "EFGPabcHhiILlnoqrsTvwxyZz", valued: "eABCm", number: true,
	long: "extended-regexp fixed-strings perl-regexp basic-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count files-with-matches files-without-match only-matching quiet silent no-messages line-number with-filename no-filename recursive text null null-data byte-offset initial-tab color= colour=", longValued: "regexp max-count after-context before-context context include exclude exclude-dir label binary-files",
	operands: patterned, recursive: "r recursive", check: grepsFolders,
}

// readOnly says why the command is not known to only read; empty: it is.
func (s *shell) readOnly(c *command) string {
	name, byName := s.nameOf(c.words[0].text)
	args := guesses(c.words[1:])
	shown := "`" + visible(c.text) + "`"
	if why := s.identity(c.words[0].text, c.at); why != "" {
		return why
	}
	if !byName {
		return visible(name) + " is not one of the system's programs"
	}
	if tellsOfItself(name, args) {
		return ""
	}
	if tellsVersion(name, args) {
		if !s.Trusted && needsTrust(name) {
			return "`" + name + "` follows the project's files, and the folder is not trusted"
		}
		return ""
	}
	switch name {
	case "git":
		return s.git(args, c)
	case "go":
		return s.golang(args)
	case "gofmt":
		return s.gofmt(args, c.at)
	case "find":
		return s.findOnly(args, c.at)
	case "sed":
		return s.sed(args, c.at)
	case "tar":
		return s.tarList(args, c.at)
	case "unzip":
		return s.unzipList(args, c.at)
	case "awk", "mawk", "gawk":
		return s.awk(args, c.at)
	case "jq":
		return s.jq(args, c.at)
	case "echo", "true", "false", ":", "set": // set: only what strictMode passes
		return ""
	}
	r, ok := readers[name]
	if !ok {
		return shown + " is not a command that only reads"
	}
	u, why := r.parse(name, args)
	if why != "" {
		return why
	}
	u.at, u.piped = c.at, c.piped
	return s.reads(r, u)
}

// reads judges the operands of a reader.
func (s *shell) reads(r reader, u *usage) string {
	if r.trusted && !s.Trusted {
		return "`" + u.program + "` is silent only in a trusted folder"
	}
	files := u.operands
	if r.operands == patterned && !u.flags["e"] && !u.flags["regexp"] && !u.flags["files"] && !u.flags["type-list"] {
		switch {
		case len(files) > 0:
			files = files[1:]
		case u.program != "fd" && u.program != "fdfind": // without one, these list all
			return "`" + u.program + "` has no pattern"
		}
	}
	if r.most > 0 && len(u.operands) > r.most {
		return "`" + u.program + "` writes, or does something else, with more operands"
	}
	kind := kinds.Read
	switch r.operands {
	case noOperands:
		if len(files) > 0 {
			return "`" + u.program + "` does something else with an operand"
		}
	case listed:
		kind = kinds.List
		fallthrough
	case content, patterned:
		for _, f := range files {
			if f != "-" {
				s.operand(kind, f, u.at)
			}
		}
	}
	if r.operands == listed && len(files) == 0 {
		s.operand(kind, ".", u.at)
	}
	u.operands = files
	if r.check != nil {
		return r.check(s, u)
	}
	return ""
}

// parse takes the arguments apart as GNU getopt does.
func (r reader) parse(name string, args []string) (*usage, string) {
	u := &usage{program: name, flags: map[string]bool{}, values: map[string]string{}}
	if name == "printf" {
		return u, printfArgs(u, args)
	}
	if name == "test" || name == "[" {
		u.operands = args
		return u, ""
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			u.operands = append(u.operands, args[i+1:]...)
			return u, ""
		case a == "-" || !strings.HasPrefix(a, "-"):
			u.operands = append(u.operands, a)
		case strings.HasPrefix(a, "--"):
			used, ok := r.longFlag(u, a[2:], args[i+1:])
			if !ok {
				return nil, "the flag " + visible(a) + " of `" + name + "` is not known to only read"
			}
			i += used
		case r.number && strings.Trim(a[1:], "0123456789") == "":
		default:
			used, ok := r.shortFlags(u, a[1:], args[i+1:])
			if !ok {
				return nil, "the flag " + visible(a) + " of `" + name + "` is not known to only read"
			}
			i += used
		}
	}
	return u, ""
}

// longFlag reads --name, --name=value or --name value; used is how many further
// arguments it took.
func (r reader) longFlag(u *usage, flag string, next []string) (used int, ok bool) {
	name, value, attached := strings.Cut(flag, "=")
	if name == "" {
		return 0, false
	}
	switch {
	case hasWord(r.longValued, name):
		if !attached {
			if len(next) == 0 {
				return 0, false
			}
			value, used = next[0], 1
		}
	case hasWord(r.long, name+"="):
	case hasWord(r.long, name) && !attached:
	default:
		return 0, false
	}
	u.take(name, value)
	return used, true
}

// shortFlags reads a bundle of letters; the first with a value takes the rest.
func (r reader) shortFlags(u *usage, bundle string, next []string) (used int, ok bool) {
	for i := 0; i < len(bundle); i++ {
		letter := bundle[i : i+1]
		switch {
		case letter == "I" && u.program == "date":
			u.flags["I"] = true // with an attached format, or none
			return 0, strings.Trim(bundle[i+1:], "abcdefghijklmnopqrstuvwxyz") == ""
		case strings.Contains(r.short, letter):
			u.flags[letter] = true
		case strings.Contains(r.valued, letter):
			value := bundle[i+1:]
			if value == "" {
				if len(next) == 0 {
					return 0, false
				}
				value, used = next[0], 1
			}
			u.take(letter, value)
			return used, true
		default:
			return 0, false
		}
	}
	return 0, true
}

func hasWord(list, word string) bool {
	for len(list) > 0 {
		var w string
		w, list, _ = strings.Cut(list, " ")
		if w == word {
			return true
		}
	}
	return false
}

// printfArgs takes a format and what it formats; a flag would set a variable.
func printfArgs(u *usage, args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		return "printf with a flag can set a variable"
	}
	u.operands = args
	return ""
}

// numbers judges what leaves a script, or a loop of it.
func numbers(_ *shell, u *usage) string {
	for _, o := range u.operands {
		if strings.Trim(o, "0123456789") != "" {
			return "`" + u.program + " " + visible(o) + "` is not a number"
		}
	}
	return ""
}

func durations(_ *shell, u *usage) string {
	for _, o := range u.operands {
		if !duration().MatchString(o) {
			return "`sleep " + visible(o) + "` is not a duration"
		}
	}
	return ""
}

func dateFormat(_ *shell, u *usage) string {
	for _, o := range u.operands {
		if !strings.HasPrefix(o, "+") {
			return "`date` with an operand sets the clock"
		}
	}
	return ""
}

// tarList judges the listing of one archive; a colon would name another host.
func (s *shell) tarList(args []string, at dirs) string {
	if len(args) != 2 || args[0] != "tf" && args[0] != "-tf" || strings.ContainsAny(args[1], ":") || strings.HasPrefix(args[1], "-") {
		return "`tar` is silent only where it lists one archive: `tar tf FILE`"
	}
	s.operand(kinds.Read, args[1], at)
	return ""
}

func (s *shell) unzipList(args []string, at dirs) string {
	if len(args) != 2 || args[0] != "-l" || strings.HasPrefix(args[1], "-") {
		return "`unzip` is silent only where it lists one archive: `unzip -l FILE`"
	}
	s.operand(kinds.Read, args[1], at)
	return ""
}

// tellsOfItself reports whether a program of the table is only asked what it is and
// how it is called.
func tellsOfItself(name string, args []string) bool {
	if len(args) != 1 || args[0] != "--help" && args[0] != "--version" {
		return false
	}
	switch name {
	case "sed", "awk", "gawk", "mawk", "jq", "find", "gofmt":
		return true
	}
	_, ok := readers[name]
	return ok
}

// tellsVersion reports whether the command only asks a program for its version.
func tellsVersion(name string, args []string) bool {
	if len(args) != 1 {
		return false
	}
	switch name {
	case "node", "npm", "ruby", "php":
		return args[0] == "--version" || args[0] == "-v"
	case "python", "python3", "pip", "pip3", "cargo", "rustc":
		return args[0] == "--version" || args[0] == "-V"
	case "java":
		return args[0] == "--version" || args[0] == "-version"
	case "git", "docker", "make", "gcc", "clang":
		return args[0] == "--version"
	}
	return false
}

// needsTrust reports whether a program follows files of the project even when
// it only tells its version.
func needsTrust(name string) bool {
	switch name {
	case "npm", "cargo", "rustc", "go", "git":
		return true
	}
	return false
}

// known reports whether a program is in one of the tables, so that its first
// operand is not taken for a command.
func known(name string) bool {
	if _, ok := readers[name]; ok {
		return true
	}
	if _, ok := runners[name]; ok {
		return true
	}
	if _, ok := arity[name]; ok {
		return true
	}
	switch name {
	case "git", "go", "gofmt", "find", "fd", "fdfind", "sed", "cd", "curl", "wget", "make", "just", "npx", "tar", "zip", "unzip", "jq", "less", "more", "man", "ps", "kill", "gh":
		return true
	}
	return changes(name) || isInterpreter(name) || setsShell(name)
}
