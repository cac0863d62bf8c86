package tools

import (
	"fmt"
	"strings"
	"testing"
)

// sampleCatalogue is what servers of an everyday setup offer.
var sampleCatalogue = map[string][]string{
	"github": {"create_issue: Create a new issue in a GitHub repository", "list_issues: List issues with filters", "add_issue_comment: Add a comment to an issue",
		"create_pull_request: Open a pull request from a branch", "merge_pull_request: Merge a pull request", "get_file_contents: Get the contents of a file in a repository",
		"search_code: Search for code across repositories", "list_commits: List the commits of a branch", "fork_repository: Fork a repository to your account",
		"run_workflow: Run a GitHub Actions workflow (CI)", "create_branch: Create a branch", "star_repository: Star a repository"},
	"postgres": {"query: Run a read-only SQL query against the database", "list_tables: List the tables of the database", "describe_table: Show the columns of a table",
		"explain: Show the plan of a query"},
	"playwright": {"browser_navigate: Open a URL in the browser", "browser_take_screenshot: Take a screenshot of the current page", "browser_click: Click on an element",
		"browser_type: Type text into a field", "browser_snapshot: Accessibility snapshot of the page", "browser_close: Close the page", "browser_wait_for: Wait for text to appear"},
	"slack": {"post_message: Post a message to a channel", "list_channels: List the channels of the workspace", "add_reaction: Add an emoji reaction to a message",
		"get_thread_replies: Get the replies of a thread", "upload_file: Upload a file to a channel"},
	"kubernetes": {"get_pods: List the pods in a namespace", "pod_logs: Get the logs of a pod", "apply_manifest: Apply a manifest to the cluster", "delete_resource: Delete a resource",
		"scale_deployment: Change the number of replicas of a deployment"},
	"linear": {"save_issue: Create or update an issue or ticket", "list_teams: List the teams", "list_projects: List the projects", "get_cycle: Get a cycle of a team"},
	"filesystem": {"read_media_file: Read an image or audio file", "directory_tree: A recursive tree of files and directories", "move_file: Move or rename files",
		"list_allowed_directories: List the directories that may be used"},
	"notion":  {"create_page: Create a page in the workspace", "search_pages: Search pages by title", "append_block: Append blocks to a page", "query_data_source: Query a data source"},
	"jupyter": {"execute_cell: Execute a cell of a notebook", "insert_cell: Insert a cell", "read_notebook: Read a Jupyter notebook", "restart_kernel: Restart the kernel of a notebook"},
	"gmail":   {"send_email: Send an e-mail", "search_email: Search your mail", "create_draft: Create a draft of an e-mail", "list_labels: List the labels"},
	"maps":    {"geocode: Turn an address into coordinates", "directions: Directions from one place to another", "distance_matrix: Distances between places", "weather: The weather at a place"},
	"sentry":  {"list_errors: List the errors of a project", "get_trace: Get a trace by its id", "resolve_error: Mark an error as resolved", "find_releases: Find the releases of a project"},
	"stripe":  {"create_invoice: Create an invoice for a customer", "list_customers: List customers", "create_refund: Refund a payment", "list_subscriptions: List subscriptions"},
}

func sampleSpecs() []*Spec {
	var specs []*Spec
	for server, list := range sampleCatalogue {
		for _, tool := range list {
			name, description, _ := strings.Cut(tool, ": ")
			specs = append(specs, &Spec{ID: MCPPrefix + server + "__" + name, Description: description})
		}
	}
	return specs
}

// TestRankToolsBoundsTheQuery holds that a long query costs no more than a short
// one, and that a short word of many bytes is not taken for any other.
func TestRankToolsBoundsTheQuery(t *testing.T) {
	long := &strings.Builder{}
	for i := range 2000 {
		fmt.Fprintf(long, "word%dx issue ", i)
	}
	if words := queryWords(long.String()); len(words) != 32 || words[1] != "issu" {
		t.Errorf("%d words count: %q", len(words), words)
	}
	index := newToolIndex(sampleSpecs())
	for _, word := range []string{"日本", strings.Repeat("x", 10_000), "zzzz"} {
		if terms := index.expand(word); len(terms) > 0 {
			t.Errorf("%.20s is taken for %v", word, terms)
		}
	}
	if found := rankTools("create issue "+strings.Repeat("and so on ", 1000), sampleSpecs()); len(found) == 0 || !strings.Contains(found[0].ID, "issue") {
		t.Errorf("%d are found", len(found))
	}
}

func TestRankTools(t *testing.T) {
	specs := sampleSpecs()
	if len(specs) < 60 {
		t.Fatalf("only %d tools", len(specs))
	}
	for query, want := range map[string]string{
		"create issue":           "github__create_issue",
		"CREATE_ISSUE":           "github__create_issue",
		"new ticket":             "linear__save_issue",
		"jupyter notebook":       "jupyter__read_notebook",
		"restart kernel":         "jupyter__restart_kernel",
		"take picture of page":   "playwright__browser_take_screenshot",
		"screenshot":             "playwright__browser_take_screenshot",
		"scrnsht":                "playwright__browser_take_screenshot",
		"pgquery":                "postgres__query",
		"run sql":                "postgres__query",
		"db tables":              "postgres__list_tables",
		"k8s logs":               "kubernetes__pod_logs",
		"pods log":               "kubernetes__pod_logs",
		"scale replicas":         "kubernetes__scale_deployment",
		"open pr":                "github__create_pull_request",
		"merge pull request":     "github__merge_pull_request",
		"send mail":              "gmail__send_email",
		"post message to slack":  "slack__post_message",
		"emoji":                  "slack__add_reaction",
		"weather":                "maps__weather",
		"wheather":               "maps__weather",
		"coordinates of address": "maps__geocode",
		"refund":                 "stripe__create_refund",
		"invoces":                "stripe__create_invoice",
		"rename file":            "filesystem__move_file",
		"fork repo":              "github__fork_repository",
		"search code":            "github__search_code",
		"resolving errors":       "sentry__resolve_error",
		"ci workflow":            "github__run_workflow",
		"click element":          "playwright__browser_click",
		"data source":            "notion__query_data_source",
	} {
		found := rankTools(query, specs)
		if len(found) == 0 || found[0].ID != MCPPrefix+want {
			var ids []string
			for _, s := range found[:min(3, len(found))] {
				ids = append(ids, s.ID)
			}
			t.Errorf("%q: got %v, want %s", query, ids, want)
		}
	}
	for _, query := range []string{"", "  ", "the of", "zzzzzz", "\x00", strings.Repeat("x ", 5000)} {
		if found := rankTools(query, specs); len(found) > 0 {
			t.Errorf("%q finds %s", query[:min(9, len(query))], found[0].ID)
		}
	}
}

func TestRankToolsFindsEverySubstring(t *testing.T) {
	specs := sampleSpecs()
	for _, s := range specs {
		for _, text := range []string{s.ID, s.Description} {
			for from := 0; from+3 <= len(text); from += 5 {
				part := text[from:min(from+7, len(text))]
				if strings.TrimSpace(part) != part {
					continue
				}
				found := false
				for _, f := range rankTools(part, specs) {
					found = found || f == s
				}
				if !found {
					t.Errorf("%q does not find %s: %s", part, s.ID, s.Description)
				}
			}
		}
	}
}

// keptBack is a catalogue of its own.
type keptBack struct {
	specs   []*Spec
	brought []string
}

func (k *keptBack) Deferred() []*Spec   { return k.specs }
func (k *keptBack) Bring(ids ...string) { k.brought = append(k.brought, ids...) }

func TestToolSearch(t *testing.T) {
	c := &keptBack{specs: sampleSpecs()}
	ws := &Workspace{Catalog: c}
	r, err := runTool(t, ws, ToolSearch(), `{"query":"list","max_results":3}`)
	if err != nil || len(c.brought) != 3 || strings.Count(r.Text, "\n") != 4 {
		t.Errorf("%v %q, brought %v", err, r.Text, c.brought)
	}
	if r, err = runTool(t, ws, ToolSearch(), `{"query":"list"}`); err != nil || len(c.brought) != 3+maxMatches {
		t.Errorf("%v %q, brought %v", err, r.Text, c.brought)
	}
	if r, err = runTool(t, ws, ToolSearch(), `{"query":"qqqqq"}`); err != nil || !strings.Contains(r.Text, fmt.Sprintf("None of the %d", len(c.specs))) {
		t.Errorf("%v %q", err, r.Text)
	}
	if _, err = runTool(t, ws, ToolSearch(), `{"query":" "}`); err == nil {
		t.Error("an empty query is no error")
	}
}

func BenchmarkRankTools(b *testing.B) {
	specs := sampleSpecs()
	for b.Loop() {
		rankTools("take a picture of the page", specs)
	}
}
