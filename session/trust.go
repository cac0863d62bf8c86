package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/session/config"
	"github.com/acp-agent/acp-agent/session/permission"
)

// trustTool is the name of the card that asks for trust.
const trustTool = "trust"

// The ids of the answers to the question of trust.
const (
	trustYes    = "trust"
	trustNotNow = "not-now"
	trustNever  = "never"
)

// maxTrustText is how much a question of trust shows, in bytes. Where that is not
// all, there is nothing to agree to.
const maxTrustText = 64 << 10

// loadConfig reads what holds for the session's folder.
func (s *Session) loadConfig() {
	o := s.sessions.paths.Open(s.request.Dir)
	s.root, s.mode, s.grants = o.Root, o.Config.Mode, s.sessions.paths.WatchGrants(o.Root)
	s.notices = append(s.notices, s.take(o)...)
}

// take has the session work by what was read. It returns what to tell of it that
// was not told before.
func (s *Session) take(o config.Opened) (news []string) {
	for _, p := range o.Problems {
		if text := "Configuration: " + p.String(); !s.told(text) {
			news = append(news, text)
		}
	}
	for _, why := range LSPConfig(o.Config.LSP).Useless() {
		if text := "Configuration: " + why; !s.told(text) {
			news = append(news, text)
		}
	}
	s.conf.Store(o.Config)
	s.trusted.Store(o.Trusted)
	s.settling.ring()
	return append(news, s.lostGrants()...)
}

// lostGrants tells why the grants of the project do not hold, where that was not told
// before.
func (s *Session) lostGrants() (news []string) {
	_, err := s.grants.Rules()
	if err == nil {
		return nil
	}
	text := "The permissions granted in this project do not hold, and all that is not sure to be harmless is asked about: " + err.Error()
	if s.told(text) {
		return nil
	}
	return []string{text}
}

// told reports whether a problem was told before; from now on it was.
func (s *Session) told(text string) bool {
	if s.problems[text] {
		return true
	}
	if s.problems == nil {
		s.problems = map[string]bool{}
	}
	s.problems[text] = true
	return false
}

// cfg is the configuration as it is now; a sub-agent's is that of the session that
// the editor opened. It is not to be changed.
func (s *Session) cfg() *config.Config { return s.top().conf.Load() }

// followTrust takes up that the project is trusted, or asks whether it is to be,
// where it has anything to put into force: what grants or runs something
// (security/policy.md, section 11). Texts alone are not worth a question, so they
// are told of. It reports whether that changed what holds. Its error ends the turn.
func (t *Turn) followTrust(ctx context.Context) (changed bool, err error) {
	s := t.session
	for _, text := range s.lostGrants() {
		s.tell(text)
	}
	for !s.trusted.Load() && s.cfg().Trust != config.TrustNever {
		o := s.opened()
		if o.Trusted {
			t.adopt(ctx, o)
			return true, nil
		}
		texts, servers := s.projectTexts(), s.wantedServers()
		acts := len(o.Pending) > 0 || len(servers) > 0
		switch {
		case s.trustRefused || o.Never || len(o.Config.Unread) > 0 || !acts && len(texts) == 0:
			return false, nil
		case !acts:
			s.tellOnce("This folder is not trusted, so the model does not follow its texts (" + strings.Join(texts, "; ") + "). `acp-agent trust` trusts it.")
			return false, nil
		case s.Mode() == permission.DontAsk:
			s.tellOnce("This folder is not trusted, so of its files only what restricts holds: " + o.Why + ".")
			return false, nil
		}
		if err := t.askTrust(ctx, o, texts, servers); err != nil {
			return false, err
		}
	}
	return false, nil
}

// opened is what holds for the session's folder now.
func (s *Session) opened() config.Opened {
	if s.agreed != nil {
		return s.sessions.paths.OpenAgreed(s.request.Dir, *s.agreed)
	}
	return s.sessions.paths.Open(s.request.Dir)
}

// tellOnce tells once that the project's files wait for trust, where nothing is
// asked.
func (s *Session) tellOnce(text string) {
	if !s.trustTold {
		s.trustTold = true
		s.tell(text)
	}
}

// adopt takes up what a project that is trusted now puts into force. Of the
// settings the variables of commands and the folders stay as they were when the
// session was opened.
func (t *Turn) adopt(ctx context.Context, o config.Opened) {
	s := t.session
	before := s.cfg()
	s.finding.Lock()
	news := s.take(o)
	s.loadAgents()
	s.loadSkills()
	s.finding.Unlock()
	if s.workspace.LSP != nil {
		s.workspace.LSP.Configure(LSPConfig(s.cfg().LSP))
	}
	s.mu.Lock()
	s.system = ""
	mode := s.mode == before.Mode && s.mode != o.Config.Mode
	if mode {
		s.mode = o.Config.Mode
		s.settling.ring()
	}
	s.mu.Unlock()
	s.tell("This project is trusted now: its settings, instructions, skills and agents hold from here on.")
	if string(mustJSON(before.Env)) != string(mustJSON(o.Config.Env)) {
		s.tell("The variables that its settings set (env) are there in sessions that are opened from now on.")
	}
	if !slices.Equal(before.AdditionalDirectories, o.Config.AdditionalDirectories) {
		s.tell("The further folders that they name count as inside in sessions that are opened from now on.")
	}
	for _, text := range news {
		s.tell(text)
	}
	t.update(ctx, CommandsChanged{s.Commands()})
	if mode {
		s.tellMode(ctx)
		return
	}
	t.update(ctx, SettingsChanged{s.Settings()})
}

// trustQuestion is one about a project that stands open in some session.
type trustQuestion struct {
	done    chan struct{} // closed when it is answered, or given up
	refused bool          // set before that
}

// openTrust is the question about a project; asker says that it is the caller's to
// ask, and to give back to closeTrust.
func (m *Sessions) openTrust(root string) (q *trustQuestion, asker bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q := m.trusting[root]; q != nil {
		return q, false
	}
	q = &trustQuestion{done: make(chan struct{})}
	m.trusting[root] = q
	return q, true
}

func (m *Sessions) closeTrust(root string, q *trustQuestion) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.trusting, root)
	close(q.done)
}

// askTrust asks whether the project is to be trusted, or waits for the answer in
// another session. An error ends the turn.
func (t *Turn) askTrust(ctx context.Context, o config.Opened, texts, servers []string) error {
	s := t.session
	q, asker := s.sessions.openTrust(o.Root)
	if !asker {
		t.update(ctx, Notice{"Another session asks whether this folder is trusted; this one waits for the answer."})
		select {
		case <-q.done:
			s.trustRefused = q.refused
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer s.sessions.closeTrust(o.Root, q)
	decision, err := t.putTrust(ctx, o, texts, servers)
	if err != nil {
		return err
	}
	s.trustRefused = decision != AllowedAlways
	switch decision {
	case AllowedAlways:
		if err = s.sessions.paths.Agree(o); err != nil {
			s.agreed = &o
		}
	case RejectedAlways:
		err = s.sessions.paths.Refuse(o.Root)
	}
	if err != nil {
		s.tell(fmt.Sprintf("The answer could not be kept, so it holds in this session only: %v.", err))
	}
	q.refused = s.trustRefused
	return nil
}

// putTrust asks on a card of its own.
func (t *Turn) putTrust(ctx context.Context, o config.Opened, texts, servers []string) (Decision, error) {
	text, whole := trustText(o, texts, servers)
	rec := &callRecord{ID: newCallID(), Tool: trustTool, Name: trustTool, Status: Pending, For: readerEditor,
		Args: string(mustJSON(map[string]string{"folder": o.Root})), Card: trustCard(o), Content: shownText(text)}
	t.trustCard = rec
	t.update(ctx, Call{ID: rec.ID, New: true, Status: Pending, Tool: rec.Tool, Card: &rec.Card, Input: rawInput(rec.Args), Content: rec.Content})
	t.notify("asks for trust in this folder")
	q := Question{CallID: rec.ID, Tool: rec.Tool, Card: rec.Card, Input: rawInput(rec.Args), Content: rec.Content,
		Stands: func() bool { return true }, Options: trustOptions(whole)}
	answer, err := t.session.ends.Asker.Ask(ctx, q)
	said := "Not trusted in this session: of its files only what restricts holds."
	if len(servers) > 0 {
		said = "Not trusted in this session: of its files only what restricts holds, and no language server starts."
	}
	rec.Status = Failed
	switch {
	case err != nil || answer.Decision == Cancelled:
		said = cancelledText
	case answer.Decision == AllowedAlways:
		rec.Status, said = Completed, "Trusted, with what is listed."
	case answer.Decision == RejectedAlways:
		said = "Not trusted, and not asked about again. `acp-agent trust` trusts it after all."
	}
	rec.Content = append(rec.Content, shownText(said)...)
	t.update(context.WithoutCancel(ctx), Call{ID: rec.ID, Status: rec.Status, Card: &rec.Card, Content: rec.Content})
	if err == nil && answer.Decision == Cancelled {
		t.cancel(errCancelledByUser)
		err = errCancelledByUser
	}
	return answer.Decision, err
}

func trustOptions(whole bool) []Option {
	options := []Option{{trustNotNow, "Not now (this session)", Rejected}, {trustNever, "Never trust it", RejectedAlways}}
	if whole {
		options = append([]Option{{trustYes, "Trust this folder", AllowedAlways}}, options...)
	}
	return options
}

// trustCard leads to the files that want something.
func trustCard(o config.Opened) kinds.Card {
	card := kinds.Other("Trust this folder")
	seen := map[string]bool{}
	for _, e := range o.Pending {
		if !seen[e.File] {
			seen[e.File] = true
			card.Locations = append(card.Locations, kinds.Location{Path: e.File, Line: e.Line})
		}
	}
	return card
}

// trustText lists what trusting the project puts into force, whole or not at all.
func trustText(o config.Opened, texts, servers []string) (text string, whole bool) {
	var b strings.Builder
	if o.Known {
		b.WriteString("You trusted this folder before. This is new in it, or changed:\n")
	} else {
		b.WriteString("Files in this folder want more than to be read. Do you trust whoever wrote them?\n")
	}
	b.WriteString(kinds.Fence("", kinds.Escape(o.Root)))
	list := config.Sorted(o.Pending)
	for i := 0; i < len(list); {
		part := list[i].Part
		var lines strings.Builder
		for ; i < len(list) && list[i].Part == part; i++ {
			e := list[i]
			fmt.Fprintf(&lines, "%s   (%s:%d)\n", strings.ReplaceAll(kinds.Escape(e.Text), "\n", "\n    "), kinds.Escape(kinds.Root(o.Root).Name(e.File)), e.Line)
		}
		fmt.Fprintf(&b, "\n\n**%s:**\n%s", part, kinds.Fence("", lines.String()))
	}
	if len(servers) > 0 {
		fmt.Fprintf(&b, "\n\n**Language servers, which are started and may run what the project's files say:**\n%s", kinds.Fence("", kinds.Escape(strings.Join(servers, "\n"))))
	}
	if len(texts) > 0 && !o.Known {
		fmt.Fprintf(&b, "\n\n**Texts that the model follows:**\n%s", kinds.Fence("", strings.Join(texts, "\n")))
	}
	if !o.Known {
		b.WriteString("\n\nThen commands that only read, such as `git status`, run without asking, and the mode that accepts edits holds. A change of what is listed asks again, but not one of the " + unbound(texts, servers) + ".")
	}
	if b.Len() > maxTrustText {
		return "Files in this folder want more than can be shown here. `acp-agent trust` lists it, and trusts the folder.", false
	}
	return b.String(), true
}

// unbound names what of a question of trust may change without being asked about
// again: texts, and which programs serve the languages.
func unbound(texts, servers []string) string {
	switch {
	case len(servers) == 0:
		return "texts"
	case len(texts) == 0:
		return "language servers"
	}
	return "texts or of the language servers"
}

// maxTexts is how many names of one sort a question of trust lists.
const maxTexts = 20

// projectTexts names the project's files that are only read: instructions, skills
// and agents.
func (s *Session) projectTexts() []string {
	root := kinds.Root(s.root)
	var texts []string
	add := func(sort string, paths []string) {
		if len(paths) == 0 {
			return
		}
		names := make([]string, 0, len(paths))
		for _, path := range paths[:min(len(paths), maxTexts)] {
			names = append(names, kinds.Title(root.Name(path))) // in one line
		}
		line := sort + ": " + strings.Join(names, ", ")
		if more := len(paths) - len(names); more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		texts = append(texts, line)
	}
	var instructions, skills, agents []string
	for _, dir := range lineage(s.workspace.Dir()) {
		for _, name := range instructionFiles {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				instructions = append(instructions, filepath.Join(dir, name))
			}
		}
	}
	for _, dir := range s.foldersOf("skills") {
		folders, err := skillFolders(dir)
		if err != nil && len(folders) == 0 {
			continue
		}
		for _, folder := range folders {
			if _, err := os.Stat(filepath.Join(folder, skillFile)); err == nil {
				skills = append(skills, folder)
			}
		}
	}
	for _, dir := range s.foldersOf("agents") {
		agents = append(agents, markdownFiles(dir)...)
	}
	add("Instructions", instructions)
	add("Skills", skills)
	add("Agents", agents)
	return texts
}

// keepTrust stores the question of trust that was asked before the prompt was kept.
func (t *Turn) keepTrust(ctx context.Context) {
	if t.trustCard == nil {
		return
	}
	rec := t.session.newRecorder()
	rec.call(ctx, t.trustCard)
	rec.finish(ctx, readerBoth)
	t.trustCard = nil
}
