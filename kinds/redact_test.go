package kinds

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	r := &Redactor{}
	r.KnowEnvironment([]string{"MY_API_KEY=verysecretvalue", "HOME=/home/someone", "SHORT_TOKEN=abc"})
	r.Know("pa ss/word+1")
	a := strings.Repeat("a", 40)
	for _, c := range []struct{ in, want string }{
		{"curl -H 'Authorization: Bearer abcdef0123456789abcdef' https://x.example", "curl -H 'Authorization: Bearer [redacted]' https://x.example"},
		{"export GH=ghp_" + a + "; ls", "export GH=[redacted]; ls"},
		{"git push https://user:p4ssw0rd@x.example/r", "git push https://user:[redacted]@x.example/r"},
		{"git clone https://user:p@ss@x.example/r", "git clone https://user:[redacted]@x.example/r"},
		{"x glpat-" + a + " y", "x [redacted] y"},
		{"x glrt-" + a + " gldt-" + a, "x [redacted] [redacted]"},
		{"key sk-ant-api03-" + a, "key [redacted]"},
		{"AKIAABCDEFGHIJKLMNOP", "[redacted]"},
		{"see -----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----\nrest", "see -----BEGIN RSA PRIVATE KEY-----[redacted]\nrest"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\\nabc", "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def", "[redacted]"},
		{"verysecretvalue verysecretvalue", "[redacted] [redacted]"},
		{"dmVyeXNlY3JldHZhbHVl", "[redacted]"},
		{"pa+ss%2Fword%2B1", "[redacted]"},
		{"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG aws s3 ls", "AWS_SECRET_ACCESS_KEY=[redacted] aws s3 ls"},
		{`{"api_key":"abc","path":"/x"}`, `{"api_key":[redacted],"path":"/x"}`},
		{"curl -u me:hunter2 https://x.example", "curl -u me:[redacted] https://x.example"},
		{"mysql --password=hunter2 db", "mysql --password=[redacted] db"},
		{"tool --token hunter2 /path", "tool --token [redacted] /path"},
		{"GET https://x.example/a?access_token=abc&b=c", "GET https://x.example/a?access_token=[redacted]&b=c"},
		{"Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted]"},
		{"x-api-key: abc", "x-api-key: [redacted]"},
		// nothing to hide
		{"curl https://x.example/path?q=1", "curl https://x.example/path?q=1"},
		{"git push https://x.example/r", "git push https://x.example/r"},
		{"cat /home/someone/.ssh/config", "cat /home/someone/.ssh/config"},
		{"echo $GITHUB_TOKEN", "echo $GITHUB_TOKEN"},
		{"sort --key=2 file", "sort --key=2 file"},
		{"abc", "abc"},
	} {
		if got := r.Text(c.in); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// FuzzRedact: no known value and no token is left, whatever stands around it.
func FuzzRedact(f *testing.F) {
	f.Add("a", "b")
	f.Add("Authorization: Bearer ", "@x")
	f.Add("-----BEGIN X-----", "password=")
	f.Fuzz(func(t *testing.T, before, after string) {
		const known, token = "knownsecret#1", "ghp_0123456789abcdef0123"
		r := &Redactor{}
		r.Know(known)
		got := r.Text(before + known + after + " " + token + " " + after)
		if strings.Contains(got, known) || strings.Contains(got, token) {
			t.Errorf("%q", got)
		}
	})
}
