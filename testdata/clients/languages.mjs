// What an editor shows of language servers, with a real gopls on a project of Go: a
// name looked up, a rename through five files that is asked about once, an edit that
// breaks its callers and one that mends them, files that a command changed, and the
// user's own commands. Where CARDS is set, what the user reads is printed.
import * as acp from "@agentclientprotocol/sdk";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Place, lasting, loaded, transcript } from "./wire.mjs";

const M = acp.methods;

const FILES = {
  "go.mod": "module example.com/shop\n\ngo 1.22\n",
  "store.go": "package shop\n\n// Store holds what is sold.\ntype Store struct{ items []string }\n\n// Add puts an item into the store.\nfunc (s *Store) Add(item string) int {\n\ts.items = append(s.items, item)\n\treturn len(s.items)\n}\n",
  "a.go": "package shop\n\nfunc a(s *Store) int { return s.Add(\"a\") }\n",
  "b.go": "package shop\n\nvar _, _ = a, b\n\nfunc b(s *Store) int { return s.Add(\"日本🙂\") }\n",
  "c/c.go": "package c\n\nimport \"example.com/shop\"\n\nfunc C(s *shop.Store) int { return s.Add(\"c\") }\n",
  "d/d.go": "package d\n\nimport \"example.com/shop\"\n\nvar D = (&shop.Store{}).Add(\"d\")\n",
};

const tool = (name, args) => ({ tool: name, args });
const says = (when, calls, text = "Done.") => ({ when, loop: "all", replies: [calls, [{ text }]] });
export const script = () => [
  says("^LOOK", [
    tool("lsp", { operation: "definition", path: "c/c.go", symbol: "Add" }), tool("lsp", { operation: "references", path: "store.go", symbol: "Store.Add" }),
    tool("lsp", { operation: "hover", path: "a.go", symbol: "Add" }), tool("lsp", { operation: "definition", path: "a.go", symbol: "Nowhere" }),
  ]),
  says("^RENAME", [tool("lsp", { operation: "rename", path: "store.go", symbol: "Store.Add", new_name: "Put" })]),
  says("^BREAK", [tool("edit", { path: "store.go", old_string: "(item string) int", new_string: "(item string, n int) int" })]),
  says("^MEND", [tool("edit", { path: "store.go", old_string: "(item string, n int) int", new_string: "(item string) int" })]),
  says("^COMMAND", [tool("bash", { command: "mv a.go e.go && printf 'package shop\\n\\nfunc a(s *Store) int { return s.Pot(\"a\") }\\n' > e.go" })]),
  says("^PROBLEMS", [tool("lsp", { operation: "diagnostics", path: "e.go" }), tool("lsp", { operation: "servers" })]),
  { loop: true, replies: [[{ text: "Hello there." }]] },
];
export const pages = () => ({});

// lay makes the project, and a home whose settings let a slow machine take its time.
export function lay() {
  const place = new Place("languages", FILES);
  fs.mkdirSync(path.join(place.home, ".config/acp-agent"), { recursive: true });
  fs.writeFileSync(path.join(place.home, ".config/acp-agent/config.json"), JSON.stringify({ lsp: { diagnosticsWaitMs: 60000, requestTimeoutMs: 60000 } }));
  return place;
}

const texts = (call) => (call.content ?? []).map((c) => c.content?.text ?? "").join("\n");
function cards(e) {
  if (process.env.CARDS) for (const c of e.tools()) console.log(`----- ${c.kind} ${c.title} [${c.statuses}] ${JSON.stringify(c.locations)}\n${texts(c)}`);
  return e.tools().map((c) => {
    assert.match(c.status, /^(completed|failed)$/, `${c.title} is left ${c.status}`);
    return `${c.status === "failed" ? "x " : ""}${c.kind} ${c.title}`;
  });
}
const initialize = (e) => e.cx.request(M.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: e.caps, clientInfo: { name: "languages", version: "1" } });
const session = async (e) => { e.id = (await e.cx.request(M.agent.session.new, { cwd: e.place.ws, mcpServers: [] })).sessionId; };

export const DAY = {
  async "no server without trust"(e) {
    await initialize(e);
    await session(e);
    e.answers.push("reject_once");
    await e.turn("LOOK");
    const [{ toolCall }] = e.permissions();
    assert.equal(toolCall.title, "Trust this folder");
    assert.match(texts(toolCall), /Language servers, which are started.*\ngopls \(/s);
    assert.deepEqual(cards(e).slice(1).map((c) => c.slice(0, 2)), ["x ", "x ", "x ", "x "]);
    assert.match(texts(e.tools()[1]), /not trusted, so no language server is started in it; `acp-agent trust`/);
    assert.deepEqual(e.place.processes().filter((p) => /gopls/.test(p.line)), []);
  },
  async "names, looked up"(e) {
    await session(e);
    e.answers.push("allow_always");
    await e.turn("LOOK");
    const place = (file, line) => ({ path: e.place.file(file), line });
    assert.deepEqual(cards(e), [
      "other Trust this folder", "search Definition of Add in c/c.go", "search References to Store.Add in store.go",
      "search What is Add in a.go", "x search Definition of Nowhere in a.go"]);
    const [, definition, references, hover, nowhere] = e.tools();
    assert.deepEqual(definition.locations, [place("store.go", 7)]);
    assert.match(texts(definition), /^store.go:7:17 func \(s \*Store\) Add\(item string\) int \{$/m);
    assert.deepEqual(references.locations, [place("store.go", 7), place("a.go", 3), place("b.go", 5), place("c/c.go", 5), place("d/d.go", 5)]);
    assert.match(texts(hover), /Add puts an item into the store/);
    assert.match(texts(nowhere), /Nowhere does not stand in the file/);
  },
  async "a rename through five files"(e) {
    await e.turn("RENAME");
    assert.deepEqual(cards(e), ["edit Rename Add to Put in 5 files"]);
    const [{ toolCall }, ...more] = e.permissions();
    assert.deepEqual(more, [], "it asks once");
    const diffs = toolCall.content.filter((c) => c.type === "diff");
    assert.deepEqual(diffs.map((c) => path.relative(e.place.ws, c.path)), ["a.go", "b.go", "c/c.go", "d/d.go", "store.go"]);
    for (const c of diffs) assert.equal(fs.readFileSync(c.path, "utf8"), c.newText);
    assert.match(texts(e.tools()[0]), /No new problems \(gopls\)/);
  },
  async "an edit that breaks its callers"(e) {
    await e.turn("BREAK");
    assert.deepEqual(cards(e), ["edit Edit store.go"]);
    const [edit] = e.tools(), lines = [...texts(edit).matchAll(/^(\S+) error WrongArgCount not enough arguments in call to /gm)].map((m) => m[1]);
    assert.deepEqual(lines, ["a.go:3:40", "b.go:5:42", "c/c.go:5:45", "d/d.go:5:32"]);
    assert.deepEqual(edit.locations.map((l) => path.relative(e.place.ws, l.path)), ["store.go", "a.go", "b.go", "c/c.go", "d/d.go"]);
    assert.match(JSON.stringify(e.modelRequests().at(-1).messages.at(-1)), /New problems since this change.*d\/d.go:5:32/s, "the model is told the same");
  },
  async "and one that mends them"(e) {
    await e.turn("MEND");
    cards(e);
    assert.match(texts(e.tools()[0]), /Fixed by this change \(gopls\):\na.go:3:40 .*\nb.go:5:42 .*\nc\/c.go:5:45 .*\nd\/d.go:5:32 /);
  },
  async "what a command changed"(e) {
    await e.turn("COMMAND");
    await e.turn("PROBLEMS");
    assert.deepEqual(cards(e), ["read Problems of e.go", "read Language servers"]);
    const [problems, servers] = e.tools().map(texts);
    assert.match(problems, /^e.go:3:33 error MissingFieldOrMethod /m);
    assert.match(servers, /^gopls v[\d.]+ for go.*running/m);
  },
  async "the user's commands"(e) {
    const before = e.modelRequests().length;
    for (const [command, want] of Object.entries({
      "/lsp": /^gopls v.*running/m, "/def Put": /^store.go:7:17 /m, "/refs Store": /^c\/c.go:5:16 /m, "/symbols Stor": /^store.go:4:6 struct Store/m,
      "/symbols store.go": /^struct Store .*\n  field items/m, "/diag": /^e.go:3:33 error/m, "/diag store.go": /No problems/, "/def Nowhere": /no symbol of the project is named Nowhere/,
    })) {
      await e.turn(command);
      if (process.env.CARDS) console.log(`===== ${command}\n${e.text()}`);
      assert.match(e.text(), want);
    }
    assert.equal(e.modelRequests().length, before, "without the model");
  },
};

export const MORROW = {
  async "load shows what was shown"(e) {
    await initialize(e);
    const shown = await loaded(e, M.agent.session.load);
    assert.deepEqual(lasting(shown), lasting(transcript(e.past, e.id).filter((s) => s.who !== "thought")).slice(-shown.length));
  },
};
