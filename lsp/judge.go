package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// judge brings the server's verdict on the document up to date. The error is why it
// is not there, which is never to be taken for "no problems".
func (s session) judge(ctx context.Context) error {
	if err := s.bring(ctx); err != nil {
		return err
	}
	return s.client.unableToJudge(s.doc.path)
}

// bring has what the server says of the document brought up to date.
func (s session) bring(ctx context.Context) error {
	var err error
	switch {
	case s.judgesAll():
		err = s.judgeAll(ctx, s.doc.path)
	case s.passesOn():
		err = s.answer(ctx, s.doc, s.askTSServer)
	case s.client.pulls():
		err = s.answer(ctx, s.doc, s.pull)
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && refusal.Code != jsonrpc.CodeMethodNotFound {
			return err // it has not judged, and says why
		}
	default:
		err = &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}
	}
	if _, refused := errors.AsType[*jsonrpc.Error](err); !refused {
		return err
	}
	pulled := s.client.pulls()
	switch {
	case s.await(ctx, s.doc):
		return nil
	case !pulled && s.client.pulls() && ctx.Err() == nil:
		return s.bring(ctx)
	}
	return errUnjudged
}

// errUnjudged says that no verdict came in time.
var errUnjudged = errors.New("has not judged it")

// judgesAll reports whether the server tells when it has judged the whole project.
func (r *run) judgesAll() bool { return r.caps.executes(r.server.spec.JudgeAll) }

// judgeAll waits until the server has judged the project of a file with all that it
// was told so far. It is given up when nobody waits: gopls answers nothing else until
// the command has ended, and judges by itself, too.
func (r *run) judgeAll(ctx context.Context, path string) error {
	told := r.told.Load()
	if r.judged.Load() > told {
		return nil
	}
	if err := r.loadArrivals(ctx); err != nil {
		return err
	}
	return r.join(ctx, question{version: told, ask: func(ctx context.Context) error {
		err := r.conn.Call(ctx, "workspace/executeCommand", map[string]any{
			"command":   r.server.spec.JudgeAll,
			"arguments": []any{map[string]any{"Files": []string{fileURI(r.sourceNear(path))}}},
		}, nil)
		switch {
		case err == nil:
			r.judged.Store(told + 1)
		case errors.Is(err, jsonrpc.ErrClosed):
			return r.lost()
		}
		return err
	}})
}

// asks reports whether the server is asked for its verdicts.
func (r *run) asks() bool { return !r.judgesAll() && (r.passesOn() || r.client.pulls()) }

// answer brings what the server answers about a document up to date.
func (r *run) answer(ctx context.Context, doc synced, ask func(context.Context, synced) error) error {
	if err := r.verdicts.reload(ctx); err != nil {
		if r.verdicts.unreloaded() {
			r.obsolete.Store(true) // it never will
		}
		return err
	}
	for !r.fresh(doc) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.join(ctx, question{
			about: doc.path, version: uint64(doc.version), kept: true, //nolint:gosec // versions count up
			ask: func(ctx context.Context) error { return ask(ctx, doc) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fresh reports whether an answer about the document needs no other question.
func (r *run) fresh(doc synced) bool {
	told := r.told.Load()
	within := r.client.withinFile()
	v := &r.verdicts
	v.mu.Lock()
	defer v.mu.Unlock()
	f := v.files[doc.path]
	return f != nil && f.asked.version == int64(doc.version) && f.asked.seq > v.stale && (within || f.asked.told == told)
}

// pull asks for the verdict on a document, and keeps it and what comes along on
// others.
func (r *run) pull(ctx context.Context, doc synced) error {
	told := r.told.Load()
	was := r.verdicts.of(doc.path).asked
	report, err := r.report(ctx, doc.path, was.id)
	if err == nil && report.Kind == "unchanged" && was.id == "" {
		err = fmt.Errorf("%s answered that nothing changed, but had answered nothing before", r.server.spec.Name)
	}
	if err != nil {
		return err
	}
	r.verdicts.answered(doc.path, report.said(int64(doc.version), told, was))
	for uri, other := range report.RelatedDocuments {
		path, err := filePath(uri)
		if err != nil || path == doc.path {
			continue
		}
		was := r.verdicts.of(path).asked
		if other.Kind != "unchanged" || was.seq > 0 {
			r.verdicts.answered(path, other.said(r.verdicts.version(path), told, was))
		}
	}
	return nil
}

// retryCancelled is how long a server that cancelled a pull is left alone.
const retryCancelled = 100 * time.Millisecond

// report pulls, again as long as the server says that it is to be asked again.
func (r *run) report(ctx context.Context, path, id string) (pullReport, error) {
	params := map[string]any{"textDocument": identifier{fileURI(path)}}
	if id != "" {
		params["previousResultId"] = id
	}
	for {
		var report pullReport
		err := r.ask(ctx, "textDocument/diagnostic", params, &report)
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && retriggers(refusal) && sleep(ctx, retryCancelled) == nil {
			continue
		}
		return report, err
	}
}

// retriggers reports whether a server cancelled a request that is to be sent again.
func retriggers(e *jsonrpc.Error) bool {
	if e.Code != codeServerCancelled {
		return false
	}
	var data struct {
		Again *bool `json:"retriggerRequest"`
	}
	raw, _ := e.Data.(json.RawMessage)
	_ = json.Unmarshal(raw, &data) // nothing told: it is to be sent again
	return data.Again == nil || *data.Again
}

// said is what a report says; was is what the server answered before.
func (p *pullReport) said(version int64, told uint64, was said) said {
	next := said{version: version, items: p.Items, told: told, id: p.ResultID}
	if p.Kind == "unchanged" {
		next.items, next.more = was.items, was.more
		if next.id == "" {
			next.id = was.id
		}
	}
	return next
}

// passesOn reports whether the compiler behind the server can be asked.
func (r *run) passesOn() bool { return r.caps.executes(r.server.spec.TSServer) }

// tsDiagnostic is a diagnostic as the compiler's server spells it; lines and columns
// count from 1, columns in UTF-16 units.
type tsDiagnostic struct {
	Start, End struct{ Line, Offset int }
	Text       string
	Code       int
	Category   string
	Source     string
}

// askTSServer asks the compiler behind the server for all that it says of a document.
func (r *run) askTSServer(ctx context.Context, doc synced) error {
	next := said{version: int64(doc.version), told: r.told.Load(), items: []wireDiagnostic{}}
	for _, kind := range [...]string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"} {
		var answer struct {
			Type string         `json:"type"`
			Body []tsDiagnostic `json:"body"`
		}
		err := r.ask(ctx, "workspace/executeCommand", command{
			Command:   r.server.spec.TSServer,
			Arguments: mustRaw([]any{kind, map[string]any{"file": fileURI(doc.path)}}),
		}, &answer)
		if err != nil {
			return err
		}
		if answer.Type != "response" {
			return fmt.Errorf("the compiler of %s is not there: %s", r.server.spec.Name, cut(answer.Type, 100))
		}
		for _, d := range answer.Body {
			next.items = append(next.items, d.diagnostic())
		}
	}
	next.exclusive = true
	r.verdicts.answered(doc.path, next)
	return nil
}

// diagnostic is the compiler's diagnostic as the server itself would push it.
func (d tsDiagnostic) diagnostic() wireDiagnostic {
	severity, source := Error, d.Source
	switch d.Category {
	case "warning":
		severity = Warning
	case "suggestion":
		severity = Hint
	}
	if source == "" {
		source = "typescript"
	}
	at := func(line, offset int) Position {
		return Position{Line: uint32(max(line-1, 0)), Character: uint32(max(offset-1, 0))} //nolint:gosec // a file has fewer
	}
	var out wireDiagnostic
	_ = json.Unmarshal(mustRaw(map[string]any{ // of nothing that can fail
		"range":    Range{Start: at(d.Start.Line, d.Start.Offset), End: at(d.End.Line, d.End.Offset)},
		"severity": severity, "code": d.Code, "source": source, "message": d.Text,
	}), &out)
	return out
}

// mustRaw is a value of ours as JSON.
func mustRaw(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
