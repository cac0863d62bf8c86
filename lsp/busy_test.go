package lsp

import "testing"

// TestBusy: what a server says that it is at reads as part of a sentence.
func TestBusy(t *testing.T) {
	for _, tt := range []struct{ title, message, want string }{
		{"Setting up workspace", "Loading packages...", "; it is busy: Setting up workspace: Loading packages"},
		{"Indexing…", "", "; it is busy: Indexing"},
		{"", "3/4 files", "; it is busy: 3/4 files"},
		{"Checking:", "cargo check", "; it is busy: Checking: cargo check"},
		{"", "", "; it is busy: something that it does not name"},
		{"...", "", "; it is busy: something that it does not name"},
	} {
		c := &client{progress: map[string]progress{"1": {title: tt.title, message: tt.message, percent: -1}}}
		if got := c.busy(); got != tt.want {
			t.Errorf("%q and %q: %q, want %q", tt.title, tt.message, got, tt.want)
		}
	}
}
