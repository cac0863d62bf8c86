package store

import "testing"

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		stat, started string
		ok            bool
	}{
		{"42 (a) b ) c) S 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n", "987654", true},
		{"42 (x) Z 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n", "", false},
		{"42 (x) S 1", "", true}, // unreadable: it is there, though
		{"", "", true},
		{")", "", true},
	} {
		if started, ok := parseStat([]byte(c.stat)); started != c.started || ok != c.ok {
			t.Errorf("%q: %q %v", c.stat, started, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (a) b) S 1 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3"))
	f.Add([]byte("42 (a) "))
	f.Fuzz(func(t *testing.T, stat []byte) { parseStat(stat) })
}
