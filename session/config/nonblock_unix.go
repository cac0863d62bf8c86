//go:build unix

package config

import "syscall"

// nonblock opens a pipe without waiting for who writes to it.
const nonblock = syscall.O_NONBLOCK
