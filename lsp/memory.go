package lsp

import (
	"context"
	"time"

	"github.com/acp-agent/acp-agent/tools/process"
)

// memoryLook is how often it is looked how much memory a server has.
const memoryLook = 3 * time.Second

// memoryLimit is how many bytes a server may have by default: half of what the machine
// has, so that neither the editor nor the agent has to wait for a machine that swaps.
// 0: the system does not say.
func memoryLimit() int64 { return process.MachineMemory() / 2 }

// watchMemory ends the process as one that has crashed once it and its children have
// more memory than a server may. It returns with ctx.
func (r *run) watchMemory(ctx context.Context) {
	limit := r.server.config.MemoryLimit
	if limit <= 0 {
		return
	}
	for sleep(ctx, r.server.owner.memoryLook) == nil {
		if now := process.Memory(r.proc.PID()); now > limit {
			r.abort("had %d MB of memory, and lsp.memoryLimitMb is %d", now/1e6, limit/1e6)
		}
	}
}
