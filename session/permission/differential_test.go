//go:build linux

package permission

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/tools/workspace"
	"golang.org/x/sys/unix"
)

var (
	differentialStrings = flag.Int("differential", 10_000, "how many strings TestDifferential makes; 100,000 in the usual check")
	differentialSeed    = flag.Uint64("differential-seed", 1, "what TestDifferential's strings are made of")
)

// recorder is a bash in which every external program is replaced by one that
// only notes how it was called. It reads strings that end in NUL from descriptor
// 3, evaluates each in a shell of its own, and writes a line for each call to
// descriptor 4: the number of the string and the words. Each string has the folder of
// its number, which is its home too. Nothing can be found in its PATH,
// no string holds a slash, and what could reach other processes is switched off.
const recorder = `
exec 203<&3 204>&4 3<&- 4>&-
__at=$PWD
ulimit -f 64 -c 0
__step() { (( ++__steps <= 8 )) || exit 0; }
command_not_found_handle() {
	__step
	builtin local IFS=$'\x01' __m
	__m="$__i$IFS$*"
	builtin printf '%s\n' "${__m//$'\n'/$'\x02'}" >&204
	[[ $1 != *[13579] ]]
}
for __n in 0 1 2 3 4 5 6 7 8 9; do eval "p$__n() { command_not_found_handle p$__n \"\$@\"; }"; done
true() { __step; }
:() { __step; }
echo() { __step; }
enable -n kill exec fc history suspend logout bg fg jobs disown umask source . hash alias trap shopt bind complete compgen compopt wait
enable -n enable
__i=0
while IFS= read -r -d '' -u 203 __s; do
	__steps=0
	(
		ulimit -t 1
		cd -- "$__at/$__i" || exit
		HOME=$PWD
		unset OLDPWD
		eval "$__s"
	) </dev/null >/dev/null 2>&1 203<&-
	(( ++__i ))
done
`

// TestDifferential holds what bash does with generated commands against what was
// judged of them: each program that it calls, each call's words, and each file that
// it opens itself are among what was judged, or the command was not understood and
// asks (policy section 3).
func TestDifferential(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	const batch = 2500
	n := *differentialStrings
	if testing.Short() {
		n = batch
	}
	for first := 0; first < n; first += batch {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			compareWithBash(t, bash, rand.New(rand.NewPCG(*differentialSeed, uint64(first))), batch)
		})
	}
}

// judgedCalls is what was judged of one string.
type judgedCalls struct {
	text   string
	runsAs string          // what would run in its place; empty: it is asked about
	calls  map[string]bool // words, joined by NUL
	names  map[string]bool
	opens  map[opened]bool
}

// judgedOf judges a string; understood is false where it asks whatever the rules
// say.
func judgedOf(p *Policy, text string) (c judgedCalls, understood bool) {
	j := newJudge(p, "bash")
	j.trace = &trace{}
	j.command(text, p.Roots.Dir())
	c = judgedCalls{text: text, calls: map[string]bool{}, names: map[string]bool{}, opens: map[opened]bool{}}
	for _, f := range j.found {
		if f.class >= opaque {
			return c, false
		}
		if f.class != plain {
			j.text = ""
		}
	}
	c.runsAs = j.text
	for _, part := range j.parts {
		for _, argv := range append(wrapped(part.raw), guesses(part.words)) {
			if len(argv) > 0 {
				c.names[argv[0]] = true
				c.calls[strings.Join(argv, "\x00")] = true
			}
		}
	}
	for _, t := range j.trace.tried {
		if perm := t.Rules[0].Permission; perm == permRead || perm == permEdit {
			c.opens[opened{p.Roots.Name(filepath.FromSlash(t.About)), perm == permEdit}] = true
		}
	}
	return c, true
}

// wrapped are a command and the wrappers that it is run by in turn: built-in ones
// are not recorded, and those behind them are.
func wrapped(argv []string) [][]string {
	list := [][]string{argv}
	for len(argv) > 1 && argv[0] == "command" {
		argv = argv[1:]
		list = append(list, argv)
	}
	return list
}

// recordedCall is a program that bash would have run.
type recordedCall struct {
	string int // its number
	words  []string
}

// record gives strings to the recorder, each with a folder below dir, and returns
// what they called and opened; all is false where it has missed some.
func record(t *testing.T, bash, dir string, runs []judgedCalls) (calls []recordedCall, opens []recordedOpen, all bool) {
	t.Helper()
	watch := watchFolders(t)
	for i := range runs {
		at := filepath.Join(dir, strconv.Itoa(i))
		furnish(t, at)
		watch.folders[watch.watch(t, at)] = watched{string: i}
		watch.folders[watch.watch(t, filepath.Join(at, "d"))] = watched{i, "d"}
	}
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	notes, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--noprofile", "--norc", "-c", recorder)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Join(dir, "none"), "HOME=" + dir, "PWD=" + dir}
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	go func() { // ends with the recorder
		defer feed.Close()
		w := bufio.NewWriter(feed)
		defer w.Flush()
		for _, j := range runs {
			w.WriteString(j.text)
			w.WriteByte(0)
		}
	}()
	var text bytes.Buffer
	if _, err := text.ReadFrom(notes); err != nil { // ends with all that the strings began
		t.Fatal(err)
	}
	notes.Close()
	if err := cmd.Wait(); err != nil && ctx.Err() != nil {
		t.Fatalf("the recorder ended with %v", err)
	}
	opens, all = watch.done(t)
	return recordedCalls(t, text.String()), opens, all
}

// recordAll records until nothing was missed, and returns below which folder.
func recordAll(t *testing.T, bash, dir string, runs []judgedCalls) (at string, calls []recordedCall, opens []recordedOpen) {
	t.Helper()
	for try := range 5 {
		at = filepath.Join(dir, "run", strconv.Itoa(try))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		var all bool
		if calls, opens, all = record(t, bash, at, runs); all {
			return at, calls, opens
		}
	}
	t.Fatal("the strings open files faster than they can be noted")
	return "", nil, nil
}

// furnish makes the folder that a string runs in, with files of the names that
// generated words have most: what is missing is not opened to be read.
func furnish(t *testing.T, dir string) {
	t.Helper()
	for at, names := range map[string]string{dir: "a b c p0 p1 p5 1 2 {a,b} {a -x ~ *", filepath.Join(dir, "d"): "a b"} {
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(names) {
			if err := unix.Mknod(filepath.Join(at, name), unix.S_IFREG|0o644, 0); err != nil { // opens nothing
				t.Fatal(err)
			}
		}
	}
}

// inMemory is a folder that no disk is behind, where there is one: a folder for each
// string is slow to make elsewhere.
func inMemory() string {
	const dir = "/dev/shm"
	if unix.Access(dir, unix.W_OK) != nil {
		return ""
	}
	return dir
}

// recordedCalls reads what the recorder wrote: a line a call.
func recordedCalls(t *testing.T, notes string) (calls []recordedCall) {
	t.Helper()
	for line := range strings.Lines(notes) {
		words := strings.Split(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\x02", "\n"), "\x01")
		number, err := strconv.Atoi(words[0])
		if err != nil || len(words) < 2 {
			t.Fatalf("the recorder wrote %q", line)
		}
		calls = append(calls, recordedCall{number, words[1:]})
	}
	return calls
}

// compareWithBash makes n strings and holds what bash does with them against what
// was judged.
func compareWithBash(t *testing.T, bash string, r *rand.Rand, n int) {
	dir, err := os.MkdirTemp(inMemory(), "differential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	model := filepath.Join(dir, "model") // what each string's folder is like
	furnish(t, model)
	roots, err := workspace.NewRoots(model)
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	p := &Policy{Roots: roots, Home: model, Trusted: true, Lookup: func(string) bool { return true }}
	for _, perm := range []string{permBash, permRead, permEdit} {
		p.Rules = append(p.Rules, Rule{Permission: perm, Action: Allow, Scope: Session})
	}
	var runs []judgedCalls
	for range n {
		j, understood := judgedOf(p, generated(r))
		if !understood {
			continue
		}
		if as := j.runsAs; as != "" && r.IntN(2) == 0 { // what is allowed, and what was written
			j.text = as
		}
		runs = append(runs, j)
	}
	if len(runs) < n/20 {
		t.Errorf("only %d of %d strings were understood: the generator compares nothing", len(runs), n)
	}
	at, calls, opens := recordAll(t, bash, dir, runs)
	t.Logf("%d of %d strings were understood; they made %d calls and opened %d files", len(runs), n, len(calls), len(opens))
	for _, call := range calls {
		j := runs[call.string]
		for i, word := range call.words { // judged as if it ran in the model
			call.words[i] = strings.ReplaceAll(word, filepath.Join(at, strconv.Itoa(call.string)), model)
		}
		switch {
		case !j.names[call.words[0]]:
			t.Errorf("%q runs %q, which was not judged", j.text, call.words)
		case !strings.ContainsAny(j.text, "*?[") && !j.calls[strings.Join(call.words, "\x00")]:
			t.Errorf("%q runs %q, which was judged with other words", j.text, call.words)
		}
	}
	for _, open := range opens {
		if j := runs[open.string]; !j.opens[open.opened] {
			t.Errorf("%q opens %+v, which was not judged", j.text, open.opened)
		}
	}
}

// What the parser reads otherwise than bash asks, as it was found.
func TestDifferencesAsk(t *testing.T) {
	p := project(t)
	p.Rules = []Rule{allow("bash", "*")}
	for _, cmd := range []string{
		"cat <<\"E\"#b *\n$(ls)\nE\n", "cat <<\"E\"# x\n$(ls)\nE\n", "cat <<-'E'#b\nx\nE\n", "cat <<E#b\nx\nE\n", "ls; cat << \"E\"#\nx\nE\n",
		"echo \"$(true\n \"ls\"#b touch x\n)\"", "echo $(true\n 'ls'#b\n)", "echo `true\n \"ls\"#b x\n`", "(true\n 'ls'#b x\n)", "echo \"$(true\n \"ls\"\\\n#b x\n)\"",
	} {
		if v := bash(p, cmd); v.Action < ForcedAsk {
			t.Errorf("%q: %v (%s)", cmd, v.Action, v.Reason)
		}
	}
	if v := bash(p, "cat <<E # what follows\nx\nE\n"); v.Action != Allow {
		t.Errorf("a comment behind a blank: %v (%s)", v.Action, v.Reason)
	}
}
