package session

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools"
)

// watcher is the editor's side of a sub-agent. Its calls are steps in the card
// of its parent's call. One that asks becomes a card of its own in the editor,
// which the request belongs to and which ends as the call does. Of a sub-agent in
// the background nothing is told but its questions (see floor).
type watcher struct {
	top    *Session
	name   string
	task   string // its prompt, in a line
	behind bool   // in the background
	step   func(tools.AgentStep)

	mu    sync.Mutex
	calls map[string]*watchedCall
}

type watchedCall struct {
	title  string
	status Status
	own    *ownCard // as which it is shown; nil: it is but a step
}

// ownCard is a card of the editor's session that a sub-agent's call or question
// is shown as, and its record there: a load brings it back. The model is told
// only by the sub-agent.
type ownCard struct {
	rec callRecord
	put func(context.Context)
}

// Update takes what the sub-agent tells. Its words and its plan are its own.
func (w *watcher) Update(ctx context.Context, u Update) error {
	switch u := u.(type) {
	case Call:
		return w.call(ctx, u)
	case Notice:
		text := "Sub-agent " + w.name + ": " + u.Text
		if w.behind {
			w.top.tell(text)
			return nil
		}
		return w.top.ends.Sink.Update(ctx, Notice{text})
	}
	return nil
}

func (w *watcher) call(ctx context.Context, u Call) error {
	w.mu.Lock()
	c := w.calls[u.ID]
	if c == nil {
		c = &watchedCall{}
		w.calls[u.ID] = c
	}
	if u.Card != nil {
		c.title = u.Card.Title
	}
	news := u.Status != "" && u.Status != c.status && !(c.status == Pending && u.Status == InProgress)
	if u.Status != "" {
		c.status = u.Status
	}
	step := tools.AgentStep{ID: u.ID, Title: c.title, Ended: c.status == Completed || c.status == Failed, Fails: c.status == Failed}
	shown := c.own != nil
	w.mu.Unlock()
	if news {
		w.step(step)
	}
	if !shown {
		return nil
	}
	u.New, u.Card = false, w.named(u.Card)
	return w.top.ends.Sink.Update(ctx, u)
}

// named is a card that says whose call it is.
func (w *watcher) named(card *kinds.Card) *kinds.Card {
	if card == nil {
		return nil
	}
	own := *card
	own.Title = kinds.Prefix(w.name, card.Title)
	return &own
}

// Ask asks the user, one question of all sub-agents at a time. What the answer to
// another one has settled in the meantime is not asked.
func (w *watcher) Ask(ctx context.Context, q Question) (a Answer, err error) {
	q.Card = *w.named(&q.Card)
	q.Content = append(append([]Shown{}, q.Content...), Shown{Text: "The sub-agent " + w.name + " asks for this. Its task:\n\n" + kinds.Fence("", w.task)})
	card := Call{ID: q.CallID, Status: Pending, Tool: q.Tool, Card: &q.Card, Input: q.Input, Content: q.Content}
	ask := func(ctx context.Context, id string) error {
		q.CallID = id
		a, err = w.top.ends.Asker.Ask(ctx, q)
		if err == nil && q.Keep != nil {
			q.Keep(a) // before the next one asks
		}
		return err
	}
	if !w.behind {
		settled, err := w.inTurn(ctx, card, q.Stands, ask)
		if settled {
			a = Answer{Decision: AllowedOnce, Settled: true}
		}
		return a, err
	}
	err = w.top.floor.ask(ctx, func(ctx context.Context) error {
		if !q.Stands() {
			a = Answer{Decision: AllowedOnce, Settled: true}
			return nil
		}
		return w.between(ctx, card, func(ctx context.Context, id string) (Status, string, error) {
			err := ask(ctx, id)
			switch {
			case err != nil || a.Decision == Cancelled:
				return "", "", cmp.Or(err, errCancelledByUser)
			case a.Decision == AllowedOnce || a.Decision == AllowedAlways:
				return Completed, "Allowed. The sub-agent goes on in the background.", nil
			}
			return Failed, shownError(errRejected), nil
		})
	})
	return a, err
}

// AskAll asks the questions of a sub-agent's tool.
func (w *watcher) AskAll(ctx context.Context, f Form) (r Replies, err error) {
	f.Card, f.From = *w.named(&f.Card), "The sub-agent "+w.name+" asks:"
	card := Call{ID: f.CallID, Status: InProgress, Tool: f.Tool, Card: &f.Card, Input: f.Input, Content: shownText(f.Card.Text)}
	ask := func(ctx context.Context, id string) error {
		f.CallID = id
		r, err = w.top.ends.Questioner.AskAll(ctx, f)
		return err
	}
	if !w.behind {
		_, err := w.inTurn(ctx, card, nil, ask)
		return r, err
	}
	err = w.top.floor.ask(ctx, func(ctx context.Context) error {
		return w.between(ctx, card, func(ctx context.Context, id string) (Status, string, error) {
			err := ask(ctx, id)
			if err == nil && r.Cancelled {
				err = errCancelledByUser
			}
			return Completed, "Answered. The sub-agent goes on in the background.", err
		})
	})
	return r, err
}

// inTurn asks on the card of the call itself, which goes on after the answer. It
// reports whether there was nothing to ask any more.
func (w *watcher) inTurn(ctx context.Context, card Call, stands func() bool, ask func(ctx context.Context, id string) error) (settled bool, err error) {
	release, err := w.top.floor.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if stands != nil && !stands() {
		return true, nil
	}
	if err := w.reveal(ctx, card); err != nil {
		return false, err
	}
	return false, ask(ctx, card.ID)
}

// between asks on a card that is the question's alone: it ends with the answer,
// as what comes after it may be long after the turn. Ask says how, and what to show.
func (w *watcher) between(ctx context.Context, card Call, ask func(ctx context.Context, id string) (Status, string, error)) error {
	card.ID, card.New = newCallID(), true
	own := w.record(ctx, card)
	if err := w.top.ends.Sink.Update(ctx, card); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	status, said, err := ask(ctx, card.ID)
	switch {
	case errors.Is(err, tools.ErrNoUser):
		status, said = Failed, shownError(err)
	case errors.Is(err, ErrSettled):
		status, said = Completed, "Not asked any more: the mode or the rules changed. The sub-agent goes on in the background."
	case err != nil:
		status, said = Failed, "Not answered. While the sub-agent works, this is asked again in the next turn."
	}
	end := Call{ID: card.ID, Status: status, Card: card.Card, Content: append(append([]Shown{}, card.Content...), Shown{Text: said})}
	own.rec.Status, own.rec.Content = end.Status, end.Content
	own.put(context.WithoutCancel(ctx))
	if told := w.top.ends.Sink.Update(context.WithoutCancel(ctx), end); told != nil {
		w.top.sessions.log.Warn("update not sent", "session", w.top.id, "error", told)
	}
	return err
}

// reveal makes a call a card of its own, unless it is one already.
func (w *watcher) reveal(ctx context.Context, card Call) error {
	w.mu.Lock()
	c := w.calls[card.ID]
	first := c != nil && c.own == nil
	if first {
		c.own = w.record(ctx, card)
	}
	w.mu.Unlock()
	if !first {
		return nil
	}
	card.New = true
	if err := w.top.ends.Sink.Update(ctx, card); err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// record begins the record of a card.
func (w *watcher) record(ctx context.Context, card Call) *ownCard {
	own := &ownCard{rec: callRecord{ID: card.ID, Tool: card.Tool, Name: card.Tool, Args: string(card.Input), Status: card.Status,
		Card: *card.Card, Content: card.Content, For: readerEditor}}
	own.put = w.top.newRecorder().call(ctx, &own.rec)
	return own
}

// keep stores what became of a call that is a card of its own.
func (w *watcher) keep(ctx context.Context, rec *callRecord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.calls[rec.ID]
	if c == nil || c.own == nil {
		return
	}
	c.own.rec = *rec
	c.own.rec.Card, c.own.rec.Plan, c.own.rec.For = *w.named(&rec.Card), nil, readerEditor
	c.own.put(ctx)
}
