package permission

import (
	"strings"
	"testing"

	"github.com/acp-agent/acp-agent/kinds"
)

// fetched judges a fetch in a policy.
func fetched(t testing.TB, p *Policy, url string) Verdict {
	t.Helper()
	u, err := kinds.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return p.Decide(kinds.Facts{Tool: "web_fetch", URL: u, ReadOnly: true})
}

func TestFetchRules(t *testing.T) {
	rule := func(action Action, pattern string, scope Scope) Rule {
		return Rule{Permission: "web_fetch", Pattern: pattern, Action: action, Scope: scope}
	}
	docs := rule(Allow, "domain:docs.example.com", Session)
	for _, c := range []struct {
		name  string
		rules []Rule
		url   string
		want  Action
	}{
		{"nothing", nil, "https://docs.example.com/", Ask},
		{"domain", []Rule{docs}, "https://docs.example.com/x", Allow},
		{"domain in other letters", []Rule{rule(Allow, "domain:DOCS.Example.com.", Session)}, "https://docs.example.com/x", Allow},
		{"domain in Unicode", []Rule{rule(Allow, "domain:bücher.example", Session)}, "https://xn--bcher-kva.example/", Allow},
		{"domain of http", []Rule{docs}, "http://docs.example.com/x", Allow},
		{"other port", []Rule{docs}, "https://docs.example.com:8443/", Ask},
		{"other port of http", []Rule{docs}, "http://docs.example.com:8080/", Ask},
		{"deny on other port", []Rule{rule(Deny, "domain:docs.example.com", Project)}, "https://docs.example.com:8443/", Deny},
		{"subdomain of exact", []Rule{docs}, "https://a.docs.example.com/", Ask},
		{"star", []Rule{rule(Allow, "domain:*.example.com", Session)}, "https://docs.example.com/", Allow},
		{"star two deep", []Rule{rule(Allow, "domain:*.example.com", Session)}, "https://a.docs.example.com/", Allow},
		{"star not itself", []Rule{rule(Allow, "domain:*.example.com", Session)}, "https://example.com/", Ask},
		{"star not a suffix", []Rule{rule(Allow, "domain:*.example.com", Session)}, "https://badexample.com/", Ask},
		{"star of an address", []Rule{rule(Allow, "domain:*.184.216.34", Session)}, "https://93.184.216.34/", Ask},
		{"exact lifts star", []Rule{rule(Deny, "domain:*.example.com", Session), docs}, "https://docs.example.com/", Allow},
		{"exact of lower scope does not", []Rule{rule(Deny, "domain:*.example.com", Session), rule(Allow, "domain:docs.example.com", Project)}, "https://docs.example.com/", Deny},
		{"exact lifts all", []Rule{rule(Deny, "", Session), docs}, "https://docs.example.com/", Allow},
		{"all", []Rule{rule(Allow, "*", Session)}, "https://any.example/", Allow},
		{"all of every tool", []Rule{{Permission: "*", Action: Allow, Scope: Session}}, "https://any.example/", Allow},
		{"all of a project", []Rule{rule(Allow, "*", Project)}, "https://any.example/", Ask},
		{"origin", []Rule{rule(Allow, "url:https://docs.example.com:8443/", Session)}, "https://docs.example.com:8443/x", Allow},
		{"origin of http", []Rule{rule(Allow, "url:http://docs.example.com/", Session)}, "http://docs.example.com/x", Allow},
		{"other scheme", []Rule{rule(Allow, "url:http://docs.example.com/", Session)}, "https://docs.example.com/x", Ask},
		{"path", []Rule{rule(Allow, "url:https://docs.example.com/guide", Session)}, "https://docs.example.com/guide/x", Allow},
		{"path as such", []Rule{rule(Allow, "url:https://docs.example.com/guide/", Session)}, "https://docs.example.com/guide/", Allow},
		{"path by its name's beginning", []Rule{rule(Allow, "url:https://docs.example.com/guide", Session)}, "https://docs.example.com/guides", Ask},
		{"path left", []Rule{rule(Allow, "url:https://docs.example.com/guide/", Session)}, "https://docs.example.com/guide/../x", Ask},
		{"path left in disguise", []Rule{rule(Allow, "url:https://docs.example.com/guide/", Session)}, "https://docs.example.com/guide/%2e%2e/x", Ask},
		{"path left twice in disguise", []Rule{rule(Allow, "url:https://docs.example.com/guide/", Session)}, "https://docs.example.com/guide/%252e%252e/x", Ask},
		{"path with a hidden slash", []Rule{rule(Allow, "url:https://docs.example.com/guide/", Session)}, "https://docs.example.com/guide/..%2fx", Ask},
		{"deny of a path in disguise", []Rule{docs, rule(Deny, "url:https://docs.example.com/admin", Session)}, "https://docs.example.com/%2e/admin", Deny},
		{"user name in pattern", []Rule{rule(Allow, "url:https://docs.example.com@x.example/", Session)}, "https://x.example/", Ask},
		{"a restriction that cannot be read", []Rule{docs, rule(Deny, "domain:", Session)}, "https://other.example/", ForcedAsk},
		{"explicit ask", []Rule{rule(Ask, "domain:docs.example.com", Session), docs}, "https://docs.example.com/", ForcedAsk},
		{"manifest", []Rule{rule(Deny, "domain:*.example.com", Manifest), docs}, "https://docs.example.com/", Deny},
		{"of another tool", []Rule{{Permission: "bash", Pattern: "curl *", Action: Allow, Scope: Session}}, "https://docs.example.com/", Ask},
		{"long", []Rule{docs}, "https://docs.example.com/?" + strings.Repeat("a=b&", 600), ForcedAsk},
		{"word", []Rule{docs}, "https://docs.example.com/" + strings.Repeat("a", 101), ForcedAsk},
		{"word in disguise", []Rule{docs}, "https://docs.example.com/" + strings.Repeat("%61", 101), ForcedAsk},
		{"title", []Rule{docs}, "https://docs.example.com/how-to-write-an-article-with-a-title-that-tells-all", Allow},
		{"title in another script", []Rule{docs}, "https://docs.example.com/wiki/%D0%97%D0%B0%D0%B3%D0%BB%D0%B0%D0%B2%D0%BD%D0%B0%D1%8F_%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0", Allow},
		{"token", []Rule{docs}, "https://docs.example.com/?t=ghp_0123456789abcdef0123", ForcedAsk},
		{"token in disguise", []Rule{docs}, "https://docs.example.com/?t=%67hp_0123456789abcdef0123", ForcedAsk},
		{"password of another", []Rule{docs}, "https://docs.example.com/?u=https://a:b@x.example", ForcedAsk},
		{"no token", []Rule{docs}, "https://docs.example.com/disk-usage-analysis/task-force-of-the-risk-assessments", Allow},
		{"loopback whatever the rule", []Rule{rule(Allow, "*", Session)}, "http://127.0.0.1:3000/", Deny},
	} {
		p := &Policy{Rules: c.rules, Trusted: true}
		if v := fetched(t, p, c.url); v.Action != c.want {
			t.Errorf("%s: %s is %s, want %s: %s", c.name, c.url, v.Action, c.want, v.Reason)
		}
	}
}

func TestFetchModes(t *testing.T) {
	docs := []Rule{{Permission: "web_fetch", Pattern: "domain:docs.example.com", Action: Allow, Scope: Session}}
	const token = "https://docs.example.com/?t=ghp_0123456789abcdef0123"
	for _, c := range []struct {
		p    Policy
		url  string
		want Action
	}{
		{Policy{Mode: Plan, Rules: docs}, "https://docs.example.com/", Deny},
		{Policy{Mode: DontAsk}, "https://docs.example.com/", Deny},
		{Policy{Mode: DontAsk, Rules: docs}, "https://docs.example.com/", Allow},
		{Policy{Mode: DontAsk, Rules: docs}, token, Deny},
		{Policy{Mode: AcceptEdits, Trusted: true}, "https://docs.example.com/", Ask},
		{Policy{Mode: BypassPermissions}, "https://docs.example.com/", Allow},
		{Policy{Mode: BypassPermissions}, token, ForcedAsk},
		{Policy{Mode: BypassPermissions}, "http://10.0.0.1/", Deny},
		{Policy{Mode: BypassPermissions, Headless: true}, token, Deny},
		{Policy{Mode: Auto, Rules: []Rule{{Permission: "web_fetch", Pattern: "*", Action: Allow, Scope: Session}}}, "https://docs.example.com/", Ask},
		{Policy{Headless: true}, "https://docs.example.com/", Deny},
		{Policy{Headless: true, Rules: docs}, "https://docs.example.com/", Allow},
		{Policy{Private: kinds.Private{All: true}}, "http://127.0.0.1:3000/", Ask},
		{Policy{Private: kinds.Private{All: true}}, "http://169.254.169.254/", Deny},
		{Policy{Hosts: []string{}}, "https://docs.example.com/", Deny},
	} {
		if v := fetched(t, &c.p, c.url); v.Action != c.want || v.Action != Allow && v.Reason == "" {
			t.Errorf("%s %s: %s, want %s: %q", c.p.Mode, c.url, v.Action, c.want, v.Reason)
		}
	}
}

// TestFetchOffers holds that what is offered covers the host and no more.
func TestFetchOffers(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://docs.example.com/a?b", "domain:docs.example.com"},
		{"http://docs.example.com/", "domain:docs.example.com"},
		{"https://bücher.example/", "domain:xn--bcher-kva.example"},
		{"https://docs.example.com:8443/a", "url:https://docs.example.com:8443/"},
		{"https://[2606:2800:220::1]/", "domain:2606:2800:220::1"},
		{"http://127.0.0.1:3000/a", "url:http://127.0.0.1:3000/"},
		{"https://docs.example.com/?t=ghp_0123456789abcdef0123", ""},
	} {
		p := &Policy{Private: kinds.Private{All: true}}
		v := fetched(t, p, c.url)
		got := ""
		for _, g := range v.Always {
			for _, r := range g.Rules {
				got += r.Pattern
			}
			p.Rules = append(p.Rules, g.Rules...)
		}
		if got != c.want {
			t.Errorf("%s offers %q, want %q", c.url, got, c.want)
		}
		if v := fetched(t, p, c.url); c.want != "" && v.Action != Allow {
			t.Errorf("%s after the grant: %s: %s", c.url, v.Action, v.Reason)
		}
	}
}

func TestFetchPatterns(t *testing.T) {
	for _, bad := range []string{"docs.example.com", "domain:", "domain:*", "domain:*.", "domain:a b", "domain:docs.example.com/x", "domain:docs.example.com:443",
		"domain:*docs.example.com", "domain:docs.*.com", "url:", "url:docs.example.com", "url:ftp://x/", "url:https://x.example/?q", "url:https://*.example/", "host:x"} {
		if _, err := ParseRule("web_fetch", bad, Allow, Session, ""); err == nil {
			t.Errorf("the pattern %q passes", bad)
		}
	}
}

func TestSearchAsks(t *testing.T) {
	facts := kinds.Facts{Tool: "web_search", Sends: "go generics", ReadOnly: true}
	p := &Policy{}
	v := p.Decide(facts)
	if v.Action != Ask || len(v.Always) != 1 {
		t.Fatalf("a search: %+v", v)
	}
	p.Rules = v.Always[0].Rules
	if v := p.Decide(facts); v.Action != Allow {
		t.Errorf("after the grant: %+v", v)
	}
	facts.Sends = "what is ghp_0123456789abcdef0123"
	if v := p.Decide(facts); v.Action != ForcedAsk {
		t.Errorf("a token: %+v", v)
	}
	if v := (&Policy{Mode: Plan}).Decide(facts); v.Action != Deny {
		t.Errorf("in plan mode: %+v", v)
	}
}

func FuzzFetch(f *testing.F) {
	f.Add("https://docs.example.com/a?b", "domain:*.example.com", "url:https://docs.example.com/a")
	f.Add("http://[::ffff:10.0.0.1]/", "*", "domain:docs.example.com")
	f.Fuzz(func(t *testing.T, url, allow, deny string) {
		u, err := kinds.ParseURL(url)
		if err != nil {
			return
		}
		p := &Policy{Rules: []Rule{{Permission: "web_fetch", Pattern: allow, Action: Allow, Scope: Session}}}
		v := p.Decide(kinds.Facts{Tool: "web_fetch", URL: u})
		if v.Action == Allow && (u.Addr.IsValid() && kinds.ReachOf(u.Addr) != kinds.ReachPublic || u.Local()) {
			t.Fatalf("%s is allowed by %q", u, allow)
		}
		p.Rules = append(p.Rules, Rule{Permission: "web_fetch", Pattern: deny, Action: Deny, Scope: Manifest})
		if with := p.Decide(kinds.Facts{Tool: "web_fetch", URL: u}); with.Action < v.Action {
			t.Fatalf("%s: a deny rule %q makes %s of %s", u, deny, with.Action, v.Action)
		}
	})
}
