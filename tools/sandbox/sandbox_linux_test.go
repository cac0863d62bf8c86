package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// helperWord makes the test program the helper; otherUser makes it run its tests
// as another user.
const (
	helperWord = "sandbox-helper"
	otherUser  = "SANDBOX_TEST_USER"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == helperWord {
		err := Enter(os.Args[2:])
		if exited, ok := errors.AsType[*Exited](err); ok {
			os.Exit(exited.Status)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
	if len(os.Args) > 2 && os.Args[1] == attackWord {
		if err := attacks[os.Args[2]](os.Args[3:]); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		fmt.Println("ESCAPED")
		os.Exit(0)
	}
	if len(os.Args) > 3 && os.Args[1] == agentWord {
		beAgent(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// ways are the ones that are tested, best first.
var ways = []way{bubblewrap, namespaces, files}

// only is a prober that finds one way.
func only(t testing.TB, w way) *Prober {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Prober{Helper: []string{program, helperWord}, Avoid: func(other string) bool { return other != w.String() }}
	if a := p.probe(); a.way != w {
		miss(t, fmt.Sprintf("%s does not work here: %s", w, a.problem))
	}
	return p
}

// miss skips a test that cannot be run on this machine; in CI it may not.
func miss(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// testNames know a few names of each sort.
var testNames = Names{
	Guard: func(names []string) Guard {
		for i, n := range names {
			switch {
			case n == ".acp-agent":
				return Never
			case n == ".git":
				rest := names[i+1:]
				if len(rest) == 0 || slices.Contains(rest, "hooks") || slices.Contains(rest, "config") || slices.Contains(rest, "config.worktree") || slices.Contains(rest, "attributes") {
					return Never
				}
				return Guarded
			case n == ".vscode", n == ".mcp.json", n == "AGENTS.md", n == ".env", n == ".husky", n == ".github":
				return Guarded
			}
		}
		return Open
	},
	Secret: func(names []string) bool {
		last := names[len(names)-1]
		return last == ".env" || last == ".ssh" || last == ".aws" || strings.HasSuffix(last, ".pem")
	},
}

// project is a throw-away project, home and data folder.
type project struct {
	t               testing.TB
	root, home, own string
	outside, secret string
	box             *Box
	processes       process.Supervisor
	env             []string
	ports           []int // of Command.Ports
	way             way
}

func newProject(t testing.TB, w way, change func(*Options)) *project {
	t.Helper()
	prober := only(t, w)
	base := resolved(t.TempDir())
	p := &project{t: t, way: w, secret: rand.Text(), root: filepath.Join(base, "work"), home: filepath.Join(base, "home"), own: filepath.Join(base, "home", ".local", "share", "acp-agent"), outside: filepath.Join(base, "home", "outside")}
	for _, dir := range []string{p.root, p.home, p.own, p.outside, filepath.Join(p.root, "sub", "repo", ".git", "hooks"), filepath.Join(p.root, ".git", "objects"), filepath.Join(p.home, ".ssh")} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	for path, text := range map[string]string{".git/config": "[core]\n", ".git/HEAD": "ref: refs/heads/main\n", "sub/repo/.git/config": "[core]\n", ".env": "SECRET=" + p.secret + "\n", "sub/.env": "SECRET=" + p.secret + "\n", "a.txt": "text\n"} {
		must(t, os.WriteFile(filepath.Join(p.root, path), []byte(text), 0o644))
	}
	must(t, os.WriteFile(filepath.Join(p.home, ".ssh", "id_rsa"), []byte(p.secret+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(p.own, "credentials.json"), []byte(p.secret+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(p.outside, "theirs.txt"), []byte("theirs\n"), 0o644))
	o := Options{Roots: []string{p.root}, Own: []string{p.own}, Secrets: []string{filepath.Join(p.own, "credentials.json")}, Home: p.home, Names: testNames, Prober: prober}
	if change != nil {
		change(&o)
	}
	p.box = New(o)
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "ACP_TEST=1"}
	t.Cleanup(func() { p.processes.Close(); p.box.Close() })
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs bash text confined, to its end.
func (p *project) run(level Level, git bool, text string) (out string, code int) {
	p.t.Helper()
	c, err := p.box.Confine(Command{Path: "/bin/bash", Args: []string{"--noprofile", "--norc", "-c", text}, Level: level, Git: git, Ports: p.ports})
	must(p.t, err)
	defer c.Done()
	var buf bytes.Buffer
	child, err := p.processes.Start(process.Command{Path: c.Path, Args: c.Args, Dir: p.root, Env: p.env, Output: &buf})
	must(p.t, err)
	ctx, cancel := context.WithTimeout(p.t.Context(), 60*time.Second)
	defer cancel()
	exit, err := child.Wait(ctx)
	must(p.t, err)
	child.Close()
	if said := c.After(); said != "" {
		fmt.Fprintf(&buf, "[%s]\n", said)
	}
	return buf.String(), exit.Code
}

// forEachWay runs a test for each way, also as a user that is not root.
func forEachWay(t *testing.T, test func(t *testing.T, w way)) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) { test(t, w) })
	}
	if os.Getuid() != 0 {
		return
	}
	t.Run("as nobody", func(t *testing.T) { asNobody(t) })
}

// asNobody runs the test that t belongs to anew, as a user without rights.
func asNobody(t *testing.T) {
	program, err := os.Executable()
	must(t, err)
	dir, err := os.MkdirTemp("", "sandbox-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o777))
	must(t, os.Chmod(filepath.Join(dir, "tmp"), 0o777))
	copied := filepath.Join(dir, "sandbox.test")
	must(t, copyFile(program, copied))
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), copied, "-test.run=^"+name+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+filepath.Join(dir, "tmp"), otherUser+"=nobody")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, said)
	}
	if os.Getenv("CI") != "true" && bytes.Contains(said, []byte("--- SKIP")) {
		t.Logf("%s", said)
	}
}

// copyFile copies a program.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
