package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// withoutNamespaces says that this test program runs where none can be made.
const withoutNamespaces = "SANDBOX_TEST_WITHOUT_NAMESPACES"

// Where the system refuses namespaces, though bubblewrap is installed, "on" refuses
// commands, "auto" says what is missing, and "off" runs them.
func TestWithoutNamespaces(t *testing.T) {
	program, err := os.Executable()
	must(t, err)
	if os.Getenv(withoutNamespaces) == "" {
		only(t, bubblewrap)
		const text = `echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all -- "$@"`
		cmd := exec.Command("unshare", "-Ur", "sh", "-c", text, "sh", program, "-test.run=^TestWithoutNamespaces$", "-test.v")
		cmd.Env = append(os.Environ(), withoutNamespaces+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	prober := &Prober{Helper: []string{program, helperWord}}
	s := prober.Status()
	if s.Whole || s.Advice == "" || !strings.Contains(s.Text, "bubblewrap does not work") || prober.network() != nil {
		t.Errorf("%+v", s)
	}
	c := Command{Path: "/bin/true"}
	for _, mode := range []Mode{On, Auto, Off} {
		b := New(Options{Mode: mode, Roots: []string{t.TempDir()}, Prober: prober})
		got, err := b.Confine(c)
		says := b.Says(Unasked)
		switch mode {
		case On:
			if !errors.Is(err, ErrUnavailable) || !strings.Contains(says, "refused") {
				t.Errorf("on: %v, %q", err, says)
			}
		case Auto:
			if err != nil || got.Path == c.Path && prober.probe().way != none || !strings.Contains(says, "not kept from commands") && !strings.Contains(says, "no sandbox") {
				t.Errorf("auto: %v, %q", err, says)
			}
		case Off:
			if err != nil || got.Path != c.Path || says != "sandbox: off" {
				t.Errorf("off: %v, %q", err, says)
			}
		}
		if err == nil {
			got.Done()
		}
		b.Close()
	}
}
