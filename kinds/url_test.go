package kinds

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"https://docs.example.com", "https://docs.example.com/"},
		{"https://docs.example.com:443/a?b=c#d", "https://docs.example.com/a?b=c"},
		{"HTTPS://DOCS.Example.COM/x", "https://docs.example.com/x"},
		{"http://docs.example.com:80/", "http://docs.example.com/"},
		{"http://docs.example.com:443/", "http://docs.example.com:443/"},
		{"https://docs.example.com./x", "https://docs.example.com/x"},
		{"https://docs.example.com:/x", "https://docs.example.com/x"},
		{"https://docs.example.com?q=1", "https://docs.example.com/?q=1"},
		{"https://docs.example.com/search?q=user@host", "https://docs.example.com/search?q=user@host"},
		{"https://docs.example.com/a/../b/./c", "https://docs.example.com/b/c"},
		{"https://docs.example.com/a%20b/%E2%82%AC%2f", "https://docs.example.com/a%20b/%E2%82%AC%2f"},
		{"https://docs.example.com/ä?ö=ü", "https://docs.example.com/%C3%A4?%C3%B6=%C3%BC"},
		{"https://bücher.example/", "https://xn--bcher-kva.example/"},
		{"https://ⓓocs.example.com/", "https://docs.example.com/"},
		{"https://docs。example。com/", "https://docs.example.com/"},
		{"https://例え.jp/", "https://xn--r8jz45g.jp/"},
		{"https://93.184.216.34:8443/", "https://93.184.216.34:8443/"},
		{"http://[2606:2800:0220::1]:8080/", "http://[2606:2800:220::1]:8080/"},
		{"https://a--b.example.com/", "https://a--b.example.com/"},
		{"https://r3---sn-x.example.com/", "https://r3---sn-x.example.com/"},
	} {
		u, err := ParseURL(c.in)
		if err != nil || u.String() != c.want {
			t.Errorf("ParseURL(%q) = %v, %v; want %s", c.in, u, err, c.want)
			continue
		}
		if again, err := ParseURL(u.String()); err != nil || *again != *u {
			t.Errorf("%s parses as something else: %v, %v", u, again, err)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "empty"},
		{"docs.example.com/x", "not absolute"},
		{"//docs.example.com/", "not absolute"},
		{"/x:y", "not absolute"},
		{"file:///etc/passwd", "scheme"},
		{"javascript:alert(1)", "scheme"},
		{"view-source:https://a.example/", "scheme"},
		{"https:docs.example.com", "host"},
		{"https:/docs.example.com", "host"},
		{"https://", "host"},
		{"https:///x.example/", "host"},
		{"https://user:pw@docs.example.com/", "user name"},
		{"https://docs.example.com@x.example/", "user name"},
		{"https://@docs.example.com/", "user name"},
		{`https://docs.example.com\@x.example/`, "backslash"},
		{"https://docs.example.com /", "space"},
		{" https://docs.example.com/", "space"},
		{"https://docs.example.com/a\tb", "hidden"},
		{"https://docs.example.com/a\r\nHost: x", "hidden"},
		{"https://docs.example.com\x00.x.example/", "hidden"},
		{"https://docs.example.com/\u202egnp.exe", "hidden"},
		{"https://docs\u200b.example.com/", "hidden"},
		{"https://docs.example.com/\u00a0", "hidden"},
		{"https://docs.example.com/\xff", "UTF-8"},
		{`https://docs.example.com/"`, "percent"},
		{"https://docs.example.com/<b>", "percent"},
		{"https://docs.example.com%00.x.example/", "malformed"},
		{"https://docs.example.com%2ex.example/", "malformed"},
		{"https://%64ocs.example.com/", "malformed"},
		{"https://[docs.example.com]/", "IPv6"},
		{"https://[::1%25eth0]/", "malformed|IPv6|zone"},
		{"https://[fe80::1%eth0]/", "zone"},
		{"https://[127.0.0.1]/", "IPv6"},
		{"https://[::1/", "IPv6|malformed"},
		{"https://::1/", "malformed"},
		{"https://docs..example.com/", "no valid name"},
		{"https://.example.com/", "no valid name"},
		{"https://docs.example.com../", "no valid name"},
		{"https://-docs.example.com/", "no valid name"},
		{"https://a_b.example.com/", "no valid name"},
		{"https://" + strings.Repeat("a", 64) + ".example/", "no valid name"},
		{"https://" + strings.Repeat("a.", 130) + "example/", "no valid name"},
		{"https://xn--zzzzzzz-.example/", "no valid name"},
		{"https://docs.ex\u0430mple.com/", "mixes scripts"},
		{"https://раураl.example/", "mixes scripts"},
		{"https://docs.example.com:80:443/", "malformed"},
		{"https://docs.example.com:0/", "port"},
		{"https://docs.example.com:65536/", "port"},
		{"https://docs.example.com:+443/", "port"},
		{"https://docs.example.com:4 43/", "space"},
		{"https://docs.example.com:x/", "port"},
		{"https://docs.example.com/%zz", "%"},
		{"http://127.1/", "IPv4"},
		{"http://0x7f.1/", "IPv4"},
		{"http://0x7f000001/", "IPv4"},
		{"http://2130706433/", "IPv4"},
		{"http://0177.0.0.1/", "IPv4"},
		{"http://127.000.000.001/", "IPv4"},
		{"http://1.2.3.4.5/", "IPv4"},
		{"http://1.2.3.256/", "IPv4"},
		{"http://a.example.0x1/", "IPv4"},
		{"https://docs.example.com/" + strings.Repeat("a", 70_000), "longer"},
	} {
		u, err := ParseURL(c.in)
		if err == nil {
			t.Errorf("ParseURL(%.80q) = %s", c.in, u)
			continue
		}
		matched := false
		for want := range strings.SplitSeq(c.want, "|") {
			matched = matched || strings.Contains(err.Error(), want)
		}
		if !matched {
			t.Errorf("ParseURL(%.80q): %v; want %q", c.in, err, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	base, _ := ParseURL("https://docs.example.com/a/b?c=d")
	for _, c := range []struct{ in, want string }{
		{"x", "https://docs.example.com/a/x"},
		{"../x", "https://docs.example.com/x"},
		{"/x?y=z#f", "https://docs.example.com/x?y=z"},
		{"?y", "https://docs.example.com/a/b?y"},
		{"", "https://docs.example.com/a/b?c=d"},
		{"//other.example/x", "https://other.example/x"},
		{"http://other.example", "http://other.example/"},
		{`\\other.example\x`, ""},
		{`/\other.example`, ""},
		{"///other.example/", ""},
		{"file:///etc/passwd", ""},
		{"https:other.example", ""},
		{"javascript:x", ""},
		{"https://a@other.example/", ""},
		{"/x\u202ey", ""},
	} {
		u, err := base.Resolve(c.in)
		got := ""
		if err == nil {
			got = u.String()
		}
		if got != c.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestReachOf(t *testing.T) {
	for reach, list := range map[Reach]string{
		ReachPublic: "1.1.1.1 93.184.216.34 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 192.167.255.255 198.17.0.1 198.20.0.1 223.255.255.255 169.253.0.1 " +
			"2606:2800:220::1 2001:4860:4860::8888 2a00::1 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::1",
		ReachPrivate:   "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 fc00::1 fdff::1 ::ffff:10.0.0.1",
		ReachLoopback:  "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1",
		ReachLinkLocal: "169.254.0.1 169.254.1.1 fe80::1 febf::1 ::ffff:169.254.1.1",
		ReachNever: "0.0.0.0 0.1.2.3 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 192.0.0.1 192.0.0.170 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 " +
			"169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 168.63.129.16 100.100.100.200 ::ffff:169.254.169.254 fd00:ec2::254 fd20:ce::254 " +
			":: ::7f00:1 ::a9fe:a9fe fec0::1 ff02::1 2001:db8::1 3fff::1 2001::1 2001:2::1 2001:0:a9fe:a9fe:: 2001:10::1 100::1 5f00::1 4000::1 e000::1 " +
			"64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a00:1 64:ff9b:1::a9fe:a9fe 64:ff9b:1::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:c0a8:1::",
	} {
		for text := range strings.FieldsSeq(list) {
			if got := ReachOf(netip.MustParseAddr(text)); got != reach {
				t.Errorf("%s is %s, want %s", text, got, reach)
			}
		}
	}
	if got := ReachOf(netip.Addr{}); got != ReachNever {
		t.Errorf("no address is %s", got)
	}
	if got := ReachOf(netip.MustParseAddr("fe80::1%eth0")); got != ReachLinkLocal {
		t.Errorf("a zone makes it %s", got)
	}
}

func TestPrivate(t *testing.T) {
	list, err := NewPrivate([]string{"127.0.0.1:3000", "LocalHost:8080", "db.corp.example", "10.0.0.5", "::1", "[fd00::1]:80", "169.254.7.7", "169.254.169.254", "0.0.0.0", "plain.example:8000"})
	if err != nil {
		t.Fatal(err)
	}
	all := Private{All: true}
	for _, c := range []struct {
		p    Private
		url  string
		at   string // the address that a name stands for
		ok   bool
		want string // as it is fetched
	}{
		{list, "http://127.0.0.1:3000/x", "", true, "http://127.0.0.1:3000/x"},
		{list, "http://127.0.0.1:3001/x", "", false, ""},
		{list, "http://[::ffff:127.0.0.1]:3000/x", "", false, ""},
		{list, "http://localhost:8080/", "127.0.0.1", true, "http://localhost:8080/"},
		{list, "http://localhost:8080/", "169.254.7.7", false, ""},
		{list, "http://localhost/", "127.0.0.1", false, ""},
		{list, "http://db.corp.example:99/", "10.1.2.3", true, "http://db.corp.example:99/"},
		{list, "http://db.corp.example/", "169.254.169.254", false, ""},
		{list, "http://other.corp.example/", "10.0.0.5", false, ""},
		{list, "http://10.0.0.5:1234/", "", true, "http://10.0.0.5:1234/"},
		{list, "http://[::1]:1234/", "", true, "http://[::1]:1234/"},
		{list, "http://[fd00::1]/", "", true, "http://[fd00::1]/"},
		{list, "http://169.254.7.7/", "", true, "http://169.254.7.7/"},
		{list, "http://169.254.169.254/", "", false, ""},
		{list, "http://0.0.0.0/", "", false, ""},
		{list, "http://plain.example:8000/", "93.184.216.34", true, "http://plain.example:8000/"},
		{all, "http://127.0.0.1:3000/", "", true, "http://127.0.0.1:3000/"},
		{all, "http://localhost/", "::1", true, "http://localhost/"},
		{all, "http://[::ffff:127.0.0.1]/", "", true, "http://[::ffff:127.0.0.1]/"},
		{all, "http://app.internal/", "10.0.0.1", true, "http://app.internal/"},
		{all, "http://app.internal/", "169.254.169.254", false, ""},
		{all, "http://169.254.7.7/", "", false, ""},
		{all, "http://100.100.100.200/", "", false, ""},
		{all, "http://docs.example.com/x", "93.184.216.34", true, "https://docs.example.com/x"},
		{all, "http://docs.example.com:8080/x", "10.0.0.1", true, "https://docs.example.com:8080/x"},
		{Private{}, "http://docs.example.com/x", "93.184.216.34", true, "https://docs.example.com/x"},
		{Private{}, "http://docs.example.com/x", "10.0.0.1", false, ""},
		{Private{}, "http://intranet/", "93.184.216.34", false, ""},
		{Private{}, "http://93.184.216.34/", "", true, "https://93.184.216.34/"},
	} {
		u, err := ParseURL(c.url)
		if err != nil {
			t.Fatal(err)
		}
		err = c.p.Check(u)
		if err == nil && c.at != "" {
			err = c.p.Permit(u, netip.MustParseAddr(c.at))
		}
		if (err == nil) != c.ok {
			t.Errorf("%v: %s at %q: %v", c.p, c.url, c.at, err)
		}
		if got := c.p.Secure(u).String(); c.ok && got != c.want {
			t.Errorf("%v: %s is fetched as %s, want %s", c.p, c.url, got, c.want)
		}
	}
	for _, bad := range []string{"", "http://x", "a b", "x:0", "x:99999", "10.0.0.0/8", "*.corp", "127.1"} {
		if p, err := NewPrivate([]string{bad}); err == nil {
			t.Errorf("NewPrivate(%q) = %v", bad, p)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://docs.example.com/a?b#c", "http://[::1]:80/", "https://bücher.example/%20", "https://a@b", "//x", "https://127.1/", "https://docs.example.com\\@x/"} {
		f.Add(s, "../x")
	}
	f.Fuzz(func(t *testing.T, s, ref string) {
		u, err := ParseURL(s)
		if err != nil {
			return
		}
		again, err := ParseURL(u.String())
		if err != nil || *again != *u {
			t.Fatalf("%q gives %s, which gives %v, %v", s, u, again, err)
		}
		if u.Host != strings.ToLower(u.Host) || !isASCII(u.String()) || strings.ContainsAny(u.String(), " \\\"<>`\r\n\t") {
			t.Fatalf("%q gives %q", s, u)
		}
		if next, err := u.Resolve(ref); err == nil && next.Scheme != "http" && next.Scheme != "https" {
			t.Fatalf("%q of %s gives %s", ref, u, next)
		}
	})
}
