package process

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
)

// TestMemory: what children have counts, too.
func TestMemory(t *testing.T) {
	own := resident(os.Getpid())
	if own < 1<<20 || resident(-1) != 0 {
		t.Errorf("own memory %d, none's %d", own, resident(-1))
	}
	if machine := MachineMemory(); machine < own {
		t.Errorf("the machine has %d", machine)
	}
	cmd := exec.Command("bash", "-c", "bash -c 'x=$(printf %20000000s); echo; read'; true")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Error(err)
	}
	if all, one := Memory(cmd.Process.Pid), resident(cmd.Process.Pid); all < one+20_000_000 {
		t.Errorf("%d with its children, %d alone", all, one)
	}
	_ = in.Close()
	_ = cmd.Wait()
}
