package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Guard ends what supervisors have started when the agent itself is killed, and
// so can end nothing: a bash that waits for the end of a pipe from the agent. It
// runs while there is anything to guard. The zero value is ready to use. It is
// safe for concurrent use.
type Guard struct {
	mu    sync.Mutex
	users int
	bash  *exec.Cmd
	say   *os.File // to it
}

// guardScript reads which supervisors there are, a line each, and what is to be
// ended when the lines end without a word. What is marked is looked for again
// until nothing is found, since it may go on starting others.
const guardScript = `trap '' HUP INT QUIT TERM
declare -A groups
while read -r word token group; do
	case $word in
	watch) groups[$token]=$group ;;
	leave) unset "groups[$token]" ;;
	bye) exit 0 ;;
	esac
done
for token in "${!groups[@]}"; do
	group=${groups[$token]}
	[[ -z $group ]] || echo 1 >"$group/cgroup.kill"
	for round in {1..20}; do
		found=
		for file in /proc/[0-9]*/environ; do
			: <"$file" || continue
			pid=${file//[!0-9]/}
			while IFS= read -r -d '' entry; do
				case $entry in
				` + Token + `=$token.*) kill -KILL "$pid" && found=yes && break ;;
				esac
			done <"$file"
			if read -r stat <"/proc/$pid/stat"; then
				stat=(${stat##*) })
				# One that is just becoming another program has no environment yet.
				[[ ${stat[0]} == [ZX] || ${stat[48]} != 0 ]] || ((stat[6] & 0x200000)) || found=yes
			fi
		done
		[[ $found ]] || break
	done
	for round in {1..20}; do # until the last of it has ended
		[[ -d $group ]] || break
		rmdir "$group"/*/
		rmdir "$group" || sleep 0.1
	done
done 2>/dev/null`

// watch has what the supervisor starts guarded, with the bash given, until leave.
func (g *Guard) watch(bash, token string, group *cgroup) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users++
	if g.bash == nil {
		if err := g.start(bash); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(g.say, "watch", token, group.path())
	return err
}

// start starts bash, away from the agent's terminal.
func (g *Guard) start(bash string) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", guardScript, "acp-agent-guard")
	cmd.Env, cmd.Dir, cmd.Stdin = []string{"PATH=/usr/bin:/bin"}, "/", theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return err
	}
	g.bash, g.say = cmd, ours
	return nil
}

// leave says that the supervisor has ended all by itself. With the last one, the
// guard ends.
func (g *Guard) leave(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users--
	if g.bash == nil {
		return
	}
	// One that was killed hears nothing.
	if _, err := fmt.Fprintln(g.say, "leave", token); err == nil && g.users > 0 {
		return
	}
	_, _ = io.WriteString(g.say, "bye\n")
	_ = g.say.Close()
	// One that a command has stopped, or that finds no time, has nothing left to do.
	hangs := time.AfterFunc(endTime, func() { _ = g.bash.Process.Kill() })
	_ = g.bash.Wait() // its status says nothing
	hangs.Stop()
	g.bash, g.say = nil, nil
}
