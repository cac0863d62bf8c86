package config

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
)

// Paths are the folders in which the agent keeps what is the user's. They are
// made when something is first written there.
type Paths struct {
	Home   string // the user's home; empty: there is none
	Config string // config.json
	Data   string // credentials, trust, grants, sessions
	State  string // logs
	Cache  string
	// Manifest is an administrator's configuration file, which is read and never
	// written; empty: there is none.
	Manifest string
}

// NewPaths finds the folders: by the XDG variables, else below the home (from
// HOME or the user database), else below the temporary folder, so that a bare
// environment is no obstacle. It touches no disk beyond the user database.
func NewPaths(getenv func(string) string) Paths {
	home := Home(getenv)
	p := Paths{Home: home, Manifest: manifest(getenv)}
	p.Config = folder(getenv, "XDG_CONFIG_HOME", home, configBelow())
	p.Data = folder(getenv, "XDG_DATA_HOME", home, dataBelow())
	p.State = folder(getenv, "XDG_STATE_HOME", home, stateBelow())
	p.Cache = folder(getenv, "XDG_CACHE_HOME", home, cacheBelow())
	return p
}

// manifest is where an administrator's configuration file stands.
func manifest(getenv func(string) string) string {
	if runtime.GOOS != "windows" {
		return "/etc/acp-agent/config.json"
	}
	if dir := getenv("ProgramData"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "acp-agent", "config.json")
	}
	return ""
}

// UserFile is the user's configuration file.
func (p Paths) UserFile() string { return filepath.Join(p.Config, "config.json") }

// Home is the user's home folder; empty where neither HOME nor the user
// database names one.
func Home(getenv func(string) string) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if home := getenv(name); filepath.IsAbs(home) {
		return filepath.Clean(home)
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return filepath.Clean(u.HomeDir)
	}
	return ""
}

func folder(getenv func(string) string, variable, home, below string) string {
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "acp-agent")
	}
	if home != "" {
		return filepath.Join(home, below, "acp-agent")
	}
	// Named by the user, since others may write in the temporary folder.
	return filepath.Join(os.TempDir(), "acp-agent-"+strconv.Itoa(os.Getuid()), variable)
}

func configBelow() string {
	switch runtime.GOOS {
	case "windows":
		return filepath.Join("AppData", "Roaming")
	}
	return ".config"
}

func dataBelow() string {
	if runtime.GOOS == "windows" {
		return filepath.Join("AppData", "Local")
	}
	return filepath.Join(".local", "share")
}

func stateBelow() string {
	if runtime.GOOS == "windows" {
		return filepath.Join("AppData", "Local", "State")
	}
	return filepath.Join(".local", "state")
}

func cacheBelow() string {
	if runtime.GOOS == "windows" {
		return filepath.Join("AppData", "Local", "Cache")
	}
	return ".cache"
}
