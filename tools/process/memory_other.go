//go:build !linux

package process

// Memory is what a process and its children have in memory, in bytes: here it is not
// known, which is 0.
func Memory(int) int64 { return 0 }

// MachineMemory is how many bytes of memory the machine has: here it is not known.
func MachineMemory() int64 { return 0 }
