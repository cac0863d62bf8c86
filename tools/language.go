package tools

import (
	"path"
	"strings"
)

// languageOf names the language that a file of a name is most likely written in;
// of others it is the extension, in brackets where there is none.
func languageOf(name string) string {
	switch name {
	case "Makefile", "makefile", "GNUmakefile":
		return "Make"
	case "Dockerfile", "Containerfile":
		return "Dockerfile"
	case "CMakeLists.txt":
		return "CMake"
	case "BUILD", "WORKSPACE":
		return "Starlark"
	case "Rakefile", "Gemfile":
		return "Ruby"
	case "Jenkinsfile":
		return "Groovy"
	}
	ext := strings.ToLower(path.Ext(name))
	if ext == name || ext == "" || ext == "." {
		return "(no extension)"
	}
	if known := languageByExtension(ext); known != "" {
		return known
	}
	return ext
}

func languageByExtension(ext string) string {
	switch ext {
	case ".go":
		return "Go"
	case ".rs":
		return "Rust"
	case ".c", ".h":
		return "C"
	case ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx":
		return "C++"
	case ".cs":
		return "C#"
	case ".java":
		return "Java"
	case ".kt", ".kts":
		return "Kotlin"
	case ".swift":
		return "Swift"
	case ".m", ".mm":
		return "Objective-C"
	case ".js", ".mjs", ".cjs", ".jsx":
		return "JavaScript"
	case ".ts", ".mts", ".cts", ".tsx":
		return "TypeScript"
	case ".py", ".pyi":
		return "Python"
	case ".rb":
		return "Ruby"
	case ".php":
		return "PHP"
	case ".scala", ".sc":
		return "Scala"
	case ".ex", ".exs":
		return "Elixir"
	case ".erl", ".hrl":
		return "Erlang"
	case ".hs":
		return "Haskell"
	case ".ml", ".mli":
		return "OCaml"
	case ".clj", ".cljs", ".cljc":
		return "Clojure"
	case ".lua":
		return "Lua"
	case ".pl", ".pm":
		return "Perl"
	case ".r":
		return "R"
	case ".jl":
		return "Julia"
	case ".dart":
		return "Dart"
	case ".zig":
		return "Zig"
	}
	return markupByExtension(ext)
}

func markupByExtension(ext string) string {
	switch ext {
	case ".el":
		return "Emacs Lisp"
	case ".sh", ".bash", ".zsh":
		return "Shell"
	case ".ps1", ".psm1":
		return "PowerShell"
	case ".s", ".asm":
		return "Assembly"
	case ".sql":
		return "SQL"
	case ".html", ".htm":
		return "HTML"
	case ".css", ".scss", ".sass", ".less":
		return "CSS"
	case ".vue":
		return "Vue"
	case ".svelte":
		return "Svelte"
	case ".md", ".markdown":
		return "Markdown"
	case ".rst":
		return "reStructuredText"
	case ".json", ".jsonl", ".json5", ".jsonc":
		return "JSON"
	case ".yaml", ".yml":
		return "YAML"
	case ".toml":
		return "TOML"
	case ".xml", ".xsd", ".xsl":
		return "XML"
	case ".proto":
		return "Protocol Buffers"
	case ".tf", ".hcl":
		return "HCL"
	case ".nix":
		return "Nix"
	case ".cmake":
		return "CMake"
	case ".mk":
		return "Make"
	case ".gradle", ".groovy":
		return "Groovy"
	case ".bzl":
		return "Starlark"
	case ".tex":
		return "TeX"
	case ".ipynb":
		return "Jupyter notebook"
	case ".txt":
		return "Text"
	}
	return ""
}
