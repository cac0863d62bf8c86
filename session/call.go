package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
	"github.com/acp-agent/acp-agent/tools"
)

// maxTogether is how many calls of one reply run at once.
const maxTogether = 10

// A call that fails the same way is nudged, and then ends the turn.
const (
	nudgeAfter = 3
	stopAfter  = 5
)

// errRejected is what the model is told of a call that the user rejected.
var errRejected = errors.New("the user rejected this call; do not try it again in another form, ask what to do instead or go on without it")

// MetadataDenied is true in the metadata of a call's envelope where the call
// was not permitted, by a rule or by the user.
const MetadataDenied = "denied"

// deniedError is a call that a rule or the mode does not permit.
type deniedError struct{ reason string }

func (e *deniedError) Error() string { return "denied: " + e.reason }

// notPermitted reports whether a call failed since it was not permitted.
func notPermitted(err error) bool {
	_, denied := errors.AsType[*deniedError](err)
	return denied || errors.Is(err, errRejected) || errors.Is(err, errKeepPlanning)
}

// call is one tool call on its way: prepared, judged, run, reported.
type call struct {
	rec       callRecord
	tool      tools.Tool // nil: the model named none that exists
	unknown   error      // why
	action    *tools.Action
	announced bool
	put       func(ctx context.Context) // stores rec again
}

// runCalls runs the calls of a reply and puts their results into the history,
// in the order of the calls. It returns why the turn has to end, if it has to.
func (t *Turn) runCalls(ctx context.Context, r *reply) string {
	t.answers = map[string]Answer{}
	for _, c := range r.calls {
		c.rec.Card = c.failedCard() // for the record, until it is prepared
		c.put = t.keeps(r.rec.call(ctx, &c.rec), &c.rec)
	}
	var batch []*call
	flush := func() {
		t.runTogether(ctx, batch)
		batch = nil
	}
	for _, c := range r.calls {
		if ctx.Err() != nil || t.halted() != "" {
			break
		}
		err := t.prepare(ctx, c)
		if len(batch) > 0 && (err != nil || !c.action.Concurrent || len(batch) == maxTogether) {
			flush()
			err = t.prepare(ctx, c) // what ran before it may have changed things
		}
		if err == nil {
			batch = append(batch, c)
		}
		t.announce(ctx, c)
		if err != nil {
			t.finish(ctx, c, tools.Result{}, err, 0)
		} else if !c.action.Concurrent {
			flush()
		}
	}
	flush()
	for _, c := range r.calls {
		if c.rec.Status != Completed && c.rec.Status != Failed {
			t.announce(ctx, c)
			t.finish(ctx, c, tools.Result{}, t.notRun(ctx), 0)
		}
	}
	return t.takeResults(ctx, r.calls)
}

// keeps stores a call of a sub-agent in both sessions that show it.
func (t *Turn) keeps(put func(context.Context), rec *callRecord) func(context.Context) {
	w := t.session.watch
	if w == nil {
		return put
	}
	return func(ctx context.Context) {
		put(ctx)
		w.keep(ctx, rec)
	}
}

// notRun is why a call of the reply did not come to its turn.
func (t *Turn) notRun(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &deniedError{"a hook ends the turn: " + t.halted()}
}

// prepare fills in the call's action and card. Its error is for the model.
func (t *Turn) prepare(ctx context.Context, c *call) error {
	c.action = nil
	if c.tool == nil {
		c.rec.Card = c.failedCard()
		return c.unknown
	}
	shown := t.announceLate(ctx, c)
	action, err := t.prepareAction(ctx, c)
	shown()
	if err != nil {
		c.rec.Card = c.failedCard()
		return t.session.withoutContent(err, permission.Allow)
	}
	c.action = action
	c.rec.Card = action.Card
	c.rec.Content = append(shownChanges(action.Changes), shownText(action.Card.Text)...)
	return nil
}

// prepareShown is how long a call is prepared before it is shown: what is usual takes
// less, and is shown once, as it is.
const prepareShown = 2 * time.Second

// announceLate shows the call as it is guessed at if it takes long to prepare, as a
// rename does for which a language server starts. done ends that.
func (t *Turn) announceLate(ctx context.Context, c *call) (done func()) {
	if c.announced {
		return func() {}
	}
	ended := make(chan struct{})
	timer := time.AfterFunc(prepareShown, func() {
		defer close(ended)
		t.announce(ctx, c)
	})
	return func() {
		if !timer.Stop() {
			<-ended
		}
	}
}

func (t *Turn) prepareAction(ctx context.Context, c *call) (action *tools.Action, err error) {
	defer t.session.recovered(c.rec.Tool, &err)
	input := json.RawMessage(c.rec.input())
	if strings.TrimSpace(string(input)) == "" {
		input = json.RawMessage("{}")
	}
	return c.tool.Prepare(ctx, t.workspaceOf(c), input)
}

// recovered makes a panic of a tool that call's failure and nothing more.
func (s *Session) recovered(tool string, err *error) {
	if p := recover(); p != nil {
		s.sessions.log.Error("panic in a tool", "tool", tool, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("the tool %s broke (%v); try another way and report this", tool, p)
	}
}

// withoutContent keeps a file's content from who called a tool, where reading that
// file is judged more strictly than most.
func (s *Session) withoutContent(err error, most permission.Action) error {
	var shows *tools.ContentError
	if !errors.As(err, &shows) {
		return err
	}
	v := s.decide(kinds.Facts{Tool: "read", Paths: []kinds.PathAccess{shows.Path}, ReadOnly: true})
	if v.Action <= most {
		return err
	}
	return errors.New(shows.Safe)
}

// failedCard is the card of a call that could not be prepared: its tool, and
// what of its arguments a person would look for.
func (c *call) failedCard() kinds.Card {
	card := c.guessCard()
	if c.tool != nil {
		if guess := c.tool.Spec().Guess; guess != nil {
			if guessed := guess(c.rec.input()); guessed.Title != "" {
				return guessed
			}
		}
		card.Title = c.tool.Spec().TitleOf(c.rec.input())
		return card
	}
	for _, what := range []string{"pattern", "command", "path", "url", "name"} { // a tool that nobody knows may take what others take
		named := tools.Spec{ID: card.Title, Title: c.rec.Tool + " {" + what + "}"}
		if title := named.TitleOf(c.rec.input()); title != card.Title {
			card.Title = title
			break
		}
	}
	return card
}

// announce shows the call as pending, or brings the card of one that was shown
// before its arguments were complete.
func (t *Turn) announce(ctx context.Context, c *call) {
	u := Call{ID: c.rec.ID, New: !c.announced, Status: Pending, Tool: c.rec.Tool, Card: &c.rec.Card, Content: c.rec.Content}
	if c.rec.Args != "" || !c.announced {
		u.Input = rawInput(c.rec.input())
	}
	if c.action != nil && c.action.Display != "" {
		u.Display.Dir = c.action.Display
		u.Content = append(append([]Shown{}, u.Content...), Shown{TerminalID: c.rec.ID})
	}
	c.announced = true
	t.update(context.WithoutCancel(ctx), u)
}

// runTogether judges the calls one after the other and runs those that may, at
// once. It returns when all have ended.
func (t *Turn) runTogether(ctx context.Context, batch []*call) {
	var wg sync.WaitGroup
	for _, c := range batch {
		if err := t.permit(ctx, c); err != nil {
			t.finish(ctx, c, tools.Result{}, err, 0)
			continue
		}
		if len(batch) == 1 {
			t.runOne(ctx, c)
			continue
		}
		if !c.action.Concurrent { // a hook made another call of it
			wg.Wait()
			t.runOne(ctx, c)
			continue
		}
		wg.Go(func() { t.runOne(ctx, c) })
	}
	wg.Wait()
}

// permit decides whether the call may run, asking the user where the rules say
// so. Its error is why not.
func (t *Turn) permit(ctx context.Context, c *call) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hooks, err := t.hookCall(ctx, c)
	if err != nil {
		return err
	}
	judge := func() permission.Verdict {
		return hooks.weigh(t.session, c.action.Facts, t.session.decide(c.action.Facts))
	}
	for v := judge(); ; {
		switch v.Action {
		case permission.Allow:
			t.session.unasked(c, v)
			return nil
		case permission.Deny:
			return &deniedError{v.Reason}
		}
		if c.action.LeavesPlan {
			return t.leavePlan(ctx, c)
		}
		settled, err := t.askFor(ctx, c, v, judge)
		if !settled {
			return err
		}
		v = judge()
	}
}

// askFor asks the user for a call. Its error is why it may not run. Settled: nobody
// answered, as what is allowed changed, and the call is to be judged again.
func (t *Turn) askFor(ctx context.Context, c *call, v permission.Verdict, judge func() permission.Verdict) (settled bool, err error) {
	q := t.session.question(c, v)
	q.Stands = func() bool {
		now := judge()
		return now.Action != permission.Allow && now.Action != permission.Deny
	}
	kept := false
	q.Keep = func(a Answer) {
		if !kept {
			kept = true
			t.keep(ctx, c, v, a, judge)
		}
	}
	answer, err := t.put(ctx, c, q)
	if err != nil || answer.Settled {
		return answer.Settled, err
	}
	switch answer.Decision {
	case AllowedOnce, AllowedAlways:
		// What is allowed may have changed while the question stood open.
		if now := judge(); now.Action == permission.Deny {
			return false, &deniedError{now.Reason}
		}
		q.Keep(answer)
		t.session.confine(c, true)
		return false, nil
	case Cancelled:
		t.cancel(errCancelledByUser)
		return false, errCancelledByUser
	}
	q.Keep(answer)
	return false, t.askReason(ctx, c)
}

// keep makes an answer for good hold for what comes after the call.
// Where the call is refused by now, nothing is allowed for good.
func (t *Turn) keep(ctx context.Context, c *call, v permission.Verdict, a Answer, judge func() permission.Verdict) {
	switch a.Decision {
	case AllowedAlways:
		if judge().Action == permission.Deny {
			return
		}
		if err := t.session.grant(ctx, v, a); err != nil {
			t.update(ctx, Notice{fmt.Sprintf("The permission could not be kept, so it holds in this session only: %v.", err)})
		}
	case RejectedAlways:
		t.session.refuse(c.action.Facts, v, a)
	}
}

// put asks the user, once for the same call in one reply.
func (t *Turn) put(ctx context.Context, c *call, q Question) (Answer, error) {
	key := c.rec.Tool + "\x00" + c.rec.input()
	if a, ok := t.answers[key]; ok {
		return a, nil
	}
	t.notify("asks for permission: " + c.rec.Card.Title)
	a, err := t.askWhileItStands(ctx, q)
	if err == nil && !a.Settled {
		t.answers[key] = a
	}
	return a, err
}

// runOne runs a permitted call and reports what it came to.
func (t *Turn) runOne(ctx context.Context, c *call) {
	c.rec.Status = InProgress
	if !c.action.ReadOnly {
		c.put(ctx) // what may have been done must be known after a crash
	}
	begins := Call{ID: c.rec.ID, Status: InProgress}
	if c.action.Display != "" {
		begins.Content = []Shown{{TerminalID: c.rec.ID}}
	}
	t.update(ctx, begins)
	changes := shownChanges(c.rec.Card.Changes)
	show := func(o tools.Output) {
		if c.action.Display != "" {
			t.update(context.WithoutCancel(ctx), Call{ID: c.rec.ID, Status: InProgress, Display: Display{Text: o.Display, Exit: o.Exit}})
			return
		}
		live := append([]Shown{}, changes...)
		if o.TerminalID != "" {
			live = append(live, Shown{TerminalID: o.TerminalID})
		} else {
			live = append(live, shownText(o.Text)...)
		}
		t.update(ctx, Call{ID: c.rec.ID, Status: InProgress, Content: live})
	}
	judged := t.session.beforeChange(ctx, c.action)
	begun := time.Now()
	result, err := func() (r tools.Result, err error) {
		defer t.session.recovered(c.rec.Tool, &err)
		return c.action.Run(ctx, show)
	}()
	judged.after(ctx, &result, t.session.workspace, err)
	if errors.Is(err, errCancelledByUser) { // in a question of a sub-agent
		t.cancel(errCancelledByUser)
	}
	if c.action.Display != "" {
		result.TerminalID = c.rec.ID
	}
	took := time.Since(begun)
	said := t.hookResult(ctx, c, result, err, took)
	t.finish(ctx, c, result, err, took)
	if said != "" {
		c.rec.Result += "\n\n" + said
		c.put(ctx)
	}
}

// finish gives the call its final status, stores it and tells the editor.
func (t *Turn) finish(ctx context.Context, c *call, result tools.Result, err error, took time.Duration) {
	if err != nil && ctx.Err() != nil {
		err = cancelled(err)
	}
	if notPermitted(err) {
		result.Metadata = map[string]any{MetadataDenied: true}
	}
	env := tools.Conclude(c.spec(), &result, err, took, t.session.workspace.Spool)
	c.rec.Output = &env
	c.rec.Result = env.Rendering()
	c.rec.Failed = err != nil
	c.rec.Status = Completed
	if err != nil {
		c.rec.Status = Failed
	}
	if result.Locations != nil {
		c.rec.Card.Locations = result.Locations
	}
	if result.Changes != nil {
		c.rec.Card.Changes = result.Changes
	}
	c.rec.Plan = result.Plan
	c.rec.Media = result.Media
	shown := c.finalContent(result, err)
	c.rec.Content = shown
	if result.TerminalID != "" { // which shows the output already
		result.Shown = ""
		shown = c.finalContent(result, err)
	}
	c.put(ctx)

	told := context.WithoutCancel(ctx)
	shown = append(shown, shownMedia(result.Media)...)
	t.update(told, Call{ID: c.rec.ID, Status: c.rec.Status, Card: &c.rec.Card, Content: shown, Output: &env})
	if result.Plan != nil {
		t.update(told, PlanChanged{*result.Plan})
	}
}

func (c *call) spec() *tools.Spec {
	if c.tool == nil {
		return &tools.Spec{ID: c.rec.Tool}
	}
	return c.tool.Spec()
}

// finalContent is what the card shows in the end: the changes first, then the
// terminal, then the text.
func (c *call) finalContent(result tools.Result, err error) []Shown {
	shown := shownChanges(c.rec.Card.Changes)
	if result.TerminalID != "" {
		shown = append(shown, Shown{TerminalID: result.TerminalID})
	}
	text := result.Shown
	if err != nil {
		text = joinText(cmp.Or(text, c.rec.Card.Untold()), shownError(err)) // what it would have been stays to be seen
	}
	return append(shown, shownText(text)...)
}

// shownError is an error as a person reads it.
func shownError(err error) string {
	switch { // the person knows who, and the rest is for a model
	case errors.Is(err, errRejected):
		return "Rejected; nothing was done."
	case errors.Is(err, errKeepPlanning):
		return "Not agreed to; plan mode stays."
	}
	return prose(tools.BoundError(err.Error()))
}

// prose is a text that is no Markdown, as Markdown.
func prose(text string) string {
	text = kinds.Escape(text)
	if strings.ContainsAny(text, "\n`*_<") {
		return kinds.Fence("", text)
	}
	return text
}

func joinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

func shownText(text string) []Shown {
	if text == "" {
		return nil
	}
	return []Shown{{Text: text}}
}

func shownMedia(media []tools.Media) []Shown {
	shown := make([]Shown, len(media))
	for i := range media {
		shown[i] = Shown{Media: &media[i]}
	}
	return shown
}

func shownChanges(changes []kinds.Change) []Shown {
	shown := make([]Shown, 0, len(changes)+1)
	for i := range changes {
		shown = append(shown, Shown{Change: &changes[i]})
	}
	return shown
}

// takeResults puts the results into the history, within the budget of a turn,
// and says why the turn has to end where a call keeps failing.
func (t *Turn) takeResults(ctx context.Context, calls []*call) (end string) {
	texts := make([]*string, len(calls))
	for i, c := range calls {
		if nudge := t.countFailure(c); nudge != "" {
			c.rec.Result += "\n\n" + nudge
			if t.failures[c.key()] >= stopAfter {
				end = fmt.Sprintf("I stopped: the same call of %s failed %d times.", c.rec.Tool, stopAfter)
			}
			c.put(ctx)
		}
		texts[i] = &c.rec.Result
	}
	for _, i := range tools.Budget(texts, t.session.workspace.Spool) {
		calls[i].put(ctx)
	}
	if halt := t.halted(); halt != "" {
		end = halt
	}
	msg := model.Message{Role: model.RoleTool}
	for _, c := range calls {
		msg.Parts = append(msg.Parts, c.rec.asResult()...)
	}
	t.session.remember(msg)
	return end
}

func (c *call) key() string { return c.rec.Tool + "\x00" + c.rec.Args }

// countFailure counts failures of the same call in a row and says what to tell
// the model.
func (t *Turn) countFailure(c *call) string {
	if !c.rec.Failed {
		delete(t.failures, c.key())
		return ""
	}
	t.failures[c.key()]++
	if n := t.failures[c.key()]; n >= nudgeAfter {
		return fmt.Sprintf("This same call has now failed %d times. Do not repeat it: change the arguments, use another tool, or tell the user what is in the way.", n)
	}
	return ""
}
