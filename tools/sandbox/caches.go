package sandbox

import "path/filepath"

// caches are the folders in which build tools keep what they can make again, by
// their variables or where they are by default. A folder that programs are found
// in by PATH is not among them.
func caches(home string, getenv func(string) string) []string {
	var dirs []string
	byVariable := func(name, otherwise string) string {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return dir
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, otherwise)
	}
	add := func(dir string) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	cache := byVariable("XDG_CACHE_HOME", ".cache")
	for _, name := range cacheNames {
		add(filepath.Join(cache, name))
	}
	for _, v := range []string{"GOCACHE", "GOMODCACHE", "npm_config_cache", "NPM_CONFIG_CACHE", "YARN_CACHE_FOLDER", "PIP_CACHE_DIR", "UV_CACHE_DIR",
		"POETRY_CACHE_DIR", "PRE_COMMIT_HOME", "CCACHE_DIR", "SCCACHE_DIR", "GOLANGCI_LINT_CACHE", "STATICCHECK_CACHE", "CARGO_TARGET_DIR", "TURBO_CACHE_DIR", "ELECTRON_CACHE"} {
		add(getenv(v))
	}
	for _, dir := range filepath.SplitList(byVariable("GOPATH", "go")) {
		add(filepath.Join(dir, "pkg"))
	}
	cargo := byVariable("CARGO_HOME", ".cargo")
	add(filepath.Join(cargo, "registry"))
	add(filepath.Join(cargo, "git"))
	gradle := byVariable("GRADLE_USER_HOME", ".gradle")
	add(filepath.Join(gradle, "caches"))
	add(filepath.Join(gradle, "daemon"))
	add(filepath.Join(gradle, "native"))
	if home != "" {
		for _, name := range []string{".npm", ".pnpm-store", ".local/share/pnpm/store", ".yarn/berry/cache", ".bun/install/cache", ".m2/repository", ".ivy2/cache", ".sbt/boot", ".nuget/packages", ".ccache", ".pub-cache/hosted", ".hex/packages", ".stack/pantry", ".cabal/packages", ".terraform.d/plugin-cache"} {
			add(filepath.Join(home, name))
		}
	}
	return dirs
}

// cacheNames are the folders of build tools in the user's cache folder. All of it
// would let a command change what other programs keep there.
var cacheNames = []string{"go-build", "golangci-lint", "staticcheck", "gopls", "pip", "uv", "pypoetry", "pre-commit", "yarn", "pnpm", "node", "node-gyp", "deno", "bun", "bazel", "bazelisk",
	"ccache", "sccache", "zig", "mypy", "ruff", "pytest", "ms-playwright", "Cypress", "electron", "electron-builder", "composer", "coursier", "turbo", "esbuild", "typescript", "prisma", "nix", "rebar3", "hex", "gem", "bundle", "vcpkg", "conan", "black", "tree-sitter"}

// installs are the folders below the home that tools are installed to, which only
// a command that the user approved may change.
func installs(home string, getenv func(string) string) []string {
	var dirs []string
	for _, v := range []string{"GOPATH", "GOBIN", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PNPM_HOME", "PYENV_ROOT", "RBENV_ROOT", "GEM_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "SDKMAN_DIR", "VOLTA_HOME", "BUN_INSTALL", "npm_config_prefix"} {
		if dir := getenv(v); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	if home != "" {
		for _, name := range []string{"go", ".cargo", ".rustup", ".nvm", ".npm-global", ".pnpm", ".local/bin", ".local/lib", ".local/share", ".local/pipx", ".pyenv", ".rbenv", ".gem", ".bun", ".deno", ".volta", ".sdkman", ".gradle", ".m2", ".cache", ".docker", ".config/configstore"} {
			dirs = append(dirs, filepath.Join(home, name))
		}
	}
	return dirs
}
