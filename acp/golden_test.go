package acp

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// inSession is a session/update of a session.
func inSession(u SessionUpdate) SessionNotification {
	return SessionNotification{SessionID: "sess-1", Update: u}
}

// textChunk is a chunk of a message.
func textChunk(s string) ContentChunk {
	return ContentChunk{Content: TextContent{Text: s}, MessageID: "msg-1"}
}

var editCall = ToolCallUpdate{
	ToolCallID: "call-1", Title: "Edit src/a.go", Name: "edit", Kind: ToolKindEdit, Status: ToolCallPending,
	Content:   []ToolCallContent{Diff{Path: "/w/src/a.go", OldText: new("a < b\n"), NewText: "a <= b\n"}},
	Locations: []ToolCallLocation{{Path: "/w/src/a.go", Line: new(uint32(1))}},
	RawInput:  json.RawMessage(`{"path":"src/a.go"}`),
}

var goldenOptions = []SessionConfigOption{
	SessionConfigSelect{ID: "model", Name: "Model", Category: CategoryModel, CurrentValue: "p/m",
		Options: SelectGroups{{Group: "p", Name: "Provider", Options: []SessionConfigSelectOption{{Value: "p/m", Name: "M"}}}}},
	SessionConfigSelect{ID: "mode", Name: "Mode", Category: CategoryMode, CurrentValue: "default",
		Options: SelectOptions{{Value: "default", Name: "Default", Description: "Asks before it changes anything"}}},
	SessionConfigBoolean{ID: "fast", Name: "Fast", CurrentValue: true},
}

var goldenModes = &SessionModeState{CurrentModeID: "default", AvailableModes: []SessionMode{{ID: "default", Name: "Default"}}}

// goldens are one value of each type that an agent sends. The name is that of the
// file; def that of the schema's definition.
var goldens = []struct {
	name, def string
	value     any
}{
	{"initialize", "InitializeResponse", InitializeResponse{
		ProtocolVersion: ProtocolVersion,
		AgentCapabilities: AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: PromptCapabilities{Image: true, EmbeddedContext: true},
			MCPCapabilities:    MCPCapabilities{HTTP: true, SSE: true},
			SessionCapabilities: SessionCapabilities{List: &SessionListCapabilities{}, Delete: &SessionDeleteCapabilities{},
				AdditionalDirectories: &SessionAdditionalDirectoriesCapabilities{}, Resume: &SessionResumeCapabilities{}, Close: &SessionCloseCapabilities{}},
			Auth: AgentAuthCapabilities{Logout: &LogoutCapabilities{}},
		},
		AuthMethods: []AuthMethod{
			AuthMethodAgent{ID: "key", Name: "API key", Description: "From the environment"},
			AuthMethodTerminal{ID: "login", Name: "Log in", Args: []string{"login"}, Env: map[string]string{"A": "b"},
				Meta: Meta{"terminal-auth": map[string]any{"label": "Log in"}}},
		},
		AgentInfo: &Implementation{Name: "agent", Title: "Agent", Version: "1.0.0"},
	}},
	{"initialize_least", "InitializeResponse", InitializeResponse{ProtocolVersion: ProtocolVersion}},
	{"authenticate", "AuthenticateResponse", AuthenticateResponse{}},
	{"logout", "LogoutResponse", LogoutResponse{}},
	{"session_new", "NewSessionResponse", NewSessionResponse{SessionID: "sess-1", Modes: goldenModes, ConfigOptions: goldenOptions}},
	{"session_new_least", "NewSessionResponse", NewSessionResponse{SessionID: "sess-1"}},
	{"session_load", "LoadSessionResponse", LoadSessionResponse{Modes: goldenModes, ConfigOptions: goldenOptions}},
	{"session_resume", "ResumeSessionResponse", ResumeSessionResponse{Modes: goldenModes, ConfigOptions: []SessionConfigOption{}}},
	{"session_list", "ListSessionsResponse", ListSessionsResponse{NextCursor: "c-2", Sessions: []SessionInfo{
		{SessionID: "sess-1", Cwd: "/w", AdditionalDirectories: []string{"/x"}, Title: "Fix <it>", UpdatedAt: "2026-01-02T03:04:05Z"},
		{SessionID: "sess-2", Cwd: "/w"},
	}}},
	{"session_list_empty", "ListSessionsResponse", ListSessionsResponse{}},
	{"session_delete", "DeleteSessionResponse", DeleteSessionResponse{}},
	{"session_close", "CloseSessionResponse", CloseSessionResponse{}},
	{"session_set_mode", "SetSessionModeResponse", SetSessionModeResponse{}},
	{"session_set_config_option", "SetSessionConfigOptionResponse", SetSessionConfigOptionResponse{ConfigOptions: goldenOptions}},
	{"session_prompt", "PromptResponse", PromptResponse{StopReason: StopEndTurn}},

	{"user_message_chunk", "SessionNotification", inSession(UserMessageChunk{ContentChunk: textChunk("hello")})},
	{"agent_message_chunk", "SessionNotification", inSession(AgentMessageChunk{ContentChunk: textChunk("a < b && c > d\u2028é")})},
	{"agent_thought_chunk", "SessionNotification", inSession(AgentThoughtChunk{ContentChunk: textChunk("hm")})},
	{"chunk_of_each_content", "SessionNotification", inSession(AgentMessageChunk{ContentChunk: ContentChunk{Content: EmbeddedResource{
		Resource: TextResourceContents{URI: "file:///w/a", Text: "x", MimeType: "text/plain"}, Annotations: &Annotations{Audience: []Role{RoleUser}, Priority: new(0.0)}}}})},
	{"tool_call", "SessionNotification", inSession(ToolCall{
		ToolCallID: "call-1", Title: "Read src/a.go", Name: "read", Kind: ToolKindRead, Status: ToolCallPending,
		Locations: []ToolCallLocation{{Path: "/w/src/a.go", Line: new(uint32(0))}}, RawInput: json.RawMessage(`{"path":"src/a.go"}`),
		Meta: Meta{"terminal_info": map[string]any{"terminal_id": "t"}},
	})},
	{"tool_call_least", "SessionNotification", inSession(ToolCall{ToolCallID: "call-1", Title: "Think"})},
	{"tool_call_update", "SessionNotification", inSession(SessionToolCallUpdate{ToolCallUpdate: ToolCallUpdate{
		ToolCallID: "call-1", Status: ToolCallCompleted,
		Content: []ToolCallContent{
			Content{Content: TextContent{Text: "```\nout\n```"}},
			Content{Content: ImageContent{Data: "aGk=", MimeType: "image/png"}},
			Content{Content: AudioContent{Data: "aGk=", MimeType: "audio/wav"}},
			Content{Content: ResourceLink{URI: "file:///w/a", Name: "a", Size: new(int64(0))}},
			Content{Content: EmbeddedResource{Resource: BlobResourceContents{URI: "file:///w/b", Blob: "aGk="}}},
			Diff{Path: "/w/new", NewText: ""},
			Terminal{TerminalID: "term-1"},
		},
		RawOutput: json.RawMessage(`{"ok":true}`),
	}})},
	{"tool_call_inSessioncleared", "SessionNotification", inSession(SessionToolCallUpdate{ToolCallUpdate: ToolCallUpdate{
		ToolCallID: "call-1", Status: ToolCallFailed, Content: []ToolCallContent{}, Locations: []ToolCallLocation{}}})},
	{"plan", "SessionNotification", inSession(Plan{Entries: []PlanEntry{{Content: "Look", Priority: PlanHigh, Status: PlanCompleted}}})},
	{"plan_empty", "SessionNotification", inSession(Plan{})},
	{"available_commands_update", "SessionNotification", inSession(AvailableCommandsUpdate{AvailableCommands: []AvailableCommand{
		{Name: "compact", Description: "Shorten the conversation"},
		{Name: "review", Description: "Review", Input: &AvailableCommandInput{Hint: "what to look at"}},
	}})},
	{"current_mode_update", "SessionNotification", inSession(CurrentModeUpdate{CurrentModeID: "plan"})},
	{"config_option_update", "SessionNotification", inSession(ConfigOptionUpdate{ConfigOptions: goldenOptions})},
	{"session_info_update", "SessionNotification", inSession(SessionInfoUpdate{Title: "Fix it", UpdatedAt: "2026-01-02T03:04:05Z"})},
	{"usage_update", "SessionNotification", inSession(UsageUpdate{Used: 0, Size: 200000, Cost: &Cost{Amount: 0.25, Currency: "USD"}})},
	{"notice", "SessionNotification", inSession(Notice{Severity: NoticeWarning, Title: "No sandbox", Description: "bwrap is missing"})},
	{"compaction_update", "SessionNotification", inSession(CompactionUpdate{CompactionID: "k", Status: CompactionCompleted, Summary: []ContentBlock{TextContent{Text: "so far"}}})},
	{"compaction_summary_chunk", "SessionNotification", inSession(CompactionSummaryChunk{CompactionID: "k", Content: TextContent{Text: "so"}})},

	{"request_permission", "RequestPermissionRequest", RequestPermissionRequest{SessionID: "sess-1", ToolCall: editCall, Options: []PermissionOption{
		{OptionID: "once", Name: "Allow once", Kind: PermissionAllowOnce}, {OptionID: "always", Name: "Always allow `go test *`", Kind: PermissionAllowAlways},
		{OptionID: "no", Name: "Reject", Kind: PermissionRejectOnce}, {OptionID: "never", Name: "Never", Kind: PermissionRejectAlways},
	}}},
	{"read_text_file", "ReadTextFileRequest", ReadTextFileRequest{SessionID: "sess-1", Path: "/w/a", Line: new(uint32(1)), Limit: new(uint32(2))}},
	{"write_text_file", "WriteTextFileRequest", WriteTextFileRequest{SessionID: "sess-1", Path: "/w/a", Content: ""}},
	{"terminal_create", "CreateTerminalRequest", CreateTerminalRequest{SessionID: "sess-1", Command: "bash", Args: []string{"--noprofile", "--norc", "/tmp/s.sh"},
		Env: []EnvVariable{{Name: "A", Value: "b"}}, Cwd: "/w", OutputByteLimit: new(uint64(1048576))}},
	{"terminal_output", "TerminalOutputRequest", TerminalOutputRequest{SessionID: "sess-1", TerminalID: "term-1"}},
	{"terminal_wait_for_exit", "WaitForTerminalExitRequest", WaitForTerminalExitRequest{SessionID: "sess-1", TerminalID: "term-1"}},
	{"terminal_kill", "KillTerminalRequest", KillTerminalRequest{SessionID: "sess-1", TerminalID: "term-1"}},
	{"terminal_release", "ReleaseTerminalRequest", ReleaseTerminalRequest{SessionID: "sess-1", TerminalID: "term-1"}},
	{"elicitation_form", "CreateElicitationRequest", ElicitationFormMode{ElicitationScope: ElicitationScope{SessionID: "sess-1", ToolCallID: "call-1"}, Message: "Which hunks?",
		RequestedSchema: ElicitationSchema{Title: "Hunks", Required: []string{"z"}, Properties: ElicitationProperties{
			{"z", BooleanPropertySchema{Title: "Lines <1-3>", Default: new(false)}},
			{"a", StringPropertySchema{Title: "Why", OneOf: []EnumOption{{Const: "x", Title: "X"}}}},
			{"m", MultiSelectPropertySchema{Items: TitledMultiSelectItems{AnyOf: []EnumOption{{Const: "x", Title: "X"}}}}},
			{"s", MultiSelectPropertySchema{Items: StringMultiSelectItems{Enum: []string{"x"}}, MinItems: new(uint64(0))}},
			{"n", NumberPropertySchema{Minimum: new(0.0)}},
			{"i", IntegerPropertySchema{Maximum: new(int64(9))}},
		}}}},
	{"elicitation_url", "CreateElicitationRequest", ElicitationURLMode{ElicitationScope: ElicitationScope{RequestID: NewRequestID([]byte("4"))}, Message: "Log in", ElicitationID: "e", URL: "https://example.com/?a=b&c=d"}},
	{"elicitation_complete", "CompleteElicitationNotification", CompleteElicitationNotification{ElicitationID: "e"}},
	{"cancel_request", "CancelRequestNotification", CancelRequestNotification{RequestID: NewRequestID([]byte(`"call-7"`))}},
}

func TestGolden(t *testing.T) {
	for _, test := range goldens {
		t.Run(test.name, func(t *testing.T) {
			line, err := marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := marshal(readValid(t, test.def, line)); err != nil || !bytes.Equal(again, line) {
				t.Errorf("read and written again: %s, %v", again, err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, line, "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			path := filepath.Join("..", "testdata", "acp", "golden", test.name+".json")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (-update writes it)", err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got %s\nwant %s", got.Bytes(), want)
			}
		})
	}
}

// Every variant of a session update, and every message that an agent sends, has
// a golden file.
func TestGoldenIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range goldens {
		seen[test.def] = true
		if n, ok := test.value.(SessionNotification); ok {
			seen[n.Update.(tagged).tag()] = true
		}
	}
	for name := range unions()[reflect.TypeFor[SessionUpdate]()].variants {
		if !seen[name] {
			t.Errorf("update %s has no golden file", name)
		}
	}
	for _, name := range fromAgent(t) {
		if !seen[name] {
			t.Errorf("%s has no golden file", name)
		}
	}
}
