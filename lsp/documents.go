package lsp

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// maxOpen is how many documents are open at a server; the one that was used least
// lately is closed first.
const maxOpen = 48

// document is a text that a server has open.
type document struct {
	path    string
	version int32
	text    *text
	since   uint64 // verdicts that came before this version
	at      time.Time
	opened  bool // it was opened with this version
}

// documents are those open at a server, least lately used first. Their lock is a
// channel, so that who waits for it can give up: it is held while a message goes
// out, which keeps versions in order and takes long where a server does not read.
type documents struct {
	lock chan struct{}
	open []*document
}

func (d *documents) init() { d.lock = make(chan struct{}, 1) }

func (d *documents) hold(ctx context.Context) error {
	select {
	case d.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *documents) free() { <-d.lock }

// find is the document of a path; nil: it is not open. The lock is held.
func (d *documents) find(path string) *document {
	i := slices.IndexFunc(d.open, func(o *document) bool { return o.path == path })
	if i < 0 {
		return nil
	}
	doc := d.open[i]
	d.open = append(slices.Delete(d.open, i, i+1), doc)
	return doc
}

// synced is a document as the server has it now. It does not change any more.
type synced struct {
	path    string
	version int32
	text    *text
	since   uint64
	at      time.Time // when it became so
	opened  bool      // it was opened so
	changed bool      // this call made it so
	unsaved bool      // the file on the disk has another text
}

// sync lets the server have the text of a file: it opens the document, or tells
// what changed. saved says that the file on the disk has that text too.
func (r *run) sync(ctx context.Context, path, body string, saved bool) (synced, error) {
	if err := r.documents.hold(ctx); err != nil {
		return synced{}, err
	}
	defer r.documents.free()
	doc := r.documents.find(path)
	if doc != nil && doc.text.body == body {
		return doc.synced(false), nil
	}
	var err error
	if doc == nil {
		if doc, err = r.open(ctx, path, body); !saved {
			r.arrived(path) // it may be in the editor alone
		}
	} else if err = r.change(ctx, doc, body); err == nil && saved {
		err = r.save(ctx, doc)
	}
	if err != nil {
		return synced{}, err
	}
	return doc.synced(true), nil
}

func (doc *document) synced(changed bool) synced {
	return synced{doc.path, doc.version, doc.text, doc.since, doc.at, doc.opened, changed, false}
}

// next is the next version of a document.
func (r *run) next(path, body string) *document {
	doc := &document{path: path, text: newText(body), at: time.Now()}
	doc.version, doc.since = r.verdicts.begin(path)
	return doc
}

// open opens a document, and closes another where too many are open.
func (r *run) open(ctx context.Context, path, body string) (*document, error) {
	d := &r.documents
	if len(d.open) >= maxOpen {
		if err := r.close(ctx, d.open[0]); err != nil {
			return nil, err
		}
	}
	id, _ := r.server.spec.language(path)
	doc := r.next(path, body)
	doc.opened = true
	defer r.told.Add(1)
	err := r.conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": fileURI(path), "languageId": id, "version": doc.version, "text": body,
	}})
	if err != nil {
		return nil, err
	}
	d.open = append(d.open, doc)
	return doc, nil
}

// change tells a document's new text, all of it.
func (r *run) change(ctx context.Context, doc *document, body string) error {
	next := r.next(doc.path, body)
	defer r.told.Add(1)
	var err error
	if r.caps.Sync.Change == 0 { // it listens to nothing but opening
		if err = r.conn.Notify(ctx, "textDocument/didClose", documentParams{identifier{fileURI(doc.path)}}); err == nil {
			id, _ := r.server.spec.language(doc.path)
			err = r.conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
				"uri": fileURI(doc.path), "languageId": id, "version": next.version, "text": body,
			}})
		}
	} else {
		err = r.conn.Notify(ctx, "textDocument/didChange", didChangeParams{
			TextDocument:   versioned{fileURI(doc.path), next.version},
			ContentChanges: []contentChange{{body}},
			Anew:           doc.text.body == body,
		})
	}
	if err != nil {
		return err
	}
	*doc = *next
	return nil
}

// repeat tells a document's text once more. It fails where the document is another by
// now.
func (r *run) repeat(ctx context.Context, was synced) (synced, error) {
	if err := r.documents.hold(ctx); err != nil {
		return synced{}, err
	}
	defer r.documents.free()
	doc := r.documents.find(was.path)
	if doc == nil || doc.version != was.version {
		return synced{}, fmt.Errorf("%s changed meanwhile", was.path)
	}
	if err := r.change(ctx, doc, doc.text.body); err != nil {
		return synced{}, err
	}
	return doc.synced(true), nil
}

// save tells that a document's text is what the file has.
func (r *run) save(ctx context.Context, doc *document) error {
	if !r.caps.Sync.Save {
		return nil
	}
	params := map[string]any{"textDocument": identifier{fileURI(doc.path)}}
	if r.caps.Sync.SaveText {
		params["text"] = doc.text.body
	}
	return r.conn.Notify(ctx, "textDocument/didSave", params)
}

// close closes a document. The lock is held.
func (r *run) close(ctx context.Context, doc *document) error {
	defer r.told.Add(1)
	if err := r.conn.Notify(ctx, "textDocument/didClose", documentParams{identifier{fileURI(doc.path)}}); err != nil {
		return err
	}
	d := &r.documents
	d.open = slices.DeleteFunc(d.open, func(o *document) bool { return o == doc })
	r.verdicts.closed(doc.path)
	return nil
}

// forget closes the document of a file that is no more.
func (r *run) forget(ctx context.Context, path string) error {
	if err := r.documents.hold(ctx); err != nil {
		return err
	}
	defer r.documents.free()
	if doc := r.documents.find(path); doc != nil {
		return r.close(ctx, doc)
	}
	return nil
}

// opened are the paths of the open documents, most lately used first.
func (r *run) opened(ctx context.Context) ([]string, error) {
	if err := r.documents.hold(ctx); err != nil {
		return nil, err
	}
	defer r.documents.free()
	var paths []string
	for _, doc := range slices.Backward(r.documents.open) {
		paths = append(paths, doc.path)
	}
	return paths, nil
}
