package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/acp-agent/acp-agent/session/permission"
)

// errKeepPlanning is what the model is told where the user does not agree to a
// plan.
var errKeepPlanning = errors.New("the user does not agree to the plan yet, and the session stays in plan mode; ask what to change, or better the plan")

// The ids of the answers to a plan (spec/config-keys.md, "plan_exit").
const (
	planAsk    = "ask"
	planAccept = "accept-edits"
	planKeep   = "keep-planning"
)

// planOptions are the answers to a plan: the safest way on comes first, as some
// editors answer with the first one.
func (s *Session) planOptions() []Option {
	accept := "Yes, and accept edits in this session"
	if !s.trusted.Load() {
		accept = "Yes, and accept edits once this folder is trusted"
	}
	return []Option{
		{planAsk, "Yes, ask before each change", AllowedOnce},
		{planAccept, accept, AllowedAlways},
		{planKeep, "No, keep planning", Rejected},
	}
}

// leavePlan asks how to go on after a plan, and changes the mode to what the user
// chose. Its error is why plan mode stays.
func (t *Turn) leavePlan(ctx context.Context, c *call) error {
	s := t.session
	if s.parent != nil {
		return &deniedError{"a sub-agent cannot leave plan mode: give the plan as your last message"}
	}
	q := t.session.question(c, permission.Verdict{})
	q.Options = s.planOptions()
	q.Stands = func() bool { return s.Mode() == permission.Plan }
	answer, err := t.put(ctx, c, q)
	if err != nil {
		return err
	}
	switch {
	case answer.Settled:
		return fmt.Errorf("nobody answered this plan: the user ended plan mode in the meantime, and the mode is now %s; go on in that mode, and ask where the plan is not sure to be wanted", s.Mode())
	case answer.Decision == AllowedOnce, answer.Decision == AllowedAlways:
		mode := permission.Default
		if answer.Option == planAccept {
			mode = permission.AcceptEdits
		}
		if s.endPlan(mode) {
			s.Save(ctx)
			s.tellMode(ctx)
		}
		return nil
	case answer.Decision == Cancelled:
		t.cancel(errCancelledByUser)
		return errCancelledByUser
	}
	return errKeepPlanning
}

// endPlan changes the mode from plan mode to another one. A mode that the user set
// while the question stood open stays: the answer is older than that.
func (s *Session) endPlan(to permission.Mode) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mode != permission.Plan {
		return false
	}
	s.mode = to
	s.settling.ring()
	return true
}
