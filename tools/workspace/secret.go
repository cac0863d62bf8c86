package workspace

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// IsSecret reports whether one of a path's names says that its content is a
// secret (policy 10.4). Such files are left out of a search that does not name
// them. Names are compared without case, in their compatibility form, and
// without dots and spaces at the end, as systems may read them.
func IsSecret(path string) bool {
	under := ""
	for path != "" {
		name, rest, ok := component(path)
		if !ok {
			return false
		}
		path = rest
		name = foldName(name)
		if isSecretName(name, under) {
			return true
		}
		under = name
	}
	return false
}

func foldName(name string) string {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			name = norm.NFKC.String(name)
			break
		}
	}
	return strings.TrimRight(strings.ToLower(name), ". ")
}

func isSecretName(name, under string) bool {
	switch name {
	case ".env", ".npmrc", ".pypirc", ".netrc", ".git-credentials", ".ssh", ".gnupg", ".aws",
		"id_rsa", "id_ed25519", "id_ecdsa":
		return true
	case "config.json":
		return under == ".docker"
	case "config":
		return under == ".kube"
	}
	if kind, ok := strings.CutPrefix(name, ".env."); ok {
		switch kind {
		case "example", "sample", "template", "dist":
			return false
		}
		return true
	}
	for _, ext := range []string{".pem", ".key", ".p12", ".pfx"} {
		if strings.HasSuffix(name, ext) {
			return true
		}
	}
	return false
}
