package permission

import (
	"strings"
	"unicode"

	"github.com/acp-agent/acp-agent/kinds"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldName brings a file's name into the form that names are compared in
// (policy 10.5): compatible characters and letter cases alike, without the
// dots, blanks and stream names that some file systems drop.
func foldName(name string) string {
	name, _, _ = strings.Cut(name, ":")
	ascii := true
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			ascii = false
		}
	}
	if ascii {
		name = strings.ToLower(name)
	} else {
		name = cases.Fold().String(norm.NFKC.String(name))
	}
	name = strings.TrimRight(name, ". ")
	if isShortGit(name) {
		return ".git"
	}
	return name
}

// isShortGit reports whether a folded name is the 8.3 form of .git.
func isShortGit(name string) bool {
	n, ok := strings.CutPrefix(name, "git~")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// protection is how a name is guarded against writes.
type protection int

const (
	open      protection = iota
	guarded              // asks, unless a rule of the user names it literally
	untouched            // asks always
)

// guardedNames are names that change what other programs run or show, anywhere
// in a path (policy 10.5).
var guardedNames = nameSet(`.gitmodules .gitattributes .envrc
	.bashrc .bash_profile .profile .zshrc .zprofile .zshenv
	.vscode .idea .zed .fleet
	.mcp.json .claude .cursor .gemini .codex .opencode opencode.json .windsurf .roo .clinerules
	agents.md claude.md gemini.md
	.github .gitlab-ci.yml .circleci
	.husky lefthook.yml .pre-commit-config.yaml
	.npmrc .pypirc .netrc .ripgreprc .devcontainer .ssh`)

func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields(names) {
		set[n] = true
	}
	return set
}

// protected says how a path is guarded, and by which of its names. The names
// are those below a root, or all of an absolute path.
func protected(names []string) (p protection, name string) {
	folded := make([]string, len(names))
	for i, n := range names {
		folded[i] = foldName(n)
	}
	for i, n := range folded {
		switch {
		case n == ".acp-agent", n == ".git" && gitUntouched(folded[i+1:]):
			return untouched, n
		case p == open && isGuarded(n):
			p, name = guarded, n
		}
	}
	return p, name
}

// gitUntouched reports whether what lies below a .git, or .git itself, chooses
// programs that git runs.
func gitUntouched(below []string) bool {
	if len(below) == 0 {
		return true
	}
	for i, n := range below {
		switch n {
		case "config", "config.worktree", "hooks":
			return true
		case "attributes":
			if i > 0 && below[i-1] == "info" {
				return true
			}
		}
	}
	return false
}

func isGuarded(n string) bool {
	return n == ".git" || guardedNames[n] ||
		strings.HasPrefix(n, ".env") || strings.HasPrefix(n, ".yarnrc") ||
		strings.HasSuffix(n, ".code-workspace") || strings.HasSuffix(n, ".pem") || strings.HasSuffix(n, ".key")
}

var secretNames = nameSet(`id_rsa id_ed25519 id_ecdsa .npmrc .pypirc .netrc .git-credentials .ssh .gnupg .aws`)

// secret reports which of a path's names says that its content is a secret
// (policy 10.4).
func secret(names []string) (name string, ok bool) {
	for i, raw := range names {
		n := foldName(raw)
		under := ""
		if i > 0 {
			under = foldName(names[i-1])
		}
		switch {
		case secretNames[n], isEnvFile(n),
			under == ".docker" && n == "config.json", under == ".kube" && n == "config":
			return n, true
		}
		for _, ext := range []string{".pem", ".key", ".p12", ".pfx"} {
			if strings.HasSuffix(n, ext) {
				return n, true
			}
		}
	}
	return "", false
}

func isEnvFile(n string) bool {
	if n == ".env" {
		return true
	}
	if !strings.HasPrefix(n, ".env.") {
		return false
	}
	switch n[len(".env."):] {
	case "example", "sample", "template", "dist":
		return false
	}
	return true
}

// lookAlike reports whether a name is spelled with letters of another script so
// that it looks like a protected one.
func lookAlike(name string) bool {
	changed := false
	latin := func(r rune) rune {
		if l, ok := kinds.LooksLatin(r); ok {
			changed = true
			return l
		}
		return r
	}
	// Some letters look otherwise than the compatible one that they stand for.
	plain := strings.Map(latin, norm.NFKC.String(strings.Map(latin, name)))
	if !changed {
		return false
	}
	n := foldName(plain)
	return n == ".acp-agent" || isGuarded(n)
}

// hiddenIn reports whether a name holds characters that would not be seen as
// what they are (policy 10.6).
func hiddenIn(name string) bool {
	for _, r := range name {
		if suspicious(r) || r == '\t' || r == '\n' || r == '\r' || r == unicode.ReplacementChar {
			return true
		}
	}
	return false
}
