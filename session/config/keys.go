package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/acp-agent/acp-agent/session/model"
	"github.com/acp-agent/acp-agent/session/permission"
)

// key is one key of spec/config-keys.md.
type key struct {
	read      func(r *reader, v hujson.Value) error // nil: known, and not of this package
	userOnly  bool                                  // a project cannot set it
	restricts bool                                  // counts also in an untrusted project
}

// keys is every key there is. It is filled at the first use of the package's
// variables and never changes.
var keys = map[string]key{
	"model":           {read: text(func(c *Config) *string { return &c.Model })},
	"smallModel":      {read: text(func(c *Config) *string { return &c.SmallModel })},
	"mode":            {read: readMode},
	"maxTurnRequests": {read: integer(1, func(c *Config, n int) { c.MaxTurnRequests = n })},

	"retry.max":         {read: integer(0, func(c *Config, n int) { c.Retry.Max = n })},
	"retry.baseDelayMs": {read: integer(0, func(c *Config, n int) { c.Retry.BaseDelay = milliseconds(n) })},
	"retry.maxDelayMs":  {read: integer(0, func(c *Config, n int) { c.Retry.MaxDelay = milliseconds(n) })},

	"permissions.rules":     {read: readRules, restricts: true},
	"permissions.askReason": {read: boolean(func(c *Config) *bool { return &c.AskReason })},
	"additionalDirectories": {read: readDirectories},
	"trust":                 {read: readTrust, userOnly: true},

	"proxy":     {read: readProxy, userOnly: true},
	"noProxy":   {read: into(func(c *Config) any { return &c.NoProxy }, "must be a list of hosts"), userOnly: true},
	"caFile":    {read: text(func(c *Config) *string { return &c.CAFile }), userOnly: true},
	"env":       {read: readEnv},
	"providers": {read: readProviders, userOnly: true},
	"models":    {read: readModels},
	"log.level": {read: readLogLevel},
	"log.file":  {read: text(func(c *Config) *string { return &c.LogFile }), userOnly: true},

	"web.allowPrivate": {read: readPrivate, userOnly: true},
	"web.timeoutMs":    {read: integer(1, func(c *Config, n int) { c.Web.Timeout = milliseconds(n) })},
	"web.search":       {read: readSearch, userOnly: true}, // it names a server and a key

	"mcpServers": {}, "mcp.startTimeoutMs": {}, "mcp.callTimeoutMs": {},
	"toolSearch.threshold": {read: integer(0, func(c *Config, n int) { c.ToolSearchThreshold = n })},

	"lsp.enabled":           {read: readLSPEnabled},
	"lsp.servers":           {read: readLanguageServers},
	"lsp.diagnosticsWaitMs": {read: readDiagnosticsWait},
	"lsp.requestTimeoutMs":  {read: integer(1, func(c *Config, n int) { c.LSP.RequestTimeout = milliseconds(n) })},
	"lsp.startTimeoutMs":    {read: integer(1, func(c *Config, n int) { c.LSP.StartTimeout = milliseconds(n) })},
	"lsp.idleStopMs":        {read: integer(1, func(c *Config, n int) { c.LSP.IdleStop = milliseconds(n) })},
	"lsp.memoryLimitMb":     {read: readMemoryLimit},

	"hooks.sessionStart": {read: readHooks(SessionStart)}, "hooks.sessionEnd": {read: readHooks(SessionEnd)},
	"hooks.userPromptSubmit": {read: readHooks(UserPromptSubmit)}, "hooks.turnEnd": {read: readHooks(TurnEnd)},
	"hooks.preToolUse": {read: readHooks(PreToolUse)}, "hooks.postToolUse": {read: readHooks(PostToolUse)},
	"hooks.postToolUseFailure": {read: readHooks(PostToolUseFailure)}, "hooks.notification": {read: readHooks(Notification)},
	"hooks.preCompact": {read: readHooks(PreCompact)},
	"skills.paths":     {read: readSkillPaths}, "compaction.auto": {}, "compaction.at": {}, "compaction.keepTurns": {},
	"sandbox.mode":     {read: readSandboxMode, userOnly: true},
	"sandbox.network":  {read: boolean(func(c *Config) *bool { return &c.Sandbox.Network }), userOnly: true},
	"sandbox.writable": {read: readWritable, userOnly: true},
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// decode reads a value, comments and all, as plain JSON.
func decode(v hujson.Value, to any) error {
	v = v.Clone()
	v.Standardize()
	return json.Unmarshal(v.Pack(), to)
}

func text(field func(*Config) *string) func(*reader, hujson.Value) error {
	return into(func(c *Config) any { return field(c) }, "must be a string")
}

func boolean(field func(*Config) *bool) func(*reader, hujson.Value) error {
	return into(func(c *Config) any { return field(c) }, "must be true or false")
}

// into decodes into the field, or says what it must be.
func into(field func(*Config) any, must string) func(*reader, hujson.Value) error {
	return func(r *reader, v hujson.Value) error {
		if decode(v, field(r.config)) != nil {
			return errors.New(must)
		}
		return nil
	}
}

func integer(least int, set func(*Config, int)) func(*reader, hujson.Value) error {
	return func(r *reader, v hujson.Value) error {
		var n int
		if decode(v, &n) != nil || n < least {
			return fmt.Errorf("must be a whole number from %d", least)
		}
		set(r.config, n)
		return nil
	}
}

func readMode(r *reader, v hujson.Value) error {
	var mode permission.Mode
	if decode(v, &mode) != nil || !mode.Valid() {
		var names []string
		for _, m := range permission.Modes() {
			names = append(names, string(m.ID))
		}
		return fmt.Errorf("must be one of %s", strings.Join(names, ", "))
	}
	if r.scope == permission.Project && mode == permission.BypassPermissions {
		return errors.New("cannot be bypassPermissions in a project's file")
	}
	r.config.Mode = mode
	return nil
}

func readTrust(r *reader, v hujson.Value) error {
	var t Trust
	if decode(v, &t) != nil || t != TrustAsk && t != TrustAlways && t != TrustNever {
		return errors.New("must be ask, always or never")
	}
	if r.scope == permission.Manifest {
		return errors.New("is for each user to set, in their own file")
	}
	r.config.Trust = t
	return nil
}

func readLogLevel(r *reader, v hujson.Value) error {
	var level string
	if decode(v, &level) == nil {
		switch level {
		case "error", "warn", "info", "debug":
			r.config.LogLevel = level
			return nil
		}
	}
	return errors.New("must be error, warn, info or debug")
}

func readProxy(r *reader, v hujson.Value) error {
	var s string
	if decode(v, &s) != nil {
		return errors.New("must be a URL")
	}
	if u, err := url.Parse(s); s != "" && (err != nil || u.Host == "") {
		return errors.New("must be a URL such as http://proxy.example:3128")
	}
	r.config.Proxy = s
	return nil
}

// readDirectories takes the user's further folders, and a project's where the user
// confirmed these very ones: they are held to where they led then.
func readDirectories(r *reader, v hujson.Value) error {
	dirs, err := r.folders(v)
	if err != nil || r.restrictOnly {
		return err
	}
	if r.scope != permission.Project {
		r.config.AdditionalDirectories = dirs
		return nil
	}
	for i, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs[i] = real
		}
	}
	if r.enableWide("additionalDirectories: "+strings.Join(dirs, ", "), v.StartOffset, append([]string{"additionalDirectories"}, dirs...)...) {
		r.config.AdditionalDirectories = dirs
	}
	return nil
}

func readSandboxMode(r *reader, v hujson.Value) error {
	var mode string
	if decode(v, &mode) != nil || mode != "auto" && mode != "on" && mode != "off" {
		return errors.New("must be auto, on or off")
	}
	r.config.Sandbox.Mode = mode
	return nil
}

func readWritable(r *reader, v hujson.Value) error {
	dirs, err := r.folders(v)
	if err == nil {
		r.config.Sandbox.Writable = dirs
	}
	return err
}

// folders takes paths relative to the user's home, which begin with ~/, absolute
// ones, and in a project's file those relative to the project.
func (r *reader) folders(v hujson.Value) ([]string, error) {
	var dirs []string
	if decode(v, &dirs) != nil {
		return nil, errors.New("must be a list of paths")
	}
	for i, d := range dirs {
		if rest, ok := strings.CutPrefix(d, "~/"); ok {
			d = filepath.Join(r.home, rest)
		} else if r.scope == permission.Project && d != "" && !filepath.IsAbs(d) {
			d = filepath.Join(r.root, d)
		}
		if !filepath.IsAbs(d) {
			return nil, fmt.Errorf("has %q, which is not absolute", dirs[i])
		}
		dirs[i] = filepath.Clean(d)
	}
	return dirs, nil
}

// readSkillPaths takes paths relative to the user's home, and a project's
// relative to the project, in which they must lie.
func readSkillPaths(r *reader, v hujson.Value) error {
	var paths []string
	if decode(v, &paths) != nil {
		return errors.New("must be a list of paths")
	}
	project := filepath.Dir(filepath.Dir(r.file))
	folders := []SkillFolder{}
	for _, path := range paths {
		f := SkillFolder{Path: path, Project: r.scope == permission.Project}
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			f.Path = filepath.Join(r.home, rest)
		} else if f.Project && !filepath.IsAbs(path) {
			f.Path = filepath.Join(project, path)
		}
		f.Path = filepath.Clean(f.Path)
		rel, err := filepath.Rel(project, f.Path)
		switch {
		case !filepath.IsAbs(f.Path):
			return fmt.Errorf("has %q, which is not absolute", path)
		case f.Project && (err != nil || !filepath.IsLocal(rel)):
			r.warn(v.StartOffset, "skills.paths: %q lies outside of the project and was left out", path)
			continue
		}
		folders = append(folders, f)
	}
	r.config.Skills = folders
	return nil
}

func readEnv(r *reader, v hujson.Value) error {
	var env map[string]*string
	if decode(v, &env) != nil {
		return errors.New("must be an object of strings, or null to remove a variable")
	}
	if r.config.Env == nil {
		r.config.Env = map[string]*string{}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if r.scope == permission.Project && leadsKeys(name) {
			r.warn(v.StartOffset, "env.%s cannot be set by a project, since it says where keys are sent or which; it was left out", name)
			continue
		}
		r.config.Env[name] = env[name]
	}
	return nil
}

// leadsKeys reports whether a variable says where a program sends its keys, or
// which: base URLs, headers, credentials and proxies (security/policy.md, section
// 11).
func leadsKeys(name string) bool {
	name = strings.ToUpper(name)
	for _, end := range []string{"_BASE_URL", "_API_BASE", "_API_KEY", "_AUTH_TOKEN", "_CUSTOM_HEADERS", "_PROXY"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func readModels(r *reader, v hujson.Value) error {
	var models map[string]model.Override
	if err := decode(v, &models); err != nil {
		return fmt.Errorf("must be an object of PROVIDER/MODEL and what is to be known of it: %w", err)
	}
	if r.config.Models == nil {
		r.config.Models = map[string]model.Override{}
	}
	for name, o := range models {
		r.config.Models[name] = o
	}
	return nil
}

func readProviders(r *reader, v hujson.Value) error {
	var providers map[string]struct {
		Type      model.API         `json:"type"`
		BaseURL   string            `json:"baseURL"`
		APIKeyEnv string            `json:"apiKeyEnv"`
		Headers   map[string]string `json:"headers"`
		Models    []string          `json:"models"`
	}
	if err := decode(v, &providers); err != nil {
		return fmt.Errorf("must be an object of {type, baseURL, apiKeyEnv, headers, models}: %w", err)
	}
	if r.config.Providers == nil {
		r.config.Providers = map[string]Provider{}
	}
	for name, p := range providers {
		if strings.ContainsAny(name, "/ ") || name == "" {
			r.tell(v.StartOffset, "the provider's name %q must have no blank and no slash; it is left out", name)
			continue
		}
		if row, ok := model.FindProvider(string(p.Type)); !ok {
			r.tell(v.StartOffset, "the provider %s has the unknown type %q; it is left out", name, p.Type)
			continue
		} else if err := row.Check(); err != nil {
			r.tell(v.StartOffset, "the provider %s: %v; it is left out", name, err)
			continue
		}
		r.config.Providers[name] = Provider(p)
	}
	return nil
}

func readRules(r *reader, v hujson.Value) error {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		return errors.New("must be a list of {permission, pattern, action}")
	}
	for _, e := range list.Elements {
		rule, err := r.rule(e)
		switch {
		case err != nil:
			r.tell(e.StartOffset, "%v; it allows nothing", err)
			if rule.Action == permission.Allow {
				continue
			}
			r.config.Rules = append(r.config.Rules, rule) // a restriction still restricts
		case rule.Action == permission.Allow && !r.allows(&rule, e.StartOffset):
		default:
			r.config.Rules = append(r.config.Rules, rule)
		}
	}
	return nil
}

// allows notes a permission of the file, and reports whether it holds.
func (r *reader) allows(rule *permission.Rule, offset int) bool {
	switch {
	case r.restrictOnly:
		return false
	case r.scope == permission.Project && catchAll(*rule):
		rule.Confirmed = r.enableWide(rule.String(), offset, rule.String())
		return rule.Confirmed
	}
	r.enable(PartRules, rule.String(), offset, rule.String())
	return true
}

// catchAll reports whether a rule allows every call of a kind that matters.
func catchAll(r permission.Rule) bool {
	if names, ok := strings.CutPrefix(r.Permission, "mcp:"); ok {
		return strings.ContainsAny(names, "*?[")
	}
	return r.Pattern == "" || strings.Trim(r.Pattern, "*/ ") == ""
}

// rule reads {permission, pattern?, action}.
func (r *reader) rule(v hujson.Value) (permission.Rule, error) {
	var raw struct {
		Permission string             `json:"permission"`
		Pattern    string             `json:"pattern"`
		Action     *permission.Action `json:"action"`
	}
	if err := decode(v, &raw); err != nil {
		return permission.Rule{Action: permission.Allow}, fmt.Errorf("a rule must be {permission, pattern, action}: %w", err)
	}
	if raw.Action == nil {
		return permission.Rule{Action: permission.Allow}, errors.New("a rule has no action: allow, ask or deny")
	}
	return permission.ParseRule(raw.Permission, raw.Pattern, *raw.Action, r.scope, r.place(v.StartOffset))
}

func (r *reader) place(offset int) string {
	return fmt.Sprintf("%s:%d", r.file, r.line(offset))
}

func (r *reader) line(offset int) int {
	return bytes.Count(r.data[:min(max(offset, 0), len(r.data))], []byte("\n")) + 1
}
