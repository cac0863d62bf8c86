package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/acp-agent/acp-agent/kinds"
	"github.com/acp-agent/acp-agent/tools/workspace"
)

// numbered are the lines "1" to n.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

func TestApplyPatch(t *testing.T) {
	for _, c := range []struct {
		name, file, patch string // file "<none>": there is none
		want, says        string
	}{
		{"plain", "a\nb\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", "changed f (1 hunk, first changed line 2)"},
		{"with prefixes and dates", "a\nb\n", "--- a/f\t2024-01-01 10:00:00 +0100\n+++ b/f\t2024-01-02\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\n", "changed f"},
		{"of git", "a\n", "diff --git a/f b/f\nindex 1234567..89abcde 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n", "A\n", "changed f"},
		{"in a mail", "a\n", "From 1234 Mon Sep 17\nSubject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n-- \n2.39.5\n\n", "A\n", "changed f"},
		{"in a fence", "a\n", "```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n```\n", "A\n", "changed f"},
		{"without its last line end", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A", "A\n", "changed f"},
		{"with an offset", numbered(20), "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n 9\n-10\n+ten\n 11\n", strings.Replace(numbered(20), "10\n", "ten\n", 1), "hunk 1 landed at line 9, 4 lines below where it says"},
		{"with an offset above", numbered(20), "--- a/f\n+++ b/f\n@@ -15,3 +15,3 @@\n 13\n-14\n+x\n 15\n", strings.Replace(numbered(20), "14\n", "x\n", 1), "hunk 1 landed at line 13, 2 lines above where it says"},
		{"at the nearest of several places", "1\n2\n3\n4\n1\n2\n3\n", "--- a/f\n+++ b/f\n@@ -20,3 +20,3 @@\n 1\n-2\n+x\n 3\n", "1\n2\n3\n4\n1\nx\n3\n", "landed at line 5, 15 lines above where it says (the nearest of 2 places"},
		{"at the lower of two places as near", "0\n1\n2\n3\n4\n1\n2\n3\n", "--- a/f\n+++ b/f\n@@ -4,3 +4,3 @@\n 1\n-2\n+x\n 3\n", "0\n1\n2\n3\n4\n1\nx\n3\n", "landed at line 6"},
		{"that no longer begins the file", "new\na\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "new\nA\nb\n", "1 line below"},
		{"without context at its end", "a\nb\nc\nd\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n b\n+x\n", "a\nb\nx\nc\nd\n", "first changed line 3"},
		{"with wrong counts", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,9 +1,2 @@\n a\n-b\n+B\n+B2\n c\n", "a\nB\nB2\nc\n", "changed f"},
		{"with counts too small", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n", "changed f"},
		{"without numbers", "a\nb\nc\n", "--- a/f\n+++ b/f\n@@ ... @@\n a\n-b\n+B\n", "a\nB\nc\n", "changed f"},
		{"with a line that lost its space", "a\n\nb\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n", "changed f"},
		{"of lines that look like heads", "-- x\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n+++ y\n b\n", "++ y\nb\n", "changed f"},
		{"of two hunks", numbered(20), "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n 1\n 2\n+2b\n 3\n@@ -17,3 +18,2 @@\n 17\n-18\n 19\n", strings.NewReplacer("2\n3\n", "2\n2b\n3\n", "18\n", "").Replace(numbered(20)), "2 hunks, first changed line 3)"},
		{"of hunks that share context", "a\nb\nc\nd\ne\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n", "a\nB\nc\nD\ne\n", "changed f"},
		{"in two parts", "a\nb\nc\nd\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n c\n-d\n+D\n", "A\nb\nc\nD\n", "2 hunks"},
		{"without context", numbered(9), "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-3\n+three\n@@ -5,0 +6 @@\n+5b\n", strings.NewReplacer("3\n", "three\n", "5\n", "5\n5b\n").Replace(numbered(9)), "changed f"},
		{"that begins the file anew", "a\n", "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+x\n", "x\na\n", "changed f"},
		{"of a last line without end", "a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n", "a\nB", "changed f"},
		{"that ends the last line", "a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", "changed f"},
		{"that takes the last end off", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb", "changed f"},
		{"that does not know of a missing end", "a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB", "changed f"},
		{"that adds behind a missing end", "a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc", "changed f"},
		{"without context behind a missing end", "a\nb", "--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+c\n", "a\nb\nc", "changed f"},
		{"of a CRLF file by LF", "a\r\nb\r\nc\r\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n", "a\r\nB\r\nB2\r\nc\r\n", "changed f"},
		{"of a CRLF file as git has it", "a\r\nb\r\nc\r\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\r\n-b\r\n+B\r\n c\r\n", "a\r\nB\r\nc\r\n", "changed f"},
		{"that makes CRLF of LF", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\r\n", "a\nb\r\n", "changed f"},
		{"that makes LF of CRLF", "a\r\nb\r\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n", "a\r\nb\n", "changed f"},
		{"of an LF file by CRLF", "a\nb\n", "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n", "changed f"},
		{"of mixed line ends", "a\r\nb\nc\r\nd\n", "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n", "a\r\nB\nc\r\nd\n", "changed f"},
		{"of a file with a BOM", "\ufeffa\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "\ufeffA\nb\n", "changed f"},
		{"with the BOM", "\ufeffa\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\ufeffa\n+\ufeffA\n b\n", "\ufeffA\nb\n", "changed f"},
		{"that takes the BOM off", "\ufeffa\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\ufeffa\n+a\n b\n", "a\nb\n", "changed f"},
		{"of UTF-16", "\xff\xfea\x00\r\x00\n\x00b\x00", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+ä\n", "\xff\xfea\x00\r\x00\n\x00\xe4\x00", "changed f"},
		{"of an 8-bit file", "caf\xe9\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n café\n-b\n+thé\n", "caf\xe9\nth\xe9\n", "changed f"},
		{"of a new file", "<none>", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n", "created f (4 bytes)"},
		{"of a new file with the first of all dates", "<none>", "--- f\t1970-01-01 01:00:00.000000000 +0100\n+++ f\t2024-01-01\n@@ -0,0 +1 @@\n+a\n", "a\n", "created f"},
		{"of a new file that is not called so", "<none>", "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", "a\n", "created f"},
		{"of a new file with CRLF", "<none>", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\r\n", "a\r\n", "created f"},
		{"of a new file, all of it CRLF", "<none>", "--- /dev/null\r\n+++ b/f\r\n@@ -0,0 +1 @@\r\n+a\r\n", "a\n", "created f"},
		{"with a prefix on one side", "a\n", "--- a/f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "b\n", "changed f"},
		{"with the same prefix on both sides", "a\n", "--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n", "b\n", "changed f"},
		{"of two folders", "a\n", "--- v1.0/f\n+++ v1.1/f\n@@ -1 +1 @@\n-a\n+b\n", "b\n", "changed f"},
		{"against a copy", "a\n", "--- f.orig\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "b\n", "changed f"},
		{"with dates behind blanks", "a\n", "--- f 2024-01-01 10:00:00.000000000 +0100\n+++ f 2024-01-01 10:00:00\n@@ -1 +1 @@\n-a\n+b\n", "b\n", "changed f"},
		{"of a new file, from a/dev/null", "<none>", "--- a/dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", "a\n", "created f"},
		{"that deletes and creates", "a\nb\n", "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\ndiff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+c\n", "c\n", "changed f"},
		{"that deletes, creates and changes", "a\n", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+c\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-c\n+d\n", "d\n", "changed f"},
		{"of a new empty file", "<none>", "diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n", "", "created f (0 bytes)"},
		{"of an empty file", "", "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n", "a\n", "changed f"},
		{"that deletes", "a\nb\n", "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", "<none>", "deleted f"},
		{"that deletes a CRLF file", "a\r\nb", "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", "<none>", "deleted f"},
		{"that deletes an empty file", "", "diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n", "<none>", "deleted f"},
		{"that empties", "a\n", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n", "", "changed f"},
		{"in sections", "a\nb\nc\n", "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n*** End Patch", "a\nB\nc\n", "changed f"},
		{"in sections, without @@", "a\nb\nc\n", "*** Begin Patch\n*** Update File: f\n a\n-b\n+B\n*** End Patch\n", "a\nB\nc\n", "changed f"},
		{"in sections, below a line", "f1\n x\nf2\n x\nf3\n x\n", "*** Begin Patch\n*** Update File: f\n@@ f2\n- x\n+ y\n*** End Patch\n", "f1\n x\nf2\n y\nf3\n x\n", "first changed line 4"},
		{"in sections, at the end", "x\nx\n", "*** Begin Patch\n*** Update File: f\n@@\n-x\n+y\n*** End of File\n*** End Patch\n", "x\ny\n", "changed f"},
		{"in sections, one hunk after the other", "x\ny\nx\nz\n", "*** Begin Patch\n*** Update File: f\n@@\n x\n-y\n+Y\n@@\n-x\n+X\n*** End Patch\n", "x\nY\nX\nz\n", "2 hunks"},
		{"in sections, a new file", "<none>", "*** Begin Patch\n*** Add File: f\n+a\n+\n*** End Patch\n", "a\n\n", "created f"},
		{"in sections, deleted", "anything\n", "*** Begin Patch\n*** Delete File: f\n*** End Patch\n", "<none>", "deleted f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := diskWorkspace(t, nil)
			if c.file != "<none>" {
				put(t, ws, "f", c.file)
			}
			r, err := call(t, ws, ApplyPatch(), args{"patch": c.patch})
			if err != nil {
				t.Fatal(err)
			}
			if got := onDisk(t, ws, "f"); got != c.want || !strings.Contains(r.Text, c.says) {
				t.Errorf("got %q, want %q\n%s", got, c.want, r.Text)
			}
			if c.want != "<none>" && ws.Seen.Stale(at(ws, "f"), []byte(c.want)) {
				t.Error("its own change makes the file stale")
			}
		})
	}
}

const twoFiles = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n"

func TestApplyPatchFails(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{
		"a.txt": "a\n", "b.txt": "x\nb\nc\n", "twice.txt": numbered(3) + "-\n" + numbered(3), "x.bin": "\x00", "d/x": "x\n", "bom.txt": "\xff\xfea\x00",
	})
	for _, c := range []struct {
		name, patch string
		content     bool
		want        []string
	}{
		{"no patch", "hello", false, []string{"names no file"}},
		{"no head", "@@ -1 +1 @@\n-a\n+b\n", false, []string{"line 1 of the patch", "belongs to no file"}},
		{"half a head", "--- a/a.txt\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"line 1 of the patch", "+++ b/NAME"}},
		{"no hunk", "--- a/a.txt\n+++ b/a.txt\n", false, []string{"line 1", "no hunk follows"}},
		{"an empty hunk", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n", false, []string{"line 3", "has no lines"}},
		{"nothing to change", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n a\n", false, []string{"changes nothing"}},
		{"two names", "--- a/a.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"two files", "rename from"}},
		{"no file", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"no file is named"}},
		{"a missing file", "--- a/aa.txt\n+++ b/aa.txt\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"aa.txt does not exist; did you mean a.txt"}},
		{"a new file that exists", "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+b\n", false, []string{"a.txt exists already"}},
		{"a rename onto a file", "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n", false, []string{"b.txt exists already"}},
		{"half a rename", "diff --git a/a.txt b/b.txt\nrename from a.txt\n", false, []string{"come together"}},
		{"other lines", "--- a/b.txt\n+++ b/b.txt\n@@ -1,3 +1,3 @@\n x\n-bee\n+B\n c\n", true, []string{"hunk 1 of b.txt (line 3 of the patch, @@ -1,3 +1,3 @@)", "expects at line 2\n      \tbee\n", "     2\tb\n", "Nothing was changed"}},
		{"lines behind the end", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", true, []string{"at line 2\n      \tb\n", "the file ends after line 1"}},
		{"what is done already", "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n", true, []string{"has the new lines already"}},
		{"several places, without numbers", "*** Begin Patch\n*** Update File: twice.txt\n 1\n-2\n+x\n*** End Patch", true, []string{"several places, at lines 1, 5"}},
		{"an end that is not missing", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+A\n", true, []string{"a  [no newline at the end of the file]"}},
		{"a line after the last", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+A\n", false, []string{"a line follows"}},
		{"a new file with old lines", "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n a\n+b\n", false, []string{"creates n.txt", "begins with a +"}},
		{"half a deletion", "--- a/b.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-b\n", true, []string{"deletes b.txt, but does not remove all"}},
		{"an untold deletion", "diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n", true, []string{"deletes b.txt, but", "*** Delete File: b.txt"}},
		{"a binary file", "--- a/x.bin\n+++ b/x.bin\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"x.bin is a binary file"}},
		{"a binary patch", "diff --git a/x.bin b/x.bin\nindex 1..2 100644\nGIT binary patch\nliteral 1\n", false, []string{"line 3", "binary"}},
		{"a link", "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a\n", false, []string{"symbolic link"}},
		{"a submodule", "diff --git a/l b/l\nindex 1..2 160000\n", false, []string{"submodule"}},
		{"a mode that is none", "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode rwx\n", false, []string{"no mode"}},
		{"a merge", "--- a/a.txt\n+++ b/a.txt\n@@@ -1 -1 +1 @@@\n- a\n++b\n", false, []string{"combined diff"}},
		{"a context diff", "*** a.txt\t1\n--- a.txt\t2\n***************\n*** 1 ****\n! a\n", false, []string{"context diff"}},
		{"a folder", "--- a/d\n+++ b/d\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"is a folder"}},
		{"a file done twice", "diff --git a/a.txt b/n.txt\nrename from a.txt\nrename to n.txt\ndiff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"several things to a.txt"}},
		{"a NUL", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+\x00\n", false, []string{"a.txt", "cannot stand"}},
		{"what an encoding lacks the mark for", "--- a/bom.txt\n+++ b/bom.txt\n@@ -1 +1 @@\n-\ufeffa\n+a\n", false, []string{"byte order mark"}},
		{"the second file", twoFiles + "--- a/twice.txt\n+++ b/twice.txt\n@@ -1 +1 @@\n-nothing\n+b\n", true, []string{"hunk 1 of twice.txt"}},
		{"sections of another form", "*** Begin Patch\n*** Change File: a.txt\n+a\n*** End Patch\n", false, []string{"line 2", "*** Add File:"}},
		{"a new file without +", "*** Begin Patch\n*** Add File: n.txt\na\n*** End Patch\n", false, []string{"line 3", "begins with a +"}},
		{"an insertion nowhere", "*** Begin Patch\n*** Update File: a.txt\n@@\n+a\n*** End Patch\n", true, []string{"only lines to add"}},
		{"an insertion behind the end", "--- a/a.txt\n+++ b/a.txt\n@@ -7,0 +8 @@\n+a\n", true, []string{"has only 1 line"}},
		{"a quote that does not end", "--- \"a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"line 1", "quoted name"}},
		{"a name with a NUL", "--- \"a/a\\000\"\n+++ \"b/a\\000\"\n@@ -1 +1 @@\n-a\n+b\n", false, []string{"NUL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := names(t, ws)
			_, err := prepared(t, ws, ApplyPatch(), args{"patch": c.patch})
			wants(t, err, c.want...)
			var shows *ContentError
			if errors.As(err, &shows) != c.content {
				t.Errorf("a content error: %v", !c.content)
			}
			if shows != nil && (shows.Path.Access != kinds.Read || !strings.Contains(shows.Safe, "may not be read")) {
				t.Errorf("%+v", shows)
			}
			if got := names(t, ws); got != before {
				t.Errorf("it left %s of %s", got, before)
			}
		})
	}
}

// names lists all files with what they hold.
// TestApplyPatchOfANameThatEndsInABlank: a tab says that the blank is the name's.
func TestApplyPatchOfANameThatEndsInABlank(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"f ": "a\n"})
	must(t, ws, ApplyPatch(), args{"patch": "--- a/f \t\n+++ b/f \t\n@@ -1 +1 @@\n-a\n+b\n"})
	if got := onDisk(t, ws, "f "); got != "b\n" {
		t.Errorf("%q", got)
	}
}

func names(t *testing.T, ws *Workspace) string {
	t.Helper()
	var all []string
	for name, f := range readTree(t, ws.Dir()) {
		all = append(all, fmt.Sprintf("%s=%q", name, f.text))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestApplyPatchCard(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.bin": "\x00", "run.sh": "x\n", "old.txt": "o\n"})
	show := func(patch string) *Action {
		t.Helper()
		a, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := show(twoFiles)
	if a.Title != "Patch a.txt, b.txt" || a.Kind != kinds.KindEdit || a.Text != "" || len(a.Locations) != 2 || a.Locations[1] != (kinds.Location{Path: at(ws, "b.txt"), Line: 1}) {
		t.Errorf("%+v", a.Card)
	}
	if len(a.Changes) != 2 || a.Changes[1].Path != at(ws, "b.txt") || *a.Changes[1].Old != "b\n" || a.Changes[1].New != "B\n" {
		t.Errorf("%+v", a.Changes)
	}
	if a.ReadOnly || a.Concurrent || len(a.Paths) != 2 || a.Paths[0] != (kinds.PathAccess{Access: kinds.Write, Path: at(ws, "a.txt"), Target: at(ws, "a.txt")}) {
		t.Errorf("%+v", a.Facts)
	}

	a = show("*** Begin Patch\n*** Delete File: a.txt\n*** Delete File: c.bin\n*** End Patch")
	if a.Title != "Delete a.txt, c.bin" || a.Kind != kinds.KindDelete || len(a.Changes) != 1 || *a.Changes[0].Old != "a\n" || a.Changes[0].New != "" ||
		!strings.Contains(a.Text, "delete c.bin") || len(a.Paths) != 2 {
		t.Errorf("%+v %+v", a.Card, a.Facts)
	}

	a = show("diff --git a/c.bin b/sub/d.bin\nsimilarity index 100%\nrename from c.bin\nrename to sub/d.bin\n")
	if a.Title != "Move c.bin to sub/d.bin" || a.Kind != kinds.KindMove || len(a.Changes) != 0 || a.Locations[0].Path != at(ws, "sub/d.bin") {
		t.Errorf("%+v", a.Card)
	}
	want := []kinds.PathAccess{
		{Access: kinds.Read, Path: at(ws, "c.bin"), Target: at(ws, "c.bin")}, {Access: kinds.Write, Path: at(ws, "c.bin"), Target: at(ws, "c.bin")},
		{Access: kinds.Write, Path: at(ws, "sub/d.bin"), Target: at(ws, "sub/d.bin")},
	}
	if !slices.Equal(a.Paths, want) {
		t.Errorf("%+v", a.Paths)
	}

	a = show("diff --git a/old.txt b/new.txt\nrename from old.txt\nrename to new.txt\n--- a/old.txt\n+++ b/new.txt\n@@ -1 +1 @@\n-o\n+n\n")
	if a.Kind != kinds.KindEdit || a.Changes[0].Path != at(ws, "new.txt") || *a.Changes[0].Old != "o\n" || !strings.Contains(a.Text, "move old.txt to new.txt") {
		t.Errorf("%+v", a.Card)
	}
	a = show("diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n")
	if a.Kind != kinds.KindEdit || len(a.Changes) != 0 || !strings.Contains(a.Text, "make run.sh executable") {
		t.Errorf("%+v", a.Card)
	}
	if got := names(t, ws); strings.Contains(got, "A") || !strings.Contains(got, "c.bin") {
		t.Errorf("Prepare wrote: %s", got)
	}
}

func TestApplyPatchModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no executable bits")
	}
	ws := diskWorkspace(t, map[string]string{"on": "x\n", "off": "x\n", "private": "x\n", "secret": "x\n"})
	for name, mode := range map[string]os.FileMode{"off": 0o755, "private": 0o600, "secret": 0o600} {
		if err := os.Chmod(at(ws, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	r := must(t, ws, ApplyPatch(), args{"patch": `diff --git a/on b/on
old mode 100644
new mode 100755
diff --git a/off b/off
old mode 100755
new mode 100644
--- a/off
+++ b/off
@@ -1 +1 @@
-x
+y
diff --git a/private b/private
old mode 100644
new mode 100755
diff --git a/new b/new
new file mode 100755
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+#!/bin/sh
diff --git a/secret b/secret 2
copy from secret
copy to secret 2
diff --git a/secret b/moved
rename from secret
rename to moved
`})
	for name, want := range map[string]os.FileMode{"on": 0o755, "off": 0o644, "private": 0o700, "secret 2": 0o600, "moved": 0o600} {
		if info, err := os.Stat(at(ws, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if info, err := os.Stat(at(ws, "new")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("new: %v, %v", info.Mode(), err)
	}
	if onDisk(t, ws, "secret") != "<none>" || !strings.Contains(r.Text, "copied secret to secret 2") || !strings.Contains(r.Text, "changed on, executable") {
		t.Error(r.Text)
	}
}

func TestApplyPatchOfAnOldView(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	must(t, ws, Read(), args{"path": "b.txt"})
	put(t, ws, "b.txt", "b\nmore\n")
	for _, patch := range []string{twoFiles, "*** Begin Patch\n*** Delete File: b.txt\n*** End Patch", "diff --git a/b.txt b/c\nrename from b.txt\nrename to c\n"} {
		_, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
		wants(t, err, "b.txt changed since", "read it again")
	}
}

// TestApplyPatchAllOrNothing: what fails at any step leaves every file as it was.
func TestApplyPatchAllOrNothing(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a.txt\n-a\n+A\n*** Add File: new/deep/n.txt\n+n\n*** Update File: m.txt\n*** Move to: moved/m.txt\n-m\n+M\n" +
		"*** Delete File: d1.txt\n*** Delete File: d2.txt\n*** End Patch\n"
	files := map[string]string{"a.txt": "a\n", "m.txt": "m\n", "d1.txt": "d1\n", "d2.txt": "d2\n"}
	for name, meddle := range map[string]func(t *testing.T, ws *Workspace) context.Context{
		"changed before": func(t *testing.T, ws *Workspace) context.Context {
			put(t, ws, "d2.txt", "other\n")
			return t.Context()
		},
		"taken before": func(t *testing.T, ws *Workspace) context.Context {
			must(t, ws, Write(), args{"path": "moved/m.txt", "content": "taken\n"})
			return t.Context()
		},
		"the first write fails":  func(t *testing.T, ws *Workspace) context.Context { return failing(t, ws, 1) },
		"the second write fails": func(t *testing.T, ws *Workspace) context.Context { return failing(t, ws, 2) },
		"the third write fails":  func(t *testing.T, ws *Workspace) context.Context { return failing(t, ws, 3) },
		"a removal fails": func(t *testing.T, ws *Workspace) context.Context {
			ws.Files = &meddler{Files: ws.Files, at: 3, do: func() { put(t, ws, "d2.txt", "late\n") }}
			return t.Context()
		},
		"cancelled": func(t *testing.T, ws *Workspace) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			ws.Files = &meddler{Files: ws.Files, at: 2, do: cancel}
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			ws := diskWorkspace(t, files)
			a, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
			if err != nil {
				t.Fatal(err)
			}
			ctx := meddle(t, ws)
			_, err = a.Run(ctx, func(Output) {})
			if err == nil {
				t.Fatal("it went well")
			}
			for file, want := range files {
				got := onDisk(t, ws, file)
				if got != want && !(file == "d2.txt" && (got == "other\n" || got == "late\n")) {
					t.Errorf("%s holds %q", file, got)
				}
				if ws.Seen.Stale(at(ws, file), []byte(got)) && got == want {
					t.Errorf("%s counts as changed", file)
				}
			}
			for _, path := range []string{"new", "moved"} {
				if _, err := os.Stat(at(ws, path)); err == nil && !(name == "taken before" && path == "moved") {
					t.Errorf("%s is left", path)
				}
			}
			if text := err.Error(); !strings.Contains(text, "nothing was changed") && !strings.Contains(text, "was put back") {
				t.Error(err)
			}
			t.Log(err)
		})
	}
	ws := diskWorkspace(t, files)
	must(t, ws, ApplyPatch(), args{"patch": patch})
	if got := names(t, ws); got != `a.txt="A\n" moved/m.txt="M\n" new/deep/n.txt="n\n"` {
		t.Error(got)
	}
}

// TestApplyPatchOfNamesThatTurnAllOrNothing: where files get each other's names,
// a failure puts each back under its own.
func TestApplyPatchOfNamesThatTurnAllOrNothing(t *testing.T) {
	const patch = "diff --git a/a b/b\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1 +1 @@\n-a\n+A\n" +
		"diff --git a/b b/c\nrename from b\nrename to c\ndiff --git a/c b/c\ndeleted file mode 100755\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n" +
		"diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n" +
		"--- a/late\n+++ /dev/null\n@@ -1 +0,0 @@\n-late\n"
	const before = `a="a\n" b="b\n" c="c\n" late="late\n"`
	files := map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "late": "late\n"}
	for name, fails := range map[string]func(cancel func(), ws *Workspace){
		"cancelled":       func(cancel func(), ws *Workspace) { cancel() },
		"a removal fails": func(_ func(), ws *Workspace) { put(t, ws, "late", "changed\n") },
		"none":            func(func(), *Workspace) {},
	} {
		ws := diskWorkspace(t, files)
		if err := os.Chmod(at(ws, "c"), 0o755); err != nil {
			t.Fatal(err)
		}
		e := &editor{Files: ws.Files, buffers: map[string]string{at(ws, "a"): "a\n"}} // which shows it still when it is moved
		ws.Files = e
		a, err := prepared(t, ws, ApplyPatch(), args{"patch": patch + "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ws.Files = &meddler{Files: e, at: 1, do: func() { fails(cancel, ws) }}
		_, err = a.Run(ctx, func(Output) {})
		cancel()
		got := names(t, ws)
		if name == "none" {
			if err != nil || got != `a="new\n" b="A\n" c="b\n"` {
				t.Errorf("%s, %v", got, err)
			}
			continue
		}
		wants(t, err, "put back")
		if got = strings.Replace(got, "changed", "late", 1); got != before {
			t.Errorf("%s: it left %s", name, got)
		}
		if info, err := os.Stat(at(ws, "c")); err != nil || info.Mode().Perm() != 0o755 && runtime.GOOS != "windows" {
			t.Errorf("%v, %v", info, err)
		}
		for file, text := range files {
			if ws.Seen.Stale(at(ws, file), []byte(text)) {
				t.Errorf("%s: %s counts as changed", name, file)
			}
		}
	}
}

// meddler does something after a write, or fails it.
type meddler struct {
	Files
	at, n int
	do    func()
	fail  bool
}

func (m *meddler) WriteFile(ctx context.Context, p workspace.Path, old, new []byte) ([]byte, error) {
	m.n++
	if m.n == m.at && m.fail {
		return nil, errors.New("the disk is full")
	}
	now, err := m.Files.WriteFile(ctx, p, old, new)
	if m.n == m.at {
		m.do()
	}
	return now, err
}

func failing(t *testing.T, ws *Workspace, n int) context.Context {
	ws.Files = &meddler{Files: ws.Files, at: n, fail: true}
	return t.Context()
}

// stubborn is an editor that writes what it is given until, from the nth write on, it
// does not any more: it says no, is gone, or does not answer.
type stubborn struct {
	Files
	from, n int
	answer  func(context.Context) error
}

func (s *stubborn) WriteFile(ctx context.Context, p workspace.Path, old, new []byte) ([]byte, error) {
	if s.n++; s.n >= s.from {
		return nil, s.answer(ctx)
	}
	return s.Files.WriteFile(ctx, p, old, new)
}

// TestApplyPatchPutBackPastAnEditor: what an editor does not put back is put back on
// the disk, and a new file goes.
func TestApplyPatchPutBackPastAnEditor(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
	files := ws.Files
	const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n" +
		"--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-c\n+C\n"
	for name, answer := range map[string]func(context.Context) error{
		"says no": func(context.Context) error { return errors.New("the editor refuses") },
		"is gone": func(context.Context) error { return io.ErrClosedPipe },
		"does not answer": func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); !limited {
				return errors.New("cancelled") // by the user, who waited long enough
			}
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ws.Files = &stubborn{Files: files, from: 4, answer: answer}
			_, err := call(t, ws, ApplyPatch(), args{"patch": patch})
			wants(t, err, "the change was not made", "was put back")
			if got := names(t, ws); got != `a.txt="a\n" b.txt="b\n" c.txt="c\n"` {
				t.Errorf("%s: %s", name, got)
			}
		})
	}
}

// TestApplyPatchThatCannotBePutBack: the error tells which file is left changed.
func TestApplyPatchThatCannotBePutBack(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	a, err := prepared(t, ws, ApplyPatch(), args{"patch": twoFiles})
	if err != nil {
		t.Fatal(err)
	}
	m := &meddler{Files: ws.Files, at: 1}
	m.do = func() { // the user goes on with what was written, and takes the other away
		put(t, ws, "a.txt", "A and more\n")
		put(t, ws, "b.txt", "other\n")
	}
	ws.Files = m
	_, err = a.Run(t.Context(), func(Output) {})
	wants(t, err, "the change was not made", "could not be put back", "a.txt, which holds something else by now")
	if got := names(t, ws); got != `a.txt="A and more\n" b.txt="other\n"` {
		t.Error(got)
	}
}

// TestApplyPatchInAnEditor: the editor's text is what is patched and what is
// written through; what it has unsaved is neither moved nor removed.
func TestApplyPatchInAnEditor(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	e := &editor{Files: ws.Files, buffers: map[string]string{at(ws, "a.txt"): "a\nunsaved\n"}, format: func(s string) string { return s + "# saved\n" }}
	ws.Files = e
	for _, patch := range []string{"*** Begin Patch\n*** Delete File: a.txt\n*** End Patch", "diff --git a/a.txt b/c\nrename from a.txt\nrename to c\n"} {
		_, err := call(t, ws, ApplyPatch(), args{"patch": patch})
		wants(t, err, "nothing was changed", "not saved")
	}
	r := must(t, ws, ApplyPatch(), args{"patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-unsaved\n+done\n"})
	if e.buffers[at(ws, "a.txt")] != "a\ndone\n# saved\n" || !strings.Contains(r.Text, "changed when it was saved") || r.Changes[0].New != "a\ndone\n# saved\n" {
		t.Errorf("%+v", r)
	}
}

func TestApplyPatchThroughLinks(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"real.txt": "a\n"})
	if err := os.Symlink("real.txt", at(ws, "link.txt")); err != nil {
		t.Skip("no links can be made here:", err)
	}
	must(t, ws, ApplyPatch(), args{"patch": "--- a/link.txt\n+++ b/link.txt\n@@ -1 +1 @@\n-a\n+b\n"})
	if to, err := os.Readlink(at(ws, "link.txt")); err != nil || to != "real.txt" || onDisk(t, ws, "real.txt") != "b\n" {
		t.Errorf("%s, %v", to, err)
	}
	for _, patch := range []string{"*** Begin Patch\n*** Delete File: link.txt\n*** End Patch", "diff --git a/link.txt b/c\nrename from link.txt\nrename to c\n"} {
		_, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
		wants(t, err, "link.txt is a symbolic link")
	}
}

func TestApplyPatchOutsideWaits(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a.txt": "a\n"})
	out := diskWorkspace(t, map[string]string{"secret.txt": "secret\n"})
	path := at(out, "secret.txt")
	patch := func(old string) string {
		return "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- " + path + "\n+++ " + path + "\n@@ -1 +1 @@\n-" + old + "\n+x\n"
	}
	for _, old := range []string{"absent", "secret"} {
		a, err := prepared(t, ws, ApplyPatch(), args{"patch": patch(old)})
		if err != nil || len(a.Changes) != 0 || !strings.Contains(a.Text, "-"+old) || len(a.Paths) != 2 {
			t.Fatalf("it shows before it is allowed: %+v, %v", a, err)
		}
		r, err := a.Run(t.Context(), func(Output) {})
		if old == "absent" {
			wants(t, err, "does not fit")
		} else if err != nil || len(r.Changes) != 2 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestApplyPatchIsBounded: hostile patches and files take bounded time and give
// short errors.
func TestApplyPatchIsBounded(t *testing.T) {
	many := strings.Repeat("\n", 1<<20)
	ws := diskWorkspace(t, map[string]string{"lines": many, "too many": strings.Repeat("\n", maxPatchLines+1), "long": strings.Repeat("x", 1<<20) + "\ny\n"})
	hunks := strings.Repeat("@@ -7,3 +7,4 @@\n \n \n \n+x\n", 500)
	for patch, want := range map[string]string{
		"--- a/lines\n+++ b/lines\n@@ -5,20001 +5,20001 @@\n" + strings.Repeat(" \n", 20000) + "-x\n+y\n": "does not fit",
		"--- a/lines\n+++ b/lines\n@@ -9999999,3 +9999999,4 @@\n \n+x\n \n \n":                            "",
		"--- a/lines\n+++ b/lines\n" + hunks:                                                              "several places",
		"--- a/too many\n+++ b/too many\n@@ -5,3 +5,4 @@\n \n \n \n+x\n":                                  "too many to patch",
		"--- a/long\n+++ b/long\n@@ -1,2 +1,2 @@\n " + strings.Repeat("x", 1<<20) + "z\n-y\n+z\n":         "does not fit",
		strings.Repeat("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", maxPatchFiles+1):         "split it",
		"--- a/lines\n+++ b/lines\n@@ -99999999999999999999,3 +1,4 @@\n \n+x\n":                           "several places",
		"diff --git " + strings.Repeat("a ", 20000) + "\nold mode 100644\nnew mode 100755\n":              "names of the file cannot be told",
	} {
		_, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
		if want != "" || err != nil {
			wants(t, err, want)
		}
		if err != nil && (len(err.Error()) > 4<<10 || !utf8.ValidString(err.Error())) {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

// FuzzPatchText applies the hunks of a patch to a text and holds the outcome to
// what their places mean, line by line.
func FuzzPatchText(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nb\nc\n")
	f.Add("--- a\n+++ b\n@@ -3,2 +3,3 @@\n x\n+y\n x\n@@ -9 +10 @@\n-z\n\\ No newline at end of file\n+Z\n", "q\nx\nx\nz")
	f.Add("*** Update File: a\n@@ f\n a\r\n-b\r\n+c\n@@\n-d\n*** End of File\n", "f\r\na\r\nb\r\nd")
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ @@\n-\ufeffa\n+b\n", "\ufeffa\n")
	f.Add("--- 0\n+++ 0\n@@ -1 +0 @@\n+", "0")
	f.Fuzz(func(t *testing.T, patch, file string) {
		files, err := parsePatch(patch)
		if err != nil {
			return
		}
		before, err := workspace.Decode([]byte(file))
		if err != nil {
			return
		}
		for _, one := range files {
			done, err := patchText(t.Context(), before, one.hunks)
			if err != nil {
				if m := new(misfit); errors.As(err, &m) {
					_ = m.found()
				}
				continue
			}
			if got, want := lastEnd(done.text.LF()), lastEnd(byPlaces(t, before.LF(), done.placed)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// lastEnd is a text without the end of its last line, which a patch may not know
// of, without lone CRs, which may have met an LF, and without a mark.
func lastEnd(text string) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ReplaceAll(text, "\r", ""), "\n"), byteOrderMark)
}

// byPlaces replaces lines where hunks were placed.
func byPlaces(t *testing.T, text string, placed []*placement) string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	at := 0
	for _, h := range placed {
		line := h.at
		for _, l := range h.lines {
			text := strings.TrimSuffix(strings.TrimSuffix(l.text, "\n"), "\r")
			if l.op != '+' {
				if line >= len(lines) || strings.TrimSuffix(strings.TrimSuffix(lines[line], "\n"), "\r") != text {
					t.Fatalf("line %d is no %q", line+1, text)
				}
				line++
			}
			if l.op == ' ' {
				continue
			}
			from := line
			if l.op == '-' {
				from--
			}
			for ; at < from; at++ {
				b.WriteString(lines[at])
			}
			if l.op == '-' {
				at = line
			} else {
				if out := b.String(); out != "" && !strings.HasSuffix(out, "\n") {
					b.WriteString("\n")
				}
				b.WriteString(l.text)
			}
		}
	}
	return b.String() + strings.Join(lines[at:], "")
}

// FuzzApplyPatch: whatever the patch, the tool does not break, changes nothing
// where it fails, and touches no file that its facts do not name.
func FuzzApplyPatch(f *testing.F) {
	f.Add(twoFiles, "a\n")
	f.Add("diff --git a/a.txt b/c\nold mode 100644\nnew mode 100755\nrename from a.txt\nrename to c\n", "x")
	f.Add("*** Begin Patch\n*** Update File: a.txt\n*** Move to: c\n@@ x\n a\n-b\n+c\n*** End of File\n*** Delete File: b.txt\n*** End Patch", "a\r\nb")
	f.Add("--- /dev/null\n+++ \"b/\\303\\244\"\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n", "")
	f.Add("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n a\n-\n@@ -3,0 +4 @@\n+x\n", "a\n\nb\nc\n")
	f.Fuzz(func(t *testing.T, patch, file string) {
		if !utf8.ValidString(patch) {
			return
		}
		ws := diskWorkspace(t, map[string]string{"a.txt": file, "b.txt": "b\n"})
		before := readTree(t, ws.Dir())
		a, err := prepared(t, ws, ApplyPatch(), args{"patch": patch})
		if err != nil {
			if !utf8.ValidString(err.Error()) {
				t.Errorf("%q", err)
			}
			return
		}
		named := map[string]bool{}
		for _, p := range a.Paths {
			if p.Access == kinds.Write {
				named[p.Target] = true
			}
			if !strings.HasPrefix(p.Target, ws.Dir()+string(os.PathSeparator)) {
				return // nothing outside is touched here
			}
		}
		_, err = a.Run(t.Context(), func(Output) {})
		after := readTree(t, ws.Dir())
		for name := range before {
			if now, ok := after[name]; (err != nil || !named[at(ws, name)]) && (!ok || now != before[name]) {
				t.Errorf("%s changed; error %v", name, err)
			}
		}
		for name := range after {
			if _, ok := before[name]; !ok && (err != nil || !named[at(ws, name)]) {
				t.Errorf("%s was made; error %v", name, err)
			}
		}
	})
}

// TestApplyPatchByTwoNames: one file is not changed by two of its names, in which what
// comes first would be a change behind the back of the second.
func TestApplyPatchByTwoNames(t *testing.T) {
	ws := diskWorkspace(t, map[string]string{"a": "x\n"})
	dir := ws.Roots.Dir()
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Skip("no hard links here:", err)
	}
	_, err := prepared(t, ws, ApplyPatch(), args{"patch": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n"})
	wants(t, err, "a and b are names of one file", "by one of them")
}
