package main

import (
	"runtime/debug"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"acp-agent": main, "reaper": reap})
}

// TestScripts runs the program as a person or an editor does, each script in a
// folder and a home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			home := env.WorkDir + "/home"
			for name, value := range map[string]string{
				"HOME": home, "USERPROFILE": home, "ACP_AGENT_KEYRING": "off",
				"XDG_CONFIG_HOME": home + "/config", "XDG_DATA_HOME": home + "/data",
				"XDG_STATE_HOME": home + "/state", "XDG_CACHE_HOME": home + "/cache",
			} {
				env.Setenv(name, value)
			}
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func TestVersionOf(t *testing.T) {
	for from, want := range map[string]string{
		"v1.2.3": "1.2.3", "(devel)": release, "": release,
		"v0.0.0-20261128010203-0123456789ab": release, "v1.2.3+dirty": release,
	} {
		if got := versionOf(&debug.BuildInfo{Main: debug.Module{Version: from}}); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}

func TestCommitOf(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"},
	}}
	if got := commitOf(info); got != "commit 0123456789ab with changes" {
		t.Error(got)
	}
	if got := commitOf(&debug.BuildInfo{}); got != "" {
		t.Error(got)
	}
}
