// What an editor shows of the tools that the working day in sdk.mjs does not
// reach: sub-agents, questions, background work, files that are no text, patches,
// pages of the web, hooks, skills; and a cancel in the midst of each. After each
// turn every card reads well and has ended, and a load shows what was shown.
import * as acp from "@agentclientprotocol/sdk";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { CAPS } from "./editor.mjs";
import { Place, lasting, loaded, transcript } from "./wire.mjs";

const M = acp.methods;

// SETS are the capabilities of the editors that get to see the scenes.
export const SETS = {
  plain: {}, // titles and texts are all there is
  forms: CAPS.all,
  display: { ...CAPS.all, _meta: { terminal_output: true } }, // shows terminals that it does not run
};

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
const NOTEBOOK = JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: { kernelspec: { language: "python" } }, cells: [
  { cell_type: "markdown", metadata: {}, source: ["# Sums\n"] },
  { cell_type: "code", metadata: {}, execution_count: 1, source: ["1 + 1"], outputs: [{ output_type: "execute_result", execution_count: 1, metadata: {}, data: { "text/plain": ["2"] } }] },
] });

// pdf is a file of one page with a line of text.
function pdf(line) {
  const stream = `BT /F1 24 Tf 72 700 Td (${line}) Tj ET`;
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"];
  let text = "%PDF-1.4\n";
  const at = objects.map((o, i) => { const begins = text.length; text += `${i + 1} 0 obj\n${o}\nendobj\n`; return begins; });
  const table = text.length;
  return `${text}xref\n0 6\n0000000000 65535 f \n${at.map((n) => `${String(n).padStart(10, "0")} 00000 n \n`).join("")}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
}

const PATCH = `diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/old.txt b/lib/renamed.txt
rename from old.txt
rename to lib/renamed.txt
--- a/old.txt
+++ b/lib/renamed.txt
@@ -1,2 +1,2 @@
 stays
-goes
+comes
--- /dev/null
+++ b/lib/made.txt
@@ -0,0 +1 @@
+made
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 alpha
-beta
+gamma
`;

const QUESTIONS = [
  { question: "Which database?", header: "Database", options: [{ label: "SQLite", description: "one file" }, { label: "PostgreSQL" }] },
  { question: "Which checks?", multi_select: true, options: [{ label: "lint" }, { label: "tests" }] },
  { question: "What is it called?" },
];

const SERVER = `node -e 'const s = require("http").createServer((q, r) => r.end("hi")); s.listen(0, "127.0.0.1", () => console.log("listening on " + s.address().port))'`;

const tool = (name, args) => ({ tool: name, args });
// script is what the model says; the pages are below that address.
export const script = (pages) => [
  { when: "CHILD-ONE", replies: [[{ text: "I look first. " }, tool("read", { path: "a.txt" })], [tool("bash", { command: "touch by-child" })], [tool("read", { path: "missing.txt" })], [{ text: "a.txt says **alpha**." }]] },
  { when: "CHILD-READS", loop: "all", replies: [[tool("glob", { pattern: "**/*.txt" })], [{ text: "There are texts." }]] },
  { when: "CHILD-WRITES", loop: "all", replies: [[tool("write", { path: "child.txt", content: "by a child\n" })], [{ text: "Written." }]] },
  { when: "CHILD-HANGS", loop: "all", replies: [[tool("read", { path: "a.txt" })], [{ text: "thinking" }, { hang: true }]] },
  { when: "DELEGATE", replies: [[tool("task", { subagent_type: "general", prompt: "CHILD-ONE look at a.txt, then touch a file.\nSay what you found." })], [{ text: "It says alpha." }]] },
  { when: "PAIR", loop: "all", replies: [[tool("task", { subagent_type: "explore", prompt: "CHILD-READS list the texts" }), tool("task", { subagent_type: "general", prompt: "CHILD-WRITES a file" })], [{ text: "Both are done." }]] },
  { when: "LONG", replies: [[tool("task", { subagent_type: "general", prompt: "CHILD-HANGS" })]] },
  { when: "ASK", loop: "all", replies: [[tool("question", { questions: QUESTIONS })], [{ text: "Good." }]] },
  { when: "SERVE", replies: [[tool("bash", { command: SERVER, background: true, description: "Start the dev server" })], [{ text: "It is up." }]] },
  { when: "OUTPUT", replies: [[tool("task_output", { id: "bash_1" })], [{ text: "It listens." }]] },
  { when: "WAIT", replies: [[tool("task_output", { id: "bash_1", wait_ms: 60000 })]] },
  { when: "STOP", replies: [[tool("task_stop", { id: "bash_1" }), tool("task_output", { id: "bash_1" }), tool("task_stop", { id: "bash_9" })], [{ text: "Stopped." }]] },
  { when: "FILES", replies: [[tool("read", { path: "dot.png" }), tool("read", { path: "page.pdf" }), tool("read", { path: "sums.ipynb" }), tool("read", { path: "a.txt", offset: 2, limit: 1 }), tool("read", { path: "blob.bin" })], [{ text: "All read." }]] },
  { when: "^PATCH", replies: [[tool("apply_patch", { patch: PATCH })], [{ text: "Patched." }]] },
  { when: "BADPATCH", replies: [[tool("apply_patch", { patch: PATCH })], [{ text: "It does not fit." }]] },
  { when: "FETCH", replies: [[tool("web_fetch", { url: `${pages}/page` }), tool("web_fetch", { url: `${pages}/none` }), tool("web_fetch", { url: "http://127.0.0.1:9/" })], [{ text: "Fetched." }]] },
  { when: "SLOW", replies: [[tool("web_fetch", { url: `${pages}/slow` })]] },
  { when: "DENIED", replies: [[tool("bash", { command: "touch denied" })], [{ text: "Then not." }]] },
  { when: "CHECKED", loop: "all", replies: [[tool("bash", { command: "touch checked" })], [{ text: "Done." }]] },
  { when: "/deploy", replies: [[{ text: "Deploying. " }, tool("skill", { name: "release" })], [{ text: "Deployed." }]] },
  { when: "SEARCH", replies: [[tool("grep", { pattern: "alpha" }), tool("grep", { pattern: "omega", include: "*.txt" }), tool("glob", { pattern: "**/*.zip" }), tool("grep", { pattern: "(" })], [{ text: "Found." }]] },
  { loop: true, replies: [[{ text: "Hello there." }]] },
];

export const pages = () => ({ "/page": { body: "<html><head><title>T</title></head><body><h1>Release notes</h1><p>Version <b>2</b> is out.</p></body></html>" }, "/none": { status: 404, body: "nothing" }, "/slow": { hang: true } });

const skill = (name, more = "") => `---\nname: ${name}\ndescription: ${name}s the project\n${more}---\nRun ${name}.\n`;
const HOOK = `input=$(cat); case "$input" in *"touch denied"*) echo "no touching of that name" >&2; exit 2;; *"touch checked"*) echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"it is late"}}';; esac`;

// lay makes a project, and a home folder with a configuration, for pages at the port.
export function lay(port) {
  const place = new Place("scenes", {
    "a.txt": "alpha\nbeta\n", "gone.txt": "gone\n", "old.txt": "stays\ngoes\n", "dot.png": PNG, "page.pdf": pdf("Hello from a page"),
    "sums.ipynb": NOTEBOOK, "blob.bin": Buffer.from([0, 1, 2, 0, 255, 0]), ".gitignore": "build/\n", "build/out.txt": "alpha\n",
  });
  fs.symlinkSync("nowhere", place.file("broken-link"));
  const home = (file, text) => { fs.mkdirSync(path.dirname(path.join(place.home, file)), { recursive: true }); fs.writeFileSync(path.join(place.home, file), text); };
  home(".agents/skills/deploy/SKILL.md", skill("deploy"));
  home(".agents/skills/release/SKILL.md", skill("release"));
  home(".config/acp-agent/config.json", JSON.stringify({ web: { allowPrivate: [`127.0.0.1:${port}`] }, hooks: { preToolUse: [{ command: HOOK, match: "bash" }] } }));
  return place;
}

// cards lists the calls of the turn as an editor shows them in the end: no card is
// left open, and each title is one short line of visible characters.
function cards(e) {
  return e.tools().map((c) => {
    assert.match(c.status, /^(completed|failed)$/, `${c.title} is left ${c.status}`);
    assert.match(c.title, /^[^\p{C}]{1,120}$/u);
    return `${c.status === "failed" ? "x " : ""}${c.kind} ${c.title}`;
  });
}
const texts = (call) => (call.content ?? []).map((c) => c.content?.text ?? "").join("\n");
// text is what the card says whose title is like that.
const text = (e, re) => texts(e.tools().find((c) => re.test(c.title)));

const initialize = (e) => e.cx.request(M.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: e.caps, clientInfo: { name: "scenes", version: "1" } });
const waiting = (u) => u.status === "in_progress";

export const DAY = {
  async "a new session"(e) {
    await initialize(e);
    e.id = (await e.cx.request(M.agent.session.new, { cwd: e.place.ws, mcpServers: [] })).sessionId;
    const { update } = (await e.saw("the commands", (u) => u.sessionUpdate === "available_commands_update")).params;
    assert.ok(update.availableCommands.some((c) => c.name === "deploy" && c.description === "deploys the project"));
  },
  async "a sub-agent"(e) {
    await e.turn("DELEGATE");
    assert.deepEqual(cards(e), ["think general: CHILD-ONE look at a.txt, then touch a file. Say what you found.", "execute general: touch by-child"]);
    assert.match(text(e, /CHILD-ONE/), /✓ Read a.txt\n✓ touch by-child\n✗ Read missing.txt\n```\n\na.txt says \*\*alpha\*\*/);
    const [{ toolCall }] = e.permissions();
    assert.equal(toolCall.title, "general: touch by-child");
    assert.match(texts(toolCall), /Why this asks: .*The sub-agent general asks for this. Its task:.*CHILD-ONE look/s);
    assert.equal(e.text(), "It says alpha.", "its words are not the agent's");
  },
  async "two side by side"(e) {
    await e.turn("PAIR");
    assert.deepEqual(cards(e), ["think explore: CHILD-READS list the texts", "think general: CHILD-WRITES a file", "edit general: Write child.txt"]);
    assert.equal(e.permissions()[0].toolCall.content[0].type, "diff");
  },
  async "two, one rejected"(e) {
    e.answers.push("reject_once");
    await e.turn("PAIR again");
    assert.deepEqual(cards(e), ["think explore: CHILD-READS list the texts", "think general: CHILD-WRITES a file", "x edit general: Write child.txt"]);
    assert.match(text(e, /Write child/), /Rejected; nothing was done/);
  },
  async "a cancel in a sub-agent"(e) {
    const answer = e.prompt("LONG");
    await e.saw("its step", (u) => /✓ Read a.txt/.test(JSON.stringify(u.content)));
    await e.cancel(answer);
    assert.deepEqual(cards(e), ["x think general: CHILD-HANGS"]);
  },
  async "a cancel in a question of a sub-agent"(e) {
    e.answers.push("never");
    const answer = e.prompt("PAIR once more");
    await e.seen("the question", (m) => m.method === "session/request_permission");
    await e.cancel(answer);
    assert.equal(cards(e).at(-1), "x edit general: Write child.txt");
  },
  async "a question answered"(e) {
    const content = { question_1: "PostgreSQL", question_2: ["lint", "tests"], question_3: "Zoë" };
    if (e.caps.elicitation) e.forms.push({ action: "accept", content });
    await e.turn("ASK one");
    assert.deepEqual(cards(e), ["think Ask: Which database? (and 2 more)"]);
    if (e.caps.elicitation) {
      assert.match(text(e, /Ask/), /Which database\?\n  → PostgreSQL\n\nWhich checks\?\n  → lint\n  → tests\n\nWhat is it called\?\n  → Zoë/);
      return;
    }
    assert.deepEqual(e.permissions().map((p) => p.toolCall.title), ["Which database?", "Which checks? (several may be chosen, one at a time)", "Which checks? (chosen so far: lint)"]);
    assert.match(text(e, /Ask/), /→ SQLite.*→ lint\n  → tests.*→ no answer: this editor asks for no text/s);
  },
  async "a question declined"(e) {
    if (e.caps.elicitation) e.forms.push({ action: "decline" });
    else e.answers.push("reject_once", "reject_once");
    await e.turn("ASK two");
    assert.deepEqual(cards(e), ["think Ask: Which database? (and 2 more)"]);
    assert.match(text(e, /Ask/), /Which database\?\n  → no answer: the user declined/);
  },
  async "a cancel in a question"(e) {
    if (!e.caps.elicitation) e.answers.push("never");
    const answer = e.prompt("ASK three");
    await e.seen("the question", (m) => /request_permission|elicitation/.test(m.method));
    await e.cancel(answer);
    assert.deepEqual(cards(e), ["x think Ask: Which database? (and 2 more)"]);
    assert.match(text(e, /Ask/), /Which database\?.*cancelled/s, "what was asked stays to be read");
  },
  async "a server in the background"(e) {
    await e.turn("SERVE");
    const [{ toolCall }] = e.permissions();
    assert.match(texts(toolCall), /createServer.*The model's description: `Start the dev server`/s);
    if (e.hasTerminals && !e.caps._meta) assert.equal(e.tools()[0].content[0].type, "terminal");
    else assert.match(texts(e.tools()[0]), /^```sh\nnode -e .*address\(\).port\)\)'\n```\n\nStarted in the background as `bash_1`.\n\n```\n.*\(running/s);
    await e.turn("OUTPUT");
    assert.match(cards(e)[0], /^read Output of bash_1: node -e .*port\)\)'$/);
  },
  async "a cancel while its output is waited for"(e) {
    const answer = e.prompt("WAIT");
    await e.saw("the wait", waiting);
    await e.cancel(answer);
    assert.match(cards(e)[0], /^x read Output of bash_1/);
  },
  async "it is stopped"(e) {
    await e.turn("STOP");
    const [stopped, output, wrong] = cards(e);
    assert.match(stopped, /^other Stop bash_1: node/);
    assert.match(output, /^read Output of bash_1: node/);
    assert.equal(wrong, "x other Stop bash_9");
    assert.match(text(e, /^Output/), /\(stopped\)/);
  },
  async "files that are no text"(e) {
    await e.turn("FILES");
    assert.deepEqual(cards(e), ["read Read dot.png", "read Read page.pdf", "read Read sums.ipynb", "read Read a.txt (line 2)", "x read Read blob.bin"]);
    const [image, , , part, binary] = e.tools();
    assert.equal(image.content[0].content.mimeType, "image/png");
    assert.equal(part.locations[0].line, 2);
    assert.match(texts(binary), /blob.bin is a binary file \(6 bytes/);
    assert.match(JSON.stringify(e.modelRequests().at(-1).messages), /Hello from a page.*# Sums.*1 \+ 1/s);
  },
  async "a patch of four files"(e) {
    await e.turn("PATCH");
    const title = "Patch lib/made.txt, a.txt, delete gone.txt, move old.txt to lib/renamed.txt";
    assert.deepEqual(cards(e), [`edit ${title}`]);
    const [{ toolCall }] = e.permissions();
    assert.equal(toolCall.title, title);
    assert.deepEqual(toolCall.content.filter((c) => c.type === "diff").map((c) => [path.relative(e.place.ws, c.path), c.oldText, c.newText]),
      [["gone.txt", "gone\n", ""], ["lib/renamed.txt", "stays\ngoes\n", "stays\ncomes\n"], ["lib/made.txt", undefined, "made\n"], ["a.txt", "alpha\nbeta\n", "alpha\ngamma\n"]]);
    assert.match(texts(toolCall), /delete gone.txt\nmove old.txt to lib\/renamed.txt/);
    assert.deepEqual([e.place.text("lib/renamed.txt"), e.place.has("gone.txt"), e.place.has("old.txt")], ["stays\ncomes\n", false, false]);
  },
  async "a patch that does not fit"(e) {
    await e.turn("BADPATCH");
    assert.deepEqual([cards(e), e.permissions()], [["x edit Patch files"], []]);
  },
  async "pages"(e) {
    await e.turn("FETCH");
    assert.deepEqual(cards(e).map((c) => c.replace(/:\d+\/scenes-\w+/, "")), ["fetch Fetch 127.0.0.1/page", "x fetch Fetch 127.0.0.1/none", "x fetch Fetch 127.0.0.1:9/"]);
    assert.deepEqual(e.permissions()[0].options.map((o) => o.kind), ["allow_once", "allow_always", "reject_once"]);
    assert.match(text(e, /page$/), /# Release notes\s+Version \*\*2\*\* is out/);
    assert.match(text(e, /none$/), /answered 404/);
    assert.match(text(e, /:9/), /denied: 127.0.0.1 is a loopback address.*web.allowPrivate/);
  },
  async "a cancel in a page"(e) {
    const answer = e.prompt("SLOW");
    await e.saw("the wait", waiting);
    await e.cancel(answer);
    assert.match(cards(e)[0], /^x fetch Fetch .*slow$/);
  },
  async "hooks"(e) {
    await e.turn("DENIED");
    assert.deepEqual([cards(e), e.permissions()], [["x execute touch denied"], []]);
    assert.match(text(e, /denied/), /denied: a hook refuses this: no touching of that name/);
    await e.turn("CHECKED");
    assert.deepEqual(cards(e), ["execute touch checked"]);
    assert.match(texts(e.permissions()[0].toolCall), /not a command that only reads; a hook asks for it, too: it is late/);
    e.answers.push("reject_once");
    await e.turn("CHECKED again");
    assert.match(text(e, /checked/), /^Rejected; nothing was done/);
  },
  async "a skill"(e) {
    await e.turn("/deploy to staging");
    assert.deepEqual(cards(e), ["think Skill release"]);
    assert.match(JSON.stringify(e.modelRequests().at(-1).messages), /Run deploy.*Run release/s);
    assert.equal(e.text(), "Deploying. Deployed.", "what the skill says is not shown as anybody's words");
  },
  async "searches"(e) {
    await e.turn("SEARCH");
    assert.deepEqual(cards(e), ['search Search "alpha"', 'search Search "omega" (*.txt)', 'search Find "**/*.zip"', 'x search Search "("']);
    const [found, none, names] = e.tools().map(texts);
    assert.match(found, /a.txt:1:alpha\n\(Binary files, not searched: 2 \(blob.bin, dot.png\).\)\n\(Ignored entries left out: 1 \(build\)/);
    assert.match(none, /No matches for "omega"/);
    assert.match(names, /No files match "\*\*\/\*.zip"/);
  },
};

// MORROW is the same session in a second process.
export const MORROW = {
  async "load shows what was shown"(e) {
    await initialize(e);
    const shown = await loaded(e, M.agent.session.load);
    assert.deepEqual(lasting(shown), lasting(transcript(e.past, e.id)));
    cards(e);
  },
};
