package acp

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"time"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
	"github.com/acp-agent/acp-agent/editors"
	"github.com/acp-agent/acp-agent/session"
	"github.com/acp-agent/acp-agent/session/permission"
)

// Name is the agent's name on the wire.
const Name = "acp-agent"

// The ids of the ways to log in.
const (
	authAgent    = "credentials"
	authTerminal = "login"
)

// announceDelay is how long after the answer of session/new the commands are
// announced: an editor may still be making its own session then.
const announceDelay = 50 * time.Millisecond

func (s *server) initialize(p InitializeRequest) (InitializeResponse, error) {
	c := &client{can: p.ClientCapabilities}
	if p.ClientInfo != nil {
		c.name = p.ClientInfo.Name
	}
	c.quirks = editors.QuirksOf(c.name)
	s.client.Store(c)
	images, audio := s.sessions.Media()
	return InitializeResponse{
		ProtocolVersion: ProtocolVersion,
		AgentCapabilities: AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: PromptCapabilities{Image: images, Audio: audio, EmbeddedContext: true},
			SessionCapabilities: SessionCapabilities{
				List: &SessionListCapabilities{}, Delete: &SessionDeleteCapabilities{}, Resume: &SessionResumeCapabilities{},
				Close: &SessionCloseCapabilities{}, AdditionalDirectories: &SessionAdditionalDirectoriesCapabilities{},
			},
			Auth: AgentAuthCapabilities{Logout: &LogoutCapabilities{}},
		},
		AuthMethods: authMethods(p.ClientCapabilities),
		AgentInfo:   &Implementation{Name: Name, Title: Name, Version: s.version},
	}, nil
}

// authMethods lists the agent's own first: some editors call authenticate with
// the first one, whatever it is.
func authMethods(can ClientCapabilities) []AuthMethod {
	list := []AuthMethod{AuthMethodAgent{ID: authAgent, Name: "Stored or environment key",
		Description: "Uses the provider's key from the environment, or the one that `acp-agent login PROVIDER` stored"}}
	if old, _ := can.Meta["terminal-auth"].(bool); can.Auth.Terminal || old {
		m := AuthMethodTerminal{ID: authTerminal, Name: "Log in in a terminal",
			Description: "Asks for the provider's key and stores it", Args: []string{"login"}}
		if exe, err := os.Executable(); err == nil && old {
			m.Meta = Meta{"terminal-auth": map[string]any{"label": "acp-agent login", "command": exe, "args": []string{"login"}, "env": map[string]string{}}}
		}
		list = append(list, m)
	}
	return list
}

func (s *server) authenticate(_ context.Context, p AuthenticateRequest) (AuthenticateResponse, error) {
	if p.MethodID != authAgent {
		return AuthenticateResponse{}, &session.InvalidError{Field: "methodId", Reason: "there is no method " + p.MethodID + " to authenticate with; the method is " + authAgent}
	}
	return AuthenticateResponse{}, s.sessions.CheckLogin()
}

func (s *server) logout(_ context.Context, _ LogoutRequest) (LogoutResponse, error) {
	return LogoutResponse{}, s.sessions.Logout()
}

func (s *server) newSession(ctx context.Context, p NewSessionRequest) (NewSessionResponse, func(), error) {
	sess, err := s.sessions.New(ctx, session.Request{Dir: p.Cwd, Dirs: p.AdditionalDirectories, Editor: s})
	if err != nil {
		return NewSessionResponse{}, nil, err
	}
	return NewSessionResponse{SessionID: sess.ID(), Modes: modesOf(sess), ConfigOptions: optionsOf(sess.Settings())}, s.announcer(sess), nil
}

func (s *server) loadSession(ctx context.Context, p LoadSessionRequest) (LoadSessionResponse, func(), error) {
	sess, err := s.sessions.Load(ctx, p.SessionID, session.Request{Dir: p.Cwd, Dirs: p.AdditionalDirectories, Editor: s}, true)
	if err != nil {
		return LoadSessionResponse{}, nil, err
	}
	return LoadSessionResponse{Modes: modesOf(sess), ConfigOptions: optionsOf(sess.Settings())}, s.announcer(sess), nil
}

func (s *server) resumeSession(ctx context.Context, p ResumeSessionRequest) (ResumeSessionResponse, func(), error) {
	sess, err := s.sessions.Load(ctx, p.SessionID, session.Request{Dir: p.Cwd, Dirs: p.AdditionalDirectories, Editor: s}, false)
	if err != nil {
		return ResumeSessionResponse{}, nil, err
	}
	return ResumeSessionResponse{Modes: modesOf(sess), ConfigOptions: optionsOf(sess.Settings())}, s.announcer(sess), nil
}

// announcer tells what a session offers, a moment after the answer that named
// it, and has the models listed behind it.
func (s *server) announcer(sess *session.Session) func() {
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended {
			return
		}
		s.soon.Go(func() {
			timer := time.NewTimer(announceDelay)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-s.conn.Done():
				return
			}
			sess.Announce()
		})
	}
}

func (s *server) listSessions(ctx context.Context, p ListSessionsRequest) (ListSessionsResponse, error) {
	page, next, err := s.sessions.List(ctx, p.Cwd, p.Cursor)
	if err != nil {
		return ListSessionsResponse{}, err
	}
	out := ListSessionsResponse{NextCursor: next}
	for _, info := range page {
		out.Sessions = append(out.Sessions, SessionInfo{SessionID: info.ID, Cwd: info.Dir, AdditionalDirectories: info.Roots,
			Title: info.Title, UpdatedAt: wireTime(info.Updated)})
	}
	return out, nil
}

func wireTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *server) closeSession(ctx context.Context, p CloseSessionRequest) (CloseSessionResponse, error) {
	return CloseSessionResponse{}, s.sessions.Close(ctx, p.SessionID)
}

func (s *server) deleteSession(ctx context.Context, p DeleteSessionRequest) (DeleteSessionResponse, error) {
	return DeleteSessionResponse{}, s.sessions.Delete(ctx, p.SessionID)
}

// prompt admits a turn on the read loop, so that a cancel in the next line
// finds it. The next turn begins when this one's answer is on its way.
func (s *server) prompt(ctx context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
	p, err := Decode[PromptRequest](r.Params)
	if err != nil {
		return nil, err
	}
	sess, err := s.sessions.Get(p.SessionID)
	if err != nil {
		return nil, failure(err)
	}
	prompt, err := promptOf(p.Prompt)
	if err != nil {
		return nil, failure(err)
	}
	turn, err := sess.Begin(ctx, prompt)
	if err != nil {
		return nil, failure(err)
	}
	r.AfterAnswer(turn.Finish)
	return func(context.Context) (any, error) {
		stop, err := turn.Run()
		if err != nil {
			return nil, failure(err)
		}
		return PromptResponse{StopReason: StopReason(stop)}, nil
	}, nil
}

func (s *server) cancel(p CancelNotification) (struct{}, error) {
	if sess, err := s.sessions.Get(p.SessionID); err == nil {
		sess.Cancel()
	}
	return struct{}{}, nil
}

func (s *server) setMode(p SetSessionModeRequest) (func(context.Context) (SetSessionModeResponse, error), error) {
	sess, err := s.sessions.Get(p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := sess.SetMode(permission.Mode(p.ModeID)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (SetSessionModeResponse, error) {
		sess.Save(ctx)
		return SetSessionModeResponse{}, s.tellSettings(ctx, sess)
	}, nil
}

func (s *server) setConfigOption(p SetSessionConfigOptionRequest) (func(context.Context) (SetSessionConfigOptionResponse, error), error) {
	sess, err := s.sessions.Get(p.SessionID)
	if err != nil {
		return nil, err
	}
	value, ok := p.Value.(SessionConfigValueID)
	if !ok {
		return nil, &session.InvalidError{Field: "value", Reason: "must be one of the option's values, which are strings"}
	}
	before := sess.Mode()
	if err := sess.Set(p.ConfigID, string(value)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (SetSessionConfigOptionResponse, error) {
		sess.Save(ctx)
		var err error
		if mode := sess.Mode(); mode != before { // the older form of the same
			err = sink{s, sess.ID()}.Update(ctx, session.ModeChanged{Mode: mode})
		}
		return SetSessionConfigOptionResponse{ConfigOptions: optionsOf(sess.Settings())}, err
	}, nil
}

func (s *server) setModel(p SetSessionModelRequest) (func(context.Context) (SetSessionModelResponse, error), error) {
	sess, err := s.sessions.Get(p.SessionID)
	if err != nil {
		return nil, err
	}
	if err := sess.SetModel(p.ModelID); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (SetSessionModelResponse, error) {
		sess.Save(ctx)
		return SetSessionModelResponse{}, s.tellSettings(ctx, sess)
	}, nil
}

// tellSettings tells the settings in their newer form, after they were changed
// in the older one.
func (s *server) tellSettings(ctx context.Context, sess *session.Session) error {
	return sink{s, sess.ID()}.Update(ctx, session.SettingsChanged{Settings: sess.Settings()})
}

// promptOf is the blocks of a prompt in the engine's words.
func promptOf(blocks []ContentBlock) ([]session.Content, error) {
	out := make([]session.Content, 0, len(blocks))
	for i, b := range blocks {
		field := fmt.Sprintf("prompt.%d", i)
		switch b := b.(type) {
		case TextContent:
			out = append(out, session.Text(b.Text))
		case ResourceLink:
			out = append(out, session.Content{Type: session.ContentLink, URI: b.URI, Name: b.Name, MIME: b.MimeType})
		case ImageContent:
			media, err := mediaOf(field, b.Data, b.MimeType, b.URI)
			if err != nil {
				return nil, err
			}
			out = append(out, media)
		case AudioContent:
			media, err := mediaOf(field, b.Data, b.MimeType, "")
			if err != nil {
				return nil, err
			}
			out = append(out, media)
		case EmbeddedResource:
			c, err := resourceOf(field, b.Resource)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		default:
			return nil, &session.InvalidError{Field: field, Reason: "is a block of an unknown type; known are text, resource_link, resource, image and audio"}
		}
	}
	return out, nil
}

func mediaOf(field, data, mime, uri string) (session.Content, error) {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return session.Content{}, &session.InvalidError{Field: field, Reason: "has data that is not base64: " + err.Error()}
	}
	return session.Content{Type: session.ContentMedia, MIME: mime, Data: raw, URI: uri}, nil
}

func resourceOf(field string, r EmbeddedResourceResource) (session.Content, error) {
	switch r := r.(type) {
	case TextResourceContents:
		return session.Content{Type: session.ContentResource, URI: r.URI, Text: r.Text, MIME: r.MimeType}, nil
	case BlobResourceContents:
		c, err := mediaOf(field, r.Blob, r.MimeType, r.URI)
		c.Type = session.ContentResource
		return c, err
	}
	return session.Content{}, &session.InvalidError{Field: field, Reason: "has a resource with neither text nor blob"}
}
