//go:build unix

package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-agent/acp-agent/tools/workspace"
)

// These benchmarks time whole calls of grep and glob in this process against
// whole processes of rg and fd, in turn, so that both meet the same noise.
// testdata/bench/search.sh runs them and prints the table. The metrics are
// medians: milliseconds, processor milliseconds of user and system together,
// and the quotients ours/theirs, pair by pair.

// duel is a call against a command.
type duel struct {
	ours   func() Result
	theirs []string
	dir    string
}

// costs are what one side took, a run each.
type costs struct{ wall, cpu []float64 }

func (c *costs) add(wall, cpu time.Duration) {
	c.wall = append(c.wall, wall.Seconds()*1e3)
	c.cpu = append(c.cpu, cpu.Seconds()*1e3)
}

func (d duel) run(b *testing.B) {
	var ours, theirs costs
	d.round(b, &costs{}, &costs{}) // warms the page cache
	for b.Loop() {
		d.round(b, &ours, &theirs)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours.wall), "ours-ms")
	b.ReportMetric(median(theirs.wall), "theirs-ms")
	b.ReportMetric(median(quotients(ours.wall, theirs.wall)), "wall")
	b.ReportMetric(median(quotients(ours.cpu, theirs.cpu)), "cpu")
}

func (d duel) round(b *testing.B, ours, theirs *costs) {
	before, start := processorTime(b), time.Now()
	d.ours()
	ours.add(time.Since(start), processorTime(b)-before)
	cmd := exec.Command(d.theirs[0], d.theirs[1:]...)
	cmd.Dir = d.dir
	start = time.Now()
	out, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		b.Fatalf("%v: %v: %.300s", d.theirs, err, out)
	}
	theirs.add(wall, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func quotients(ours, theirs []float64) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = ours[i] / max(theirs[i], 0.001)
	}
	return out
}

func workspaceAt(tb testing.TB, dir string) *Workspace {
	tb.Helper()
	roots, err := workspace.NewRoots(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { roots.Close() })
	return &Workspace{Roots: roots, Files: workspace.NewDisk(roots), Seen: &Seen{}}
}

// peer finds a program to compare with by one of its names.
func peer(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Skipf("%s is not installed", strings.Join(names, " or "))
	return ""
}

// goSources is the source of the standard library.
func goSources(tb testing.TB) string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Skip("the go command does not say where its sources are:", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, err := os.Stat(dir); err != nil {
		tb.Skip("the Go sources are not here:", err)
	}
	return dir
}

func BenchmarkGrepAgainstRipgrep(b *testing.B) {
	rg, dir := peer(b, "rg"), goSources(b)
	for _, q := range []struct {
		name, pattern string
		fold          bool
	}{
		{"literal", "ErrUnexpectedEOF", false},
		{"frequent", "return", false},
		{"method", `func \(\w+ \*Conn\) \w+\(`, false},
		{"fold", "unexpectedeof", true},
		{"alternation-before", `(foo|bar|baz)Handler`, false},
		{"suffix", `\w+Handler\b`, false},
		{"alternation", "TODO|FIXME|XXX", false},
		{"fold-k-s", "unlockslow", true},
		{"constants-no-literal", `[A-Z]+_[A-Z]+_[A-Z]+`, false},
		{"digits-no-literal", `[0-9]{3}[a-f][0-9]{3}`, false},
		{"words-no-literal", `\b[A-Z][a-z]+[A-Z][a-z]+[A-Z]\b`, false},
		{"blank-no-literal", `[ \t]+$`, false},
		{"unicode-no-literal", `[α-ω]+|[一-龥]{2}`, false},
	} {
		b.Run(q.name, func(b *testing.B) {
			ws := workspaceAt(b, dir)
			// In rg \w and \b are those of Unicode, in ours of ASCII.
			theirs := strings.NewReplacer(`\w`, `[0-9A-Za-z_]`, `\b`, `(?-u:\b)`).Replace(q.pattern)
			args := []string{rg, "--no-config", "--hidden", "--count"}
			if q.fold {
				args = append(args, "-i")
			}
			duel{
				ours: func() Result {
					return must(b, ws, Grep(), map[string]any{"pattern": q.pattern, "output_mode": "count", "case_insensitive": q.fold})
				},
				theirs: append(args, "--", theirs, "."), dir: dir,
			}.run(b)
		})
	}
}

func BenchmarkGlobAgainstFd(b *testing.B) {
	fd, dir := peer(b, "fdfind", "fd"), goSources(b)
	for _, q := range [][2]string{{"by-suffix", "*_test.go"}, {"in-folders", "**/testdata/**/*.go"}, {"none", "*.nothing"}} {
		b.Run(q[0], func(b *testing.B) {
			ws := workspaceAt(b, dir)
			duel{
				ours:   func() Result { return must(b, ws, Glob(), map[string]any{"pattern": q[1]}) },
				theirs: []string{fd, "--hidden", "--type", "f", "--full-path", "--glob", "**/" + q[1]}, dir: dir,
			}.run(b)
		})
	}
}

// BenchmarkSearchGrowth searches trees of 10 000 and 100 000 files: the times
// should grow as the files do, and the memory stay small.
func BenchmarkSearchGrowth(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		dir := manyFiles(b, n)
		for _, name := range []string{"glob", "grep"} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var walls, peaks []float64
				for b.Loop() {
					wall, peak := searchAlone(b, dir, name)
					walls, peaks = append(walls, wall.Seconds()*1e3), append(peaks, peak)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(walls), "ours-ms")
				b.ReportMetric(median(walls)*1e3/float64(n), "µs/file")
				b.ReportMetric(slices.Max(peaks), "peak-MB")
			})
		}
	}
}

var growthCalls = map[string]map[string]any{
	"glob": {"pattern": "**/*9.txt"},
	"grep": {"pattern": `line [0-9]+ of file 9\d*7$`, "output_mode": "count"},
}

// manyFiles makes a tree of n small files, a hundred a folder.
func manyFiles(b *testing.B, n int) string {
	dir := b.TempDir()
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprint(i/10_000), fmt.Sprint(i/100%100))
		if i%100 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		text := fmt.Sprintf("line 1 of file %d\nline 2 of file %d\n", i, i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i, ".txt")), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// searchAlone runs one call in a process of its own, so that its peak memory in
// megabytes is that of the call.
func searchAlone(b *testing.B, dir, name string) (time.Duration, float64) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestSearchAlone$", "-test.v")
	cmd.Env = append(os.Environ(), "SEARCH_ALONE="+name, "SEARCH_IN="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var took struct{ Nanoseconds int64 }
	for line := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(line, "took "); ok {
			if err := json.Unmarshal([]byte(text), &took); err != nil {
				b.Fatal(err)
			}
		}
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || took.Nanoseconds == 0 {
		b.Fatalf("no figures: %s", out)
	}
	return time.Duration(took.Nanoseconds), float64(usage.Maxrss) / 1024
}

// TestSearchAlone is the process of searchAlone.
func TestSearchAlone(t *testing.T) {
	input, ok := growthCalls[os.Getenv("SEARCH_ALONE")]
	if !ok {
		t.Skip("it runs in a process of its own that BenchmarkSearchGrowth starts")
	}
	ws := workspaceAt(t, os.Getenv("SEARCH_IN"))
	tool := Grep()
	if os.Getenv("SEARCH_ALONE") == "glob" {
		tool = Glob()
	}
	start := time.Now()
	must(t, ws, tool, input)
	fmt.Printf("took {\"Nanoseconds\":%d}\n", time.Since(start).Nanoseconds())
}
