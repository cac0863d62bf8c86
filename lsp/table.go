package lsp

import (
	"encoding/json"
	"time"
)

// Languages, markers and options that several servers share.
var (
	script = []Language{
		{ID: "typescript", Endings: []string{".ts", ".mts", ".cts"}}, {ID: "typescriptreact", Endings: []string{".tsx"}},
		{ID: "javascript", Endings: []string{".js", ".mjs", ".cjs"}}, {ID: "javascriptreact", Endings: []string{".jsx"}},
	}
	lintedByESLint = []Language{
		{ID: "typescript", Endings: []string{".ts", ".mts", ".cts"}}, {ID: "typescriptreact", Endings: []string{".tsx"}},
		{ID: "javascript", Endings: []string{".js", ".mjs", ".cjs"}}, {ID: "javascriptreact", Endings: []string{".jsx"}},
		{ID: "vue", Endings: []string{".vue"}}, {ID: "svelte", Endings: []string{".svelte"}},
	}
	styledByTailwind = []Language{
		{ID: "typescriptreact", Endings: []string{".tsx"}}, {ID: "javascriptreact", Endings: []string{".jsx"}},
		{ID: "html", Endings: []string{".html"}}, {ID: "css", Endings: []string{".css"}},
		{ID: "vue", Endings: []string{".vue"}}, {ID: "svelte", Endings: []string{".svelte"}},
	}
	python = []Language{{ID: "python", Endings: []string{".py", ".pyi", ".pyw"}}}
	ruby   = []Language{{ID: "ruby", Endings: []string{".rb", ".rake", ".gemspec", ".ru"}, Names: []string{"Gemfile", "Rakefile", "Guardfile", "Vagrantfile", "Brewfile"}}}
	php    = []Language{{ID: "php", Endings: []string{".php"}}}
	csharp = []Language{{ID: "csharp", Endings: []string{".cs"}}}

	// What holds packages together is the root of all: each of several servers would not
	// see where the packages of the others use its own.
	nodeRoots = [][]string{
		{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "pnpm-workspace.yaml", "package.json#workspaces", "lerna.json", "rush.json"},
		{"tsconfig.json", "jsconfig.json", "package.json"},
	}
	scriptProjects = []string{"tsconfig.json", "jsconfig.json"}
	scriptConfigs  = []string{"tsconfig.json", "tsconfig.*.json", "jsconfig.json", "jsconfig.*.json"}

	pythonConfigs = []string{"pyrightconfig.json", "pyproject.toml"}
	pythonUnless  = map[string]string{"pyproject.toml": "pyrightconfig.json"}
	pythonRoots   = [][]string{{"pyrightconfig.json", "pyproject.toml"}, {"setup.py", "setup.cfg", "requirements.txt", "Pipfile"}}
	rubyRoots     = [][]string{{"Gemfile"}}
	phpRoots      = [][]string{{"composer.json"}}
	csharpRoots   = [][]string{{"*.sln", "*.slnx"}, {"*.csproj"}}

	// It would have npm fetch types for what a project without types uses.
	noTypesSettings = json.RawMessage(`{"js/ts":{"tsserver":{"automaticTypeAcquisition":{"enabled":false}}}}`)

	formatterOption = json.RawMessage(`{"provideFormatter":false}`)
	// The whole verdict comes at once, and not a second behind the change.
	goplsOptions  = json.RawMessage(`{"diagnosticsDelay":"0s"}`)
	goplsSettings = json.RawMessage(`{"gopls":{"diagnosticsDelay":"0s"}}`)
	// bashSurveys: it has read the scripts of the project, or does not.
	bashSurveys    = []string{"BackgroundAnalysis: Completed", "BackgroundAnalysis: stopped", "BackgroundAnalysis: skipping", "BackgroundAnalysis: failed"}
	eslintSettings = json.RawMessage(`{"validate":"on","run":"onType","rulesCustomizations":[],"nodePath":"","experimental":{},"problems":{"shortenToSingleLine":false},"workingDirectory":{"mode":"location"},"codeAction":{"disableRuleComment":{"enable":true,"location":"separateLine"},"showDocumentation":{"enable":true}},"codeActionOnSave":{"mode":"all"},"format":false,"quiet":false,"onIgnoredFiles":"off","useESLintClass":false}`)
)

// They fail at the settings of an editor that has none for them, and say of every file
// then that nothing is wrong.
var (
	styleSettings = json.RawMessage(`{"css":{},"scss":{},"less":{}}`)
	htmlSettings  = json.RawMessage(`{"html":{},"css":{},"javascript":{}}`)
	jsonSettings  = json.RawMessage(`{"json":{"validate":{"enable":true}}}`)
)

const vscodeInstall = "npm install -g vscode-langservers-extracted"

// builtin are the servers known without any setting. Of several for a language the
// first that is there serves. It is data alone, so that it costs no time at start.
var builtin = []Spec{
	{
		Name:      "gopls",
		Languages: []Language{{ID: "go", Endings: []string{".go"}}, {ID: "go.mod", Names: []string{"go.mod"}}, {ID: "go.work", Names: []string{"go.work"}}},
		Command:   []string{"gopls"},
		Roots:     [][]string{{"go.work"}, {"go.mod"}},
		Options:   goplsOptions,
		Settings:  goplsSettings,
		Install:   "go install golang.org/x/tools/gopls@latest",
		NoPull:    true, JudgeAll: "gopls.diagnose_files",
		OneBuild: true,
	},
	{
		Name:      "typescript",
		Languages: script,
		Command:   []string{"tsc", "--lsp", "--stdio"},
		Roots:     nodeRoots,
		Install:   "npm install --save-dev typescript@7",
		Settings:  noTypesSettings,
		find:      nativeTypeScript,

		AtDeclaration: true,
		Projects:      scriptProjects,
		Configs:       scriptConfigs,
		importing:     scriptImporting,
	},
	{
		Name:      "typescript-language-server",
		Languages: script,
		Command:   []string{"typescript-language-server", "--stdio"},
		Roots:     nodeRoots,
		Install:   "npm install -g typescript-language-server typescript@5",
		Loading:   "Initializing JS/TS language features",
		TSServer:  "typescript.tsserverRequest",
		// A second process for syntax would answer while the first loads a project, of
		// the files that are open alone.
		Options: json.RawMessage(`{"disableAutomaticTypingAcquisition":true,"tsserver":{"useClientFileWatcher":true,"useSyntaxServer":"never"}}`),

		AtDeclaration: true,
		Projects:      scriptProjects,
		Configs:       scriptConfigs,
		importing:     scriptImporting,
	},
	{
		Name:      "pyright",
		Languages: python,
		Command:   []string{"pyright-langserver", "--stdio"},
		Roots:     pythonRoots,
		Install:   "npm install -g pyright",
		find:      pyright,
		Configs:   pythonConfigs,
		Renewed:   []Event{Created}, // it watches the one that it goes by
		Announces: "Reloading configuration file at ",
		Unless:    pythonUnless,
		importing: pythonImporting,
	},
	{
		Name:      "basedpyright",
		Languages: python,
		Command:   []string{"basedpyright-langserver", "--stdio"},
		Roots:     pythonRoots,
		Install:   "pip install basedpyright",
		Configs:   pythonConfigs,
		Renewed:   []Event{Created}, // it watches the one that it goes by
		Announces: "Reloading configuration file at ",
		Unless:    pythonUnless,
		importing: pythonImporting,
	},
	{
		Name:      "rust-analyzer",
		Languages: []Language{{ID: "rust", Endings: []string{".rs"}}},
		Command:   []string{"rust-analyzer"},
		Roots:     [][]string{{"Cargo.lock"}, {"Cargo.toml", "rust-project.json"}},
		Install:   "rustup component add rust-analyzer",
		find:      rustAnalyzer,
		Checks:    "cargo ",
	},
	{
		Name: "clangd",
		Languages: []Language{
			{ID: "c", Endings: []string{".c"}},
			{ID: "cpp", Endings: []string{".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".ipp", ".inl"}},
			{ID: "objective-c", Endings: []string{".m"}}, {ID: "objective-cpp", Endings: []string{".mm"}}, {ID: "cuda", Endings: []string{".cu", ".cuh"}},
		},
		Command: []string{"clangd"},
		Roots:   [][]string{{"compile_commands.json", "compile_flags.txt", ".clangd"}, {"CMakeLists.txt", "meson.build", "configure.ac", "Makefile"}},
		Install: "apt install clangd (macOS: brew install llvm)",

		DiskIncludes: true,
		Projects:     []string{"compile_commands.json"}, // by which it knows of files that are not open
		Configs:      []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
		ConfigDirs:   []string{"build"},
		Renewed:      []Event{Created, Changed, Deleted},
		importing:    cImporting,
	},
	{
		Name:      "jdtls",
		Languages: []Language{{ID: "java", Endings: []string{".java"}}},
		Command:   []string{"jdtls"},
		Roots:     [][]string{{"settings.gradle", "settings.gradle.kts", "mvnw", "gradlew"}, {"pom.xml", "build.gradle", "build.gradle.kts"}},
		Install:   "brew install jdtls, or from download.eclipse.org/jdtls",
	},
	{
		Name:      "kotlin-language-server",
		Languages: []Language{{ID: "kotlin", Endings: []string{".kt", ".kts"}}},
		Command:   []string{"kotlin-language-server"},
		Roots:     [][]string{{"settings.gradle", "settings.gradle.kts"}, {"build.gradle", "build.gradle.kts", "pom.xml"}},
		Install:   "brew install kotlin-language-server, or from github.com/fwcd/kotlin-language-server",
		OpenOnly:  true,
	},
	{
		Name:      "lua-language-server",
		Languages: []Language{{ID: "lua", Endings: []string{".lua"}}},
		Command:   []string{"lua-language-server"},
		Roots:     [][]string{{".luarc.json", ".luarc.jsonc"}, {".stylua.toml", "stylua.toml", ".luacheckrc"}},
		Install:   "brew install lua-language-server, or from github.com/LuaLS/lua-language-server",
		OpenOnly:  true,
	},
	{
		Name:      "zls",
		Languages: []Language{{ID: "zig", Endings: []string{".zig", ".zon"}}},
		Command:   []string{"zls"},
		Roots:     [][]string{{"build.zig"}},
		Install:   "brew install zls, or from zigtools.org/zls",
		OpenOnly:  true,
	},
	{
		Name:      "ruby-lsp",
		Languages: ruby,
		Command:   []string{"ruby-lsp"},
		Roots:     rubyRoots,
		Install:   "gem install ruby-lsp",
		OpenOnly:  true,
	},
	{
		Name:      "solargraph",
		Languages: ruby,
		Command:   []string{"solargraph", "stdio"},
		Roots:     rubyRoots,
		Install:   "gem install solargraph",
		OpenOnly:  true,
	},
	{
		Name:      "intelephense",
		Languages: php,
		Command:   []string{"intelephense", "--stdio"},
		Roots:     phpRoots,
		Loading:   "Intelephense",
		Debounce:  950 * time.Millisecond,
		Install:   "npm install -g intelephense",
		OpenOnly:  true,
	},
	{
		Name:      "phpactor",
		Languages: php,
		Command:   []string{"phpactor", "language-server"},
		Roots:     phpRoots,
		Install:   "composer global require phpactor/phpactor",
		OpenOnly:  true,
	},
	{
		Name:      "bash-language-server",
		Languages: []Language{{ID: "shellscript", Endings: []string{".sh", ".bash"}, Names: []string{".bashrc", ".bash_profile", ".profile"}}},
		Command:   []string{"bash-language-server", "start"},
		Install:   "npm install -g bash-language-server",
		Surveys:   bashSurveys,
	},
	{
		Name:      "yaml-language-server",
		Languages: []Language{{ID: "yaml", Endings: []string{".yaml", ".yml"}}},
		Command:   []string{"yaml-language-server", "--stdio"},
		Install:   "npm install -g yaml-language-server",
		Part:      "syntax and schemas",
	},
	{
		Name:      "vscode-html-language-server",
		Languages: []Language{{ID: "html", Endings: []string{".html", ".htm"}}},
		Command:   []string{"vscode-html-language-server", "--stdio"},
		Roots:     nodeRoots,
		Options:   formatterOption,
		Settings:  htmlSettings,
		Install:   vscodeInstall,
		Lazy:      true,
	},
	{
		Name:      "vscode-css-language-server",
		Languages: []Language{{ID: "css", Endings: []string{".css"}}, {ID: "scss", Endings: []string{".scss"}}, {ID: "less", Endings: []string{".less"}}},
		Command:   []string{"vscode-css-language-server", "--stdio"},
		Roots:     nodeRoots,
		Options:   formatterOption,
		Settings:  styleSettings,
		Install:   vscodeInstall,
		Lazy:      true,
	},
	{
		Name:      "vscode-json-language-server",
		Languages: []Language{{ID: "json", Endings: []string{".json"}}, {ID: "jsonc", Endings: []string{".jsonc", ".code-workspace"}, Names: []string{"tsconfig.json", "tsconfig.*.json", "jsconfig.json", "jsconfig.*.json", "devcontainer.json", ".devcontainer.json", ".eslintrc.json", ".babelrc", ".swcrc"}}},
		Command:   []string{"vscode-json-language-server", "--stdio"},
		Options:   formatterOption,
		Settings:  jsonSettings,
		Install:   vscodeInstall,
		Part:      "syntax and schemas",
	},
	{
		Name:      "eslint",
		Languages: lintedByESLint,
		Command:   []string{"vscode-eslint-language-server", "--stdio"},
		Roots:     [][]string{{"eslint.config.*", ".eslintrc", ".eslintrc.*"}},
		Settings:  eslintSettings,
		Install:   vscodeInstall,
		Beside:    true,
	},
	{
		Name:      "tailwindcss",
		Languages: styledByTailwind,
		Command:   []string{"tailwindcss-language-server", "--stdio"},
		Roots:     [][]string{{"tailwind.config.*"}},
		Install:   "npm install -g @tailwindcss/language-server",
		Beside:    true,
	},
	{
		Name:      "svelte",
		Languages: []Language{{ID: "svelte", Endings: []string{".svelte"}}},
		Command:   []string{"svelteserver", "--stdio"},
		Roots:     nodeRoots,
		Install:   "npm install -g svelte-language-server",
		Lazy:      true,
		OpenOnly:  true,
	},
	{
		Name:      "vue",
		Languages: []Language{{ID: "vue", Endings: []string{".vue"}}},
		Command:   []string{"vue-language-server", "--stdio"},
		Roots:     nodeRoots,
		Install:   "npm install -g @vue/language-server",
		Part:      "templates and styles", // it leaves scripts to TypeScript's server, which does not read its files
		Lazy:      true,
		OpenOnly:  true,
	},
	{
		Name:      "terraform-ls",
		Languages: []Language{{ID: "terraform", Endings: []string{".tf"}}, {ID: "terraform-vars", Endings: []string{".tfvars"}}},
		Command:   []string{"terraform-ls", "serve"},
		Roots:     [][]string{{".terraform", ".terraform.lock.hcl"}},
		Install:   "brew install hashicorp/tap/terraform-ls, or from releases.hashicorp.com/terraform-ls",
	},
	{
		Name:      "elixir-ls",
		Languages: []Language{{ID: "elixir", Endings: []string{".ex", ".exs"}}, {ID: "eelixir", Endings: []string{".eex", ".leex"}}, {ID: "phoenix-heex", Endings: []string{".heex"}}},
		Command:   []string{"elixir-ls"},
		Roots:     [][]string{{"mix.exs"}},
		Install:   "brew install elixir-ls, or from github.com/elixir-lsp/elixir-ls",
	},
	{
		Name:      "haskell-language-server",
		Languages: []Language{{ID: "haskell", Endings: []string{".hs"}}, {ID: "literate haskell", Endings: []string{".lhs"}}},
		Command:   []string{"haskell-language-server-wrapper", "--lsp"},
		Roots:     [][]string{{"hie.yaml", "stack.yaml", "cabal.project"}, {"*.cabal", "package.yaml"}},
		Install:   "ghcup install hls",
		OpenOnly:  true,
	},
	{
		Name:      "ocamllsp",
		Languages: []Language{{ID: "ocaml", Endings: []string{".ml"}}, {ID: "ocaml.interface", Endings: []string{".mli"}}, {ID: "ocaml.ocamllex", Endings: []string{".mll"}}, {ID: "ocaml.menhir", Endings: []string{".mly"}}},
		Command:   []string{"ocamllsp"},
		Roots:     [][]string{{"dune-workspace", "dune-project"}, {"*.opam"}},
		Install:   "opam install ocaml-lsp-server",
		OpenOnly:  true,
	},
	{
		Name:      "csharp-ls",
		Languages: csharp,
		Command:   []string{"csharp-ls"},
		Roots:     csharpRoots,
		Install:   "dotnet tool install --global csharp-ls",
		OpenOnly:  true,
	},
	{
		Name:      "omnisharp",
		Languages: csharp,
		Command:   []string{"OmniSharp", "--languageserver"},
		Roots:     csharpRoots,
		Install:   "from github.com/OmniSharp/omnisharp-roslyn",
		OpenOnly:  true,
	},
	{
		Name:      "dart",
		Languages: []Language{{ID: "dart", Endings: []string{".dart"}}},
		Command:   []string{"dart", "language-server", "--protocol=lsp"},
		Roots:     [][]string{{"pubspec.yaml"}},
		Install:   "it comes with Dart: dart.dev/get-dart",
	},
	{
		Name:      "dockerfile-language-server",
		Languages: []Language{{ID: "dockerfile", Endings: []string{".dockerfile", ".Dockerfile"}, Names: []string{"Dockerfile", "Dockerfile.*", "Containerfile", "Containerfile.*"}}},
		Command:   []string{"docker-langserver", "--stdio"},
		Install:   "npm install -g dockerfile-language-server-nodejs",
	},
	{
		Name:      "marksman",
		Languages: []Language{{ID: "markdown", Endings: []string{".md", ".markdown"}}},
		Command:   []string{"marksman", "server"},
		Roots:     [][]string{{".marksman.toml"}},
		Install:   "brew install marksman, or from github.com/artempyanykh/marksman",
	},
	{
		Name:      "texlab",
		Languages: []Language{{ID: "latex", Endings: []string{".tex", ".sty", ".cls"}}, {ID: "bibtex", Endings: []string{".bib"}}},
		Command:   []string{"texlab"},
		Roots:     [][]string{{".latexmkrc", "latexmkrc", ".texlabroot", "texlabroot"}},
		Install:   "cargo install texlab, or brew install texlab",
	},
	{
		Name:      "nil",
		Languages: []Language{{ID: "nix", Endings: []string{".nix"}}},
		Command:   []string{"nil"},
		Roots:     [][]string{{"flake.nix"}, {"default.nix", "shell.nix"}},
		Install:   "nix profile install nixpkgs#nil",
		OpenOnly:  true,
	},
	{
		Name:      "gleam",
		Languages: []Language{{ID: "gleam", Endings: []string{".gleam"}}},
		Command:   []string{"gleam", "lsp"},
		Roots:     [][]string{{"gleam.toml"}},
		Install:   "it comes with Gleam: gleam.run/getting-started/installing",
	},
}
