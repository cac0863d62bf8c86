package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// HookEvent is what a hook waits for; the value is the name that it is told.
type HookEvent string

// The events. PreCompact is known, and does not happen yet.
const (
	SessionStart       HookEvent = "SessionStart"
	SessionEnd         HookEvent = "SessionEnd"
	UserPromptSubmit   HookEvent = "UserPromptSubmit"
	PreToolUse         HookEvent = "PreToolUse"
	PostToolUse        HookEvent = "PostToolUse"
	PostToolUseFailure HookEvent = "PostToolUseFailure"
	TurnEnd            HookEvent = "TurnEnd"
	PreCompact         HookEvent = "PreCompact"
	Notification       HookEvent = "Notification"
)

// Hook is a shell command that runs at an event.
type Hook struct {
	Command    string
	Match      []string // globs of tool ids; empty: all
	Timeout    time.Duration
	FailClosed bool // one that cannot run refuses, too
}

// defaultHookTimeout is how long a hook may take.
const defaultHookTimeout = 10 * time.Second

// maxHookTimeout is the longest that may be set, in milliseconds.
const maxHookTimeout = 600_000

// readHooks reads the hooks of one event, which join those of other files.
func readHooks(event HookEvent) func(*reader, hujson.Value) error {
	return func(r *reader, v hujson.Value) error {
		list, ok := v.Value.(*hujson.Array)
		if !ok {
			return errors.New("must be a list of {command, match, timeoutMs, failClosed}")
		}
		for _, e := range list.Elements {
			hook, err := readHook(e)
			if err != nil {
				r.tell(e.StartOffset, "%v; the hook is left out", err)
				continue
			}
			if event == PreCompact {
				r.tell(e.StartOffset, "nothing is compacted yet; the hook never runs")
			}
			if r.config.Hooks == nil {
				r.config.Hooks = map[HookEvent][]Hook{}
			}
			r.config.Hooks[event] = append(r.config.Hooks[event], hook)
		}
		return nil
	}
}

func readHook(v hujson.Value) (Hook, error) {
	var in struct {
		Command    *string         `json:"command"`
		Match      json.RawMessage `json:"match"`
		TimeoutMS  *int            `json:"timeoutMs"`
		FailClosed bool            `json:"failClosed"`
	}
	if err := decode(v, &in); err != nil {
		return Hook{}, errors.New("a hook must be {command, match, timeoutMs, failClosed}")
	}
	if in.Command == nil || strings.TrimSpace(*in.Command) == "" {
		return Hook{}, errors.New("a hook needs a command")
	}
	hook := Hook{Command: *in.Command, Timeout: defaultHookTimeout, FailClosed: in.FailClosed}
	if in.TimeoutMS != nil {
		if *in.TimeoutMS < 1 || *in.TimeoutMS > maxHookTimeout {
			return Hook{}, fmt.Errorf("timeoutMs must be a whole number from 1 to %d", maxHookTimeout)
		}
		hook.Timeout = milliseconds(*in.TimeoutMS)
	}
	var err error
	hook.Match, err = readMatch(in.Match)
	return hook, err
}

// readMatch reads one glob, several with | or a comma between them, or a list. What
// no tool's id can hold is refused: it stands there for a regular expression.
func readMatch(raw json.RawMessage) ([]string, error) {
	if raw == nil {
		return nil, nil
	}
	var list []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		list = strings.FieldsFunc(one, func(r rune) bool { return r == '|' || r == ',' })
	} else if json.Unmarshal(raw, &list) != nil {
		return nil, errors.New("match must be a glob of tool ids or a list of them")
	}
	var globs []string
	for _, glob := range list {
		glob = strings.TrimSpace(glob)
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("match has %q, which is no glob", glob)
		}
		if strings.ContainsAny(glob, ".()+$|{}\\") || strings.HasPrefix(glob, "^") {
			return nil, fmt.Errorf("match has %q, which no tool's id is like: write a glob, such as mcp__*", glob)
		}
		if glob != "" {
			globs = append(globs, glob)
		}
	}
	return globs, nil
}

// Matches reports whether the hook is for a tool, by its id or another name of
// it.
func (h Hook) Matches(names ...string) bool {
	if len(h.Match) == 0 {
		return true
	}
	for _, glob := range h.Match {
		for _, name := range names {
			if ok, _ := path.Match(glob, name); ok {
				return true
			}
		}
	}
	return false
}
