package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Event is what happened to a file outside of the open documents.
type Event int

// The events, as the protocol numbers them.
const (
	Created Event = 1 + iota
	Changed
	Deleted
)

// Happened is an event of one file.
type Happened struct {
	Path  string // absolute
	Event Event
}

// watch is what a server wants to be told of.
type watch struct {
	watchers []watcher
}

// watcher is a pattern and the events that count.
type watcher struct {
	base    string // absolute; empty: the pattern is of whole paths, or of any folder
	pattern string
	kinds   int
}

// newWatch reads the options of a registration.
func newWatch(options json.RawMessage) (watch, error) {
	var o struct {
		Watchers []struct {
			Pattern json.RawMessage `json:"globPattern"`
			Kind    *int            `json:"kind"`
		} `json:"watchers"`
	}
	if err := json.Unmarshal(options, &o); err != nil {
		return watch{}, err
	}
	var w watch
	for _, from := range o.Watchers {
		to := watcher{kinds: 1 | 2 | 4}
		if from.Kind != nil {
			to.kinds = *from.Kind
		}
		if json.Unmarshal(from.Pattern, &to.pattern) != nil {
			var relative struct {
				Base    json.RawMessage `json:"baseUri"`
				Pattern string          `json:"pattern"`
			}
			if json.Unmarshal(from.Pattern, &relative) != nil {
				continue
			}
			var base string
			if json.Unmarshal(relative.Base, &base) != nil { // a WorkspaceFolder
				var folder struct {
					URI string `json:"uri"`
				}
				_ = json.Unmarshal(relative.Base, &folder)
				base = folder.URI
			}
			path, err := filePath(base)
			if err != nil {
				continue
			}
			to.base, to.pattern = path, relative.Pattern
		}
		if to.pattern = filepath.ToSlash(to.pattern); doublestar.ValidatePattern(to.pattern) {
			w.watchers = append(w.watchers, to)
		}
	}
	return w, nil
}

// wants reports whether the server is to be told of what happened.
func (w watch) wants(root string, h Happened) bool {
	for _, one := range w.watchers {
		if one.kinds&(1<<(h.Event-1)) != 0 && one.matches(root, h.Path) {
			return true
		}
	}
	return false
}

func (w watcher) matches(root, path string) bool {
	base := w.base
	if base == "" {
		if strings.HasPrefix(w.pattern, "/") || len(w.pattern) > 1 && w.pattern[1] == ':' {
			matched, _ := doublestar.Match(w.pattern, filepath.ToSlash(path))
			return matched
		}
		base = root
	}
	rel, err := filepath.Rel(base, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	matched, _ := doublestar.Match(w.pattern, filepath.ToSlash(rel))
	return matched
}

// hears reports whether the server is to be told of what happened. One that registered
// nothing is told of the files of its languages, and so is every one of those beyond its
// root: what it asks to hear of is what is below, and of a module beside it that it uses
// it would keep what that was. Of its projects' settings it is told unasked, since it asks
// to hear of those that others extend only some time after it has read them; but not one
// of which it is awaited that it takes them in. It is called with the client's lock.
func (r *run) hears(h Happened) bool {
	if r.server.spec.Announces == "" && r.server.configured(h.Path) {
		return true
	}
	if len(r.client.watched) == 0 || !within(r.server.root, h.Path) {
		if _, own := r.server.spec.language(h.Path); own {
			return true
		}
	}
	for _, w := range r.client.watched {
		if w.wants(r.server.root, h) {
			return true
		}
	}
	return false
}

// maxEvents is how many events go into one notification.
const maxEvents = 1000

// tell tells the server of those events that it wants.
func (r *run) tell(ctx context.Context, happened []Happened) error {
	type change struct {
		URI  string `json:"uri"`
		Type Event  `json:"type"`
	}
	var changes []change
	configured := false
	r.client.mu.Lock()
	for _, h := range happened {
		if r.server.renews(h) {
			r.obsolete.Store(true)
		}
		if r.hears(h) {
			changes = append(changes, change{fileURI(h.Path), h.Event})
			configured = configured || r.server.reads(h.Path)
		}
	}
	r.client.mu.Unlock()
	if len(changes) > 0 {
		defer r.told.Add(1)
		r.verdicts.disturbed()
	}
	if configured {
		r.verdicts.configured()
	}
	for len(changes) > 0 {
		n := min(len(changes), maxEvents)
		if err := r.conn.Notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": changes[:n]}); err != nil {
			return err
		}
		changes = changes[n:]
	}
	for _, h := range happened {
		if h.Event == Created {
			r.arrived(h.Path)
		}
	}
	return nil
}
