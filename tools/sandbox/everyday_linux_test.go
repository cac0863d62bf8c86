package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// everyday is work that must go on confined: bash text, by the programs it needs,
// and what is to be in its output.
var everyday = []struct {
	name, needs, text, want string
	level                   Level
	git                     bool
	partial                 bool // Landlock alone does more than is expected here
}{
	{name: "go", needs: "go", text: `mkdir -p app && cd app && printf 'module app\n\ngo 1.24\n' > go.mod && printf 'package main\n\nfunc main() { println(two()) }\nfunc two() int { return 2 }\n' > main.go &&
		printf 'package main\n\nimport ("testing"; "os")\n\nfunc TestTwo(t *testing.T) { os.WriteFile(t.TempDir()+"/x", nil, 0o600); if two() != 2 { t.Fatal() } }\n' > main_test.go &&
		go vet ./... && go build -o out . && ./out && go test ./... && echo all well`, want: "all well"},
	{name: "loopback", needs: "bash", text: `exec 3<>/dev/udp/127.0.0.1/9 && echo reached`, want: "reached", partial: true},
	{name: "git reads", needs: "git", level: Reads, git: true, text: `git status --short && git log --oneline && git diff && git branch && echo all well`, want: "all well"},
	{name: "git commits", needs: "git", git: true, text: `echo y > new && git add new && git -c user.name=x -c user.email=x@y commit -qm second && git log --oneline && git checkout -q -b other && git checkout -q - && git stash list && echo all well`, want: "all well"},
	{name: "git configures, approved", needs: "git", level: Approved, git: true, text: `git config user.name me && git remote add origin https://example.com/x && git config user.name && mkdir s && cd s && git init -q && echo all well`, want: "all well"},
	{name: "make", needs: "make", text: `printf 'all: out\nout:\n\t@echo made > out\n' > Makefile && make && cat out && mktemp && echo x > /tmp/mine && cat /tmp/mine`, want: "made", partial: true},
	{name: "node", needs: "node", text: `mkdir -p web && cd web && printf '{"name":"web","scripts":{"test":"node --test"}}' > package.json && printf 'const t=require("node:test"),a=require("node:assert"),h=require("node:http");t("x",()=>a.equal(1,1));t("s",(_, done)=>{const s=h.createServer((q,r)=>r.end("ok")).listen(0,"127.0.0.1",()=>h.get({port:s.address().port,host:"127.0.0.1"},r=>{r.resume();r.on("end",()=>{s.close();done()})}))})' > a.test.js && npm test 2>&1 && echo all well`, want: "all well", partial: true},
	{name: "python", needs: "python3", text: `python3 -c 'import tempfile, multiprocessing as m, os; f=tempfile.NamedTemporaryFile(); f.write(b"x"); q=m.Queue(); print("all", "well")' && mkdir -p venvs`, want: "all well", partial: true},
	{name: "rg", needs: "rg", level: Reads, text: `rg --no-messages -c text . ; rg --no-messages SECRET . || echo nothing`, want: "nothing", partial: true},
	{name: "here-document", needs: "bash", level: Reads, text: "cat <<X\nin\nX\necho out > $TMPDIR/x && cat $TMPDIR/x", want: "out"},
	{name: "approved secrets", needs: "cat", level: Approved, text: `cat .env`, want: "SECRET"},
	{name: "exit status", needs: "bash", text: `(exit 7); echo status $?`, want: "status 7"},
	{name: "many users", needs: "id", text: `id -u && test -w . && touch w && echo fine`, want: "fine"},
}

func TestEverydayWork(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		cache := t.TempDir()
		if out, err := exec.Command("go", "env", "GOCACHE").Output(); err == nil && os.Getenv(otherUser) == "" {
			cache = strings.TrimSpace(string(out)) // a cold one takes minutes to fill
		}
		p := newProject(t, w, func(o *Options) {
			o.Getenv = func(name string) string {
				if name == "GOCACHE" {
					return cache
				}
				return ""
			}
		})
		p.env = append(p.env, "GOCACHE="+cache, "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GIT_OPTIONAL_LOCKS=0")
		must(t, os.RemoveAll(filepath.Join(p.root, ".git")))
		must(t, os.RemoveAll(filepath.Join(p.root, "sub")))
		if _, err := exec.LookPath("git"); err == nil {
			out, err := exec.Command("bash", "-c", `cd "$0" && git init -q && echo .env > .gitignore && git add . && git -c user.name=x -c user.email=x@y commit -qm first && rm -rf .git/hooks`, p.root).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		for _, e := range everyday {
			if w == files && e.partial {
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				if path, err := exec.LookPath(e.needs); err != nil {
					t.Skip(e.needs + " is not installed")
				} else if e.name == "go" && os.Getenv(otherUser) != "" {
					t.Skip("another user has no warm cache, and filling one takes a minute")
				} else if os.Getenv(otherUser) != "" && strings.HasPrefix(resolved(path), "/root/") {
					t.Skip(e.needs + " is another user's")
				}
				out, code := p.run(e.level, e.git, e.text)
				if code != 0 || !strings.Contains(out, e.want) {
					t.Errorf("status %d:\n%s", code, out)
				}
			})
		}
		if left, _ := filepath.Glob(filepath.Join(p.root, ".[a-z]*")); len(left) != 3 {
			t.Errorf("beside .env, .git and .gitignore there are %v", left)
		}
		for _, name := range []string{"hooks", "commondir", "config.worktree"} {
			if _, err := os.Lstat(filepath.Join(p.root, ".git", name)); err == nil {
				t.Errorf(".git/%s is left", name)
			}
		}
	})
}

// Leftover children live on until they are ended, and then what was put in the
// place of absent files goes.
func TestPlacesStayWhileNeeded(t *testing.T) {
	p := newProject(t, bubblewrap, nil)
	one, err := p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	two, err := p.box.Confine(Command{Path: "/bin/true"})
	must(t, err)
	place := filepath.Join(p.root, ".vscode")
	one.Done()
	if _, err := os.Lstat(place); err != nil {
		t.Error(err)
	}
	must(t, os.WriteFile(filepath.Join(p.root, ".husky", "theirs"), nil, 0o600)) // as an editor may
	two.Done()
	two.Done()
	if _, err := os.Lstat(place); err == nil {
		t.Error("it is left")
	}
	if _, err := os.Lstat(filepath.Join(p.root, ".husky", "theirs")); err != nil {
		t.Error(err)
	}
}

func TestModes(t *testing.T) {
	nothing := &Prober{Avoid: func(string) bool { return true }}
	c := Command{Path: "/bin/true", Args: []string{"x"}}
	for mode, refused := range map[Mode]bool{Auto: false, On: true, Off: false, "": false} {
		b := New(Options{Mode: mode, Prober: nothing})
		got, err := b.Confine(c)
		if (err != nil) != refused {
			t.Errorf("%q: %v", mode, err)
		}
		if !refused && (got.Path != c.Path || got.Note != "") {
			t.Errorf("%q: %+v", mode, got)
		}
		if said := b.Says(Unasked); said == "" {
			t.Errorf("%q says nothing", mode)
		}
		b.Close()
	}
	var none *Box
	if got, err := none.Confine(c); err != nil || got.Path != c.Path {
		t.Errorf("%+v, %v", got, err)
	}
}

func BenchmarkConfined(b *testing.B) {
	for _, w := range append([]way{none}, ways...) {
		b.Run(w.String(), func(b *testing.B) {
			if w == none {
				for b.Loop() {
					if out, err := exec.Command("/bin/bash", "--noprofile", "--norc", "-c", "true").CombinedOutput(); err != nil {
						b.Fatal(err, string(out))
					}
				}
				return
			}
			p := newProject(b, w, nil)
			for i := range 200 {
				must(b, os.MkdirAll(filepath.Join(p.root, fmt.Sprintf("d%d/e%d/f", i%10, i)), 0o755))
			}
			for b.Loop() {
				if out, code := p.run(Unasked, false, "true"); code != 0 {
					b.Fatal(code, out)
				}
			}
		})
	}
}

// A command may begin while another one ends, which then takes with it what stood
// in the place of absent files.
func TestPlacesAreShared(t *testing.T) {
	forEachWay(t, func(t *testing.T, w way) {
		p := newProject(t, w, nil)
		for _, git := range []bool{true, false} {
			first, err := p.box.Confine(Command{Path: "/bin/true", Git: git})
			must(t, err)
			for _, level := range []Level{Unasked, Approved, Reads} {
				second, err := p.box.Confine(Command{Path: "/bin/true", Level: level, Git: !git})
				must(t, err)
				first.Done()
				cmd := exec.Command(second.Path, second.Args...)
				cmd.Dir = p.root
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("git %v, level %d: %v: %s", git, level, err, out)
				}
				second.Done()
				first, err = p.box.Confine(Command{Path: "/bin/true", Git: git})
				must(t, err)
			}
			first.Done()
		}
		for _, name := range []string{".vscode", ".acp-agent", ".git/config.worktree", ".git/hooks"} {
			if _, err := os.Lstat(filepath.Join(p.root, name)); err == nil {
				t.Errorf("%s is left", name)
			}
		}
	})
}
