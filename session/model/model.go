// Package model is the seam between the loop and language models: a request
// goes in, a stream of events comes out. What is peculiar to a provider stays
// in the package below that serves it.
//
// It leaves out retries and what is done with a call, which are the loop's
// (package session).
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Model is one model of one provider.
type Model interface {
	// Stream sends the request and yields what comes back: Text, Thought and
	// Calling as they arrive and, last and once, Done. An error ends the
	// stream; a stream without Done or an error does not exist. Leaving the
	// loop, or ctx, closes the connection at once.
	Stream(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// Request is all that a model is asked.
type Request struct {
	Model     string // the provider's id, without the provider
	System    string
	Messages  []Message
	Tools     []Tool
	MaxOutput int    // tokens; 0: the provider's default
	Thinking  string // a level of the model's; empty: its default
	Session   string // a stable id, for prompt caches
}

// Tool is a tool as a model sees it.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema
}

// Role is whose message it is. Results of calls are a RoleTool message that
// follows the assistant's.
type Role string

// The roles of a conversation.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// PartType tells the parts of a message apart.
type PartType string

// What a message is made of.
const (
	PartText    PartType = "text"
	PartThought PartType = "thought"
	PartMedia   PartType = "media"  // image or audio
	PartCall    PartType = "call"   // the assistant calls a tool
	PartResult  PartType = "result" // what a call came to
)

// Part is one part of a message. Which fields are meant, Type says.
type Part struct {
	Type     PartType        `json:"type"`
	Text     string          `json:"text,omitzero"`     // text, thought, result
	MIME     string          `json:"mime,omitzero"`     // media
	Data     []byte          `json:"data,omitzero"`     // media
	CallID   string          `json:"callId,omitzero"`   // call, result
	Name     string          `json:"name,omitzero"`     // call, result: the tool's name as the model wrote it
	Args     string          `json:"args,omitzero"`     // call: as the model wrote it; not always JSON
	IsError  bool            `json:"isError,omitzero"`  // result
	Provider json.RawMessage `json:"provider,omitzero"` // the provider's own, given back unchanged: signatures, ids
}

// Event is something that arrives while a model answers.
type Event interface{ event() }

// Text is a piece of the answer.
type Text struct{ Text string }

// Thought is a piece of the model's reasoning.
type Thought struct{ Text string }

// Calling says that a call has begun, before its arguments are complete.
type Calling struct{ ID, Name string }

// Done ends a stream: the whole message, why it ended, and what it took.
type Done struct {
	Message Message
	Stop    Stop
	Usage   Usage
}

func (Text) event()    {}
func (Thought) event() {}
func (Calling) event() {}
func (Done) event()    {}

// Stop is why an answer ended.
type Stop int

// Why an answer ended.
const (
	StopEnd    Stop = iota // the model was done, or calls tools
	StopLength             // the limit of output, or the window
	StopFilter             // the provider or the model refused
)

// Usage is what a request took, in tokens. Input counts all of the prompt,
// also what came from a cache.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead,omitzero"`
	CacheWrite int `json:"cacheWrite,omitzero"`
	Thought    int `json:"thought,omitzero"`
}

// Add sums two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Thought + v.Thought}
}

// Error is a request that failed. Its text is for a person: which provider,
// what it said, what to do next.
type Error struct {
	Provider   string
	Model      string
	Status     int           // HTTP; 0: none came
	Message    string        // the provider's words, or ours
	Retry      bool          // trying again may help
	RetryAfter time.Duration // what the provider asked for; 0: nothing
	Err        error         // the cause, where there is one
}

func (e *Error) Error() string {
	s := e.Provider
	if e.Model != "" {
		s += "/" + e.Model
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s answered %d: %s", s, e.Status, e.Message)
	}
	return s + ": " + e.Message
}

func (e *Error) Unwrap() error { return e.Err }
