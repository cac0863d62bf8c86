package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/store"
	"github.com/acp-agent/acp-agent/tools"
)

// StopReason is why a turn ended.
type StopReason string

// The ends of a turn (protocol, "Stop reasons").
const (
	StopEndTurn         StopReason = "end_turn"
	StopMaxTokens       StopReason = "max_tokens"
	StopMaxTurnRequests StopReason = "max_turn_requests"
	StopRefusal         StopReason = "refusal"
	StopCancelled       StopReason = "cancelled"
)

// errCancelledByUser is the cause of a turn's end where the user answered a
// question with "cancel".
var errCancelledByUser = errors.New("cancelled by the user")

// cancelledText is what an unfinished call comes to when its turn is cancelled.
const cancelledText = "cancelled by the user before it was done"

// cancelled is what a call that failed since it was cancelled came to.
func cancelled(err error) error {
	if left, ok := errors.AsType[*tools.LeftError](err); ok {
		return fmt.Errorf("%s. %s", cancelledText, left.Remains())
	}
	return errors.New(cancelledText)
}

// Turn is one prompt and all that is done for it. It waits for the turns that
// the session was given before.
type Turn struct {
	session *Session
	prompt  []Content
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ready   chan struct{} // closed when the turns before it are finished
	done    chan struct{} // closed by Finish

	llm      chosenModel
	failures map[string]int    // failing calls in a row, by tool and arguments
	answers  map[string]Answer // of the questions asked in this reply
	// trustCard is the question of trust that is to be stored; nil: none.
	trustCard *callRecord

	mu   sync.Mutex
	halt string // a hook ends the turn, and why
}

// Begin admits a prompt: from here on Cancel finds it. It does not block.
// Every turn must be Run and then finished, once each.
func (s *Session) Begin(ctx context.Context, prompt []Content) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrNotFound
	}
	t := &Turn{session: s, prompt: prompt, ready: make(chan struct{}), done: make(chan struct{}), failures: map[string]int{}}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	if len(s.turns) == 0 {
		close(t.ready)
	}
	s.turns = append(s.turns, t)
	return t, nil
}

// Finish says that the turn's answer is on its way: the next one may begin.
func (t *Turn) Finish() {
	s := t.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.turns {
		if other != t {
			continue
		}
		s.turns = append(s.turns[:i], s.turns[i+1:]...)
		if i == 0 && len(s.turns) > 0 {
			close(s.turns[0].ready)
		}
		close(t.done)
		return
	}
}

// Cancel ends the running turn and those that wait. Without one it does
// nothing.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.turns {
		t.cancel(context.Canceled)
	}
}

// Run works until the model has nothing more to do, and returns when all that
// it started has ended. A cancelled turn is no error.
func (t *Turn) Run() (StopReason, error) {
	defer t.cancel(nil)
	select {
	case <-t.ready:
	case <-t.ctx.Done():
		return StopCancelled, nil
	}
	t.session.floor.begin(t)
	stop, err := t.run(t.ctx)
	t.session.floor.end(t)
	if t.ctx.Err() != nil {
		return StopCancelled, nil
	}
	return stop, err
}

func (t *Turn) run(ctx context.Context) (StopReason, error) {
	s := t.session
	if empty(t.prompt) {
		return StopEndTurn, nil // models refuse a request that ends with their own words
	}
	direct, err := s.parseCommand(plainText(t.prompt))
	if err != nil {
		return "", err
	}
	if direct == nil {
		if t.llm, err = s.chooseModel(); err != nil {
			return "", err
		}
	}
	if err := s.lease(ctx); err != nil {
		return "", err
	}
	t.prompt = fitted(ctx, t.prompt)
	if changed, err := t.followTrust(ctx); err != nil {
		return "", err
	} else if changed && direct == nil {
		if t.llm, err = s.chooseModel(); err != nil {
			return "", err
		}
	}
	if direct == nil {
		s.startServers()
	}
	s.findSkills() // what is wrong with them is told below
	if direct != nil {
		t.keepPrompt(ctx)
		t.tellNotices(ctx)
		return StopEndTurn, direct(ctx, t)
	}
	told, refused := t.hookPrompt(ctx)
	if refused != "" {
		t.update(ctx, Chunk{MessageID: store.NewID("msg_"), Content: Text(kinds.SafeMarkdown(refused))})
		return StopEndTurn, ctx.Err()
	}
	t.keepPrompt(ctx)
	s.agentTypes() // what is wrong with them is told below
	t.tellNotices(ctx)
	if told != "" {
		t.tellModel(ctx, told)
	}
	t.bringSkill(ctx)
	return t.loopWithHooks(ctx)
}

// tellNotices tells what could not be told outside a turn.
func (t *Turn) tellNotices(ctx context.Context) {
	s := t.session
	notices := s.sessions.database.takeNotices()
	s.mu.Lock()
	notices = append(notices, s.notices...)
	s.notices = nil
	s.mu.Unlock()
	for _, n := range notices {
		t.update(ctx, Notice{n})
	}
}

// keepPrompt stores the user's message, and with the first one the session.
func (t *Turn) keepPrompt(ctx context.Context) {
	s := t.session
	msg := store.Message{ID: store.NewID("msg_"), SessionID: s.id, Role: string(model.RoleUser), Created: time.Now()}
	user := model.Message{Role: model.RoleUser}
	for _, c := range t.prompt {
		msg.Parts = append(msg.Parts, store.Part{ID: store.NewID("part_"), MessageID: msg.ID, Type: recordContent, Data: mustJSON(c)})
		user.Parts = append(user.Parts, c.parts()...)
	}
	s.mu.Lock()
	first := s.title == ""
	if first {
		s.title = titleOf(t.prompt)
	}
	if len(user.Parts) > 0 {
		s.history = append(s.history, user)
	}
	s.updated = msg.Created
	row := s.rowLocked()
	stored := s.stored
	if !stored {
		s.stored, s.creating = true, true
	}
	s.mu.Unlock()
	if !stored {
		s.keep(ctx, func(ctx context.Context, db *store.Store) error { return s.create(ctx, db, row) })
	}
	s.keep(ctx, func(ctx context.Context, db *store.Store) error { return db.Append(ctx, msg) })
	t.keepTrust(ctx)
	if first {
		t.update(ctx, InfoChanged{Title: row.Title, Updated: row.Updated})
	}
}

// loop asks the model until it calls no more tools.
func (t *Turn) loop(ctx context.Context) (StopReason, error) {
	empty := 0
	for range t.session.maxRequests() {
		if err := t.followModel(); err != nil {
			return "", err
		}
		t.tellEnded(ctx)
		r, err := t.ask(ctx, empty > 0)
		if err != nil {
			return "", err
		}
		t.tellUsage(ctx, r.usage)
		switch {
		case r.stop == model.StopLength:
			return StopMaxTokens, nil
		case r.stop == model.StopFilter:
			return StopRefusal, nil
		case len(r.calls) == 0 && r.empty && empty == 0:
			empty++
			continue
		case len(r.calls) == 0:
			return StopEndTurn, nil
		}
		empty = 0
		if reason := t.runCalls(ctx, r); reason != "" {
			t.say(ctx, r.rec, reason)
			return StopEndTurn, nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
	}
	return StopMaxTurnRequests, nil
}

// tellEnded tells the model which background jobs have ended unseen.
func (t *Turn) tellEnded(ctx context.Context) {
	ended := t.session.workspace.Jobs.Ended()
	if len(ended) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("Background jobs have ended; task_output shows the rest of their output:")
	for _, job := range ended {
		fmt.Fprintf(&b, "\n- %s: %s (%s)", job.ID, job.State(), job.Title)
	}
	t.tellModel(ctx, b.String())
}

// tellModel adds something to the conversation that the user does not see.
func (t *Turn) tellModel(ctx context.Context, text string) {
	rec := &recorder{session: t.session, message: store.NewID("msg_"), role: model.RoleUser}
	defer rec.finish(ctx, readerBoth)
	rec.note(ctx, text, readerModel)
	t.session.remember(model.Message{Role: model.RoleUser, Parts: textPart(text)})
}

// followModel takes up a model that was chosen during the turn.
func (t *Turn) followModel() error {
	s := t.session
	s.mu.Lock()
	changed := s.model != "" && s.model != t.llm.name
	s.mu.Unlock()
	if !changed {
		return nil
	}
	chosen, err := s.chooseModel()
	if err != nil {
		return err
	}
	t.llm = chosen
	return nil
}

// say adds a sentence of the agent's own to the conversation.
func (t *Turn) say(ctx context.Context, rec *recorder, text string) {
	id := rec.note(ctx, text, readerBoth)
	t.session.remember(model.Message{Role: model.RoleAssistant, Parts: textPart(text)})
	t.update(ctx, Chunk{MessageID: id, Content: Text(kinds.SafeMarkdown(text))})
}

// update tells the editor. Its error is dropped: what was not told because the
// turn was cancelled, or the editor is gone, ends the turn by ctx.
func (t *Turn) update(ctx context.Context, u Update) {
	if err := t.session.ends.Sink.Update(ctx, u); err != nil && ctx.Err() == nil {
		t.session.sessions.log.Warn("update not sent", "session", t.session.id, "error", err)
	}
}

// tellUsage tells how full the window is, where its size is known.
func (t *Turn) tellUsage(ctx context.Context, u model.Usage) {
	used := u.Input + u.Output
	if size := t.llm.info.ContextWindow; size > 0 && used > 0 {
		t.update(ctx, UsageChanged{Used: used, Size: size})
	}
}

// remember appends to what the model is told of the past.
func (s *Session) remember(msgs ...model.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, msgs...)
}

// actionable makes a failure of the model one that a person can act on.
func (t *Turn) actionable(err error) error {
	var failed *model.Error
	if errors.As(err, &failed) {
		clean := *failed
		clean.Message = t.session.sessions.secrets.Keys(failed.Message)
		return &clean
	}
	return fmt.Errorf("model %s: %w", t.llm.name, err)
}
