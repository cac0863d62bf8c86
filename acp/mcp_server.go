package acp

import "reflect"

// MCPServer is an MCP server that the client asks the agent to use:
// MCPServerStdio, MCPServerHTTP, MCPServerSSE or UnknownMCPServer.
type MCPServer interface{ mcpServer() }

// MCPServerStdio is a program that the agent starts. It has no type on the wire.
type MCPServerStdio struct {
	Name    string            `json:"name" acp:"required"`
	Command string            `json:"command" acp:"required"`
	Args    List[string]      `json:"args" acp:"strict"`
	Env     List[EnvVariable] `json:"env" acp:"strict"`
	Meta    Meta              `json:"_meta,omitzero"`
}

// MCPServerHTTP is reached over Streamable HTTP.
type MCPServerHTTP struct {
	Tag     tag[MCPServerHTTP] `json:"type"`
	Name    string             `json:"name" acp:"required"`
	URL     string             `json:"url" acp:"required"`
	Headers List[HTTPHeader]   `json:"headers" acp:"strict"`
	Meta    Meta               `json:"_meta,omitzero"`
}

// MCPServerSSE is reached over HTTP with server-sent events.
type MCPServerSSE struct {
	Tag     tag[MCPServerSSE] `json:"type"`
	Name    string            `json:"name" acp:"required"`
	URL     string            `json:"url" acp:"required"`
	Headers List[HTTPHeader]  `json:"headers" acp:"strict"`
	Meta    Meta              `json:"_meta,omitzero"`
}

// UnknownMCPServer has a transport that this version does not know.
type UnknownMCPServer struct{ Unknown }

func (MCPServerStdio) mcpServer()   {}
func (MCPServerHTTP) mcpServer()    {}
func (MCPServerSSE) mcpServer()     {}
func (UnknownMCPServer) mcpServer() {}

func (MCPServerStdio) tag() string { return "stdio" } // accepted, never written
func (MCPServerHTTP) tag() string  { return "http" }
func (MCPServerSSE) tag() string   { return "sse" }

func mcpServerUnion() *union {
	u := taggedUnion[MCPServer]("type", UnknownMCPServer{}, MCPServerStdio{}, MCPServerHTTP{}, MCPServerSSE{})
	u.untagged = reflect.TypeFor[MCPServerStdio]()
	return u
}

// EnvVariable is an environment variable of a process.
type EnvVariable struct {
	Name  string `json:"name" acp:"required"`
	Value string `json:"value" acp:"required"`
	Meta  Meta   `json:"_meta,omitzero"`
}

// HTTPHeader is a header of each request to an MCP server.
type HTTPHeader struct {
	Name  string `json:"name" acp:"required"`
	Value string `json:"value" acp:"required"`
	Meta  Meta   `json:"_meta,omitzero"`
}
