package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// release is the version of a program that was not built from a tagged module.
const release = "0.1.0"

type versionCommand struct{}

// Run shows the version in one line.
func (versionCommand) Run(p *process) error {
	_, err := fmt.Fprintln(p.out, versionLine())
	return err
}

// versionFlag is --version, which ends the program before anything is asked of
// the rest of the line.
type versionFlag bool

// BeforeReset is called by the parser as soon as it meets the flag.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	_, err := fmt.Fprintln(app.Stdout, versionLine())
	app.Exit(0)
	return err
}

// version is what the program calls itself, on the wire too: x.y.z.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	return versionOf(info)
}

// versionOf is the tag that the module was built from, if it was one.
func versionOf(info *debug.BuildInfo) string {
	if regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(info.Main.Version) {
		return info.Main.Version[1:]
	}
	return release
}

// versionLine tells a person, or a report of a bug, which build this is.
func versionLine() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	details := []string{runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	if commit := commitOf(info); commit != "" {
		details = append(details, commit)
	}
	return fmt.Sprintf("acp-agent %s (%s)", version(), strings.Join(details, ", "))
}

// commitOf names the commit that the program was built from; empty where the
// build did not record it.
func commitOf(info *debug.BuildInfo) string {
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	if revision == "" {
		return ""
	}
	return "commit " + revision[:min(12, len(revision))] + modified
}
