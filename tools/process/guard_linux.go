package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
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
bits=$1
declare -A groups limits
while read -r word token limit group; do
	case $word in
	watch) groups[$token]=$group limits[$token]=$limit ;;
	leave) unset "groups[$token]" ;;
	bye) exit 0 ;;
	esac
done
for token in "${!groups[@]}"; do
	group=${groups[$token]} limit=${limits[$token]}
	[[ -z $group ]] || echo 1 >"$group/cgroup.kill"
	for round in {1..20}; do
		found=
		for dir in /proc/[0-9]*; do
			pid=${dir#/proc/}
			read -r stat <"$dir/stat" || continue
			stat=(${stat##*) })
			[[ ${stat[0]} != [ZX] ]] || continue
			IFS= read -r -d '' soft <"$dir/limits"
			soft=${soft#*Max realtime timeout}
			soft=${soft#"${soft%%[! ]*}"}
			soft=${soft%% *}
			if [[ $soft && $soft != *[!0-9]* ]] && ((soft >> bits == limit >> bits)); then
				kill -KILL "$pid" && found=yes
				continue
			fi
			: <"$dir/environ" || continue
			while IFS= read -r -d '' entry; do
				case $entry in
				` + Token + `=$token*) kill -KILL "$pid" && found=yes && break ;;
				esac
			done <"$dir/environ"
			# One that is just becoming another program has no environment yet.
			[[ ${stat[48]} != 0 ]] || ((stat[6] & 0x200000)) || found=yes
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
func (g *Guard) watch(bash string, m mark, group *cgroup) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users++
	if g.bash == nil {
		if err := g.start(bash); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(g.say, "watch", m.text, m.limit, group.path())
	return err
}

// start starts bash, away from the agent's terminal.
func (g *Guard) start(bash string) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(bash, "--noprofile", "--norc", "-c", guardScript, "acp-agent-guard", strconv.Itoa(numberBits))
	cmd.Env, cmd.Dir, cmd.Stdin = []string{"PATH=/usr/bin:/bin"}, "/", theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := startMarked(mark{}, cmd.Start); err != nil {
		ours.Close()
		return err
	}
	g.bash, g.say = cmd, ours
	return nil
}

// leave says that the supervisor has ended all by itself. With the last one, the
// guard ends.
func (g *Guard) leave(m mark) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users--
	if g.bash == nil {
		return
	}
	// One that was killed hears nothing.
	if _, err := fmt.Fprintln(g.say, "leave", m.text); err == nil && g.users > 0 {
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
