package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// Serve runs one call of a tool for another program, which asks its own user
// before it changes anything. So what the rules would ask about is done; what they
// deny is not, nor what no rule may allow, such as a change of a protected file.
// The envelope says what came of it, also of a call that failed.
func (s *Session) Serve(ctx context.Context, tool string, input json.RawMessage) tools.Envelope {
	begun := time.Now()
	s.followTrustUnasked()
	if v := s.workspace.LSP; v != nil {
		v.Dirty() // the other program changes files as it likes
	}
	spec := &tools.Spec{ID: tool}
	result, err := func() (_ tools.Result, err error) {
		defer s.recovered(tool, &err)
		t, err := s.sessions.tools.Find(tool)
		if err != nil {
			return tools.Result{}, err
		}
		spec = t.Spec()
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		action, err := t.Prepare(ctx, s.workspace, input)
		if err != nil {
			return tools.Result{}, s.withoutContent(err, permission.Ask)
		}
		if v := s.decide(action.Facts); v.Action > permission.Ask {
			return tools.Result{}, fmt.Errorf("refused: %s", v.Reason)
		}
		judged := s.beforeChange(ctx, action)
		defer judged.close()
		result, err := action.Run(ctx, func(tools.Output) {})
		judged.after(ctx, &result, s.workspace, err)
		return result, err
	}()
	if err != nil && ctx.Err() != nil {
		err = cancelled(err)
	}
	return tools.Conclude(spec, &result, err, time.Since(begun), s.workspace.Spool)
}

// followTrustUnasked takes up that the project was trusted meanwhile, by `acp-agent
// trust`, where there is nobody to ask.
func (s *Session) followTrustUnasked() {
	if s.trusted.Load() {
		return
	}
	s.finding.Lock()
	defer s.finding.Unlock()
	o := s.opened()
	if !o.Trusted || s.trusted.Load() {
		return
	}
	s.take(o)
	if s.workspace.LSP != nil {
		s.workspace.LSP.Configure(LSPConfig(s.cfg().LSP))
	}
}
