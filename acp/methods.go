package acp

import (
	"context"

	"github.com/acp-agent/acp-agent/acp/jsonrpc"
)

// method admits one message: it decodes and checks on the read loop, and
// returns what takes time as work.
type method func(s *server, ctx context.Context, r *jsonrpc.Request) (jsonrpc.Work, error)

// methods is everything that the agent answers, by its wire name. Those marked
// now are done on the read loop, so that they hold for the message after them;
// later ones run beside it.
var methods = map[string]method{
	MethodInitialize:             now((*server).initialize),
	MethodAuthenticate:           later((*server).authenticate),
	MethodLogout:                 later((*server).logout),
	MethodSessionNew:             opening((*server).newSession),
	MethodSessionLoad:            opening((*server).loadSession),
	MethodSessionResume:          opening((*server).resumeSession),
	MethodSessionList:            later((*server).listSessions),
	MethodSessionClose:           later((*server).closeSession),
	MethodSessionDelete:          later((*server).deleteSession),
	MethodSessionPrompt:          (*server).prompt,
	MethodSessionCancel:          now((*server).cancel),
	MethodSessionSetMode:         changing((*server).setMode),
	MethodSessionSetConfigOption: changing((*server).setConfigOption),
	MethodSessionSetModel:        changing((*server).setModel),
}

// now makes a method of a function that neither blocks nor calls the client.
func now[P, R any](f func(s *server, params P) (R, error)) method {
	return func(s *server, _ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		params, err := Decode[P](r.Params)
		if err != nil {
			return nil, err
		}
		result, err := f(s, params)
		if err != nil || r.Notification {
			return nil, failure(err)
		}
		return func(context.Context) (any, error) { return result, nil }, nil
	}
}

// changing makes a method of a function that changes a setting at once, so that
// it holds for the message after it. What it returns stores and tells that, and
// makes the result.
func changing[P, R any](f func(s *server, params P) (func(ctx context.Context) (R, error), error)) method {
	return func(s *server, _ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		params, err := Decode[P](r.Params)
		if err != nil {
			return nil, err
		}
		finish, err := f(s, params)
		if err != nil {
			return nil, failure(err)
		}
		return func(ctx context.Context) (any, error) {
			result, err := finish(ctx)
			return result, failure(err)
		}, nil
	}
}

// later makes a method of a function that may take its time.
func later[P, R any](f func(s *server, ctx context.Context, params P) (R, error)) method {
	return func(s *server, _ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		params, err := Decode[P](r.Params)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, error) {
			result, err := f(s, ctx, params)
			return result, failure(err)
		}, nil
	}
}

// opening makes a method that opens a session: what it returns to be told runs
// after its answer, since an editor drops what it cannot place yet.
func opening[P, R any](f func(s *server, ctx context.Context, params P) (R, func(), error)) method {
	return func(s *server, _ context.Context, r *jsonrpc.Request) (jsonrpc.Work, error) {
		params, err := Decode[P](r.Params)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, error) {
			result, after, err := f(s, ctx, params)
			if after != nil {
				r.AfterAnswer(after)
			}
			return result, failure(err)
		}, nil
	}
}
