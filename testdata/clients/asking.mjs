// What an editor's user is asked, and reads there: trust in a project, plans, modes,
// what is allowed for good and taken back, commands that want to hide something, and
// what lies outside, is secret, or comes from the web. Nobody is asked twice about a
// call, and every card that was asked about says how that ended. Where CARDS is set,
// what the user reads is printed.
import * as acp from "@agentclientprotocol/sdk";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Place, lasting, loaded, transcript } from "./wire.mjs";

const M = acp.methods;
const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");

// HOSTILE are commands that want to be read as something else, and what is to be
// seen of each: in its title, in its text, and whether "always" may be offered.
const HOSTILE = {
  "a hidden character": { command: "echo all is well\u200b > seen.txt", title: /\\u200b/, text: /\\u200b/ },
  "a right-to-left override": { command: "echo '\u202egpj.exe' > seen.txt", title: /\\u202egpj/, text: /\\u202e/ },
  "an escape": { command: "printf '%s' '\u001b[2K\u001b[1A' > seen.txt", title: /\\e\[2K/, text: /\\e\[1A/ },
  "newlines before what counts": { command: `echo hello${"\n".repeat(60)}touch seen.txt`, title: /⏎×60/, text: /touch seen\.txt/ },
  "blanks before what counts": { command: `echo hello;${" ".repeat(400)}touch seen.txt`, title: /␣×400/, text: /touch seen\.txt/ },
  "a very long command": { command: `touch seen.txt; echo ${"x".repeat(3000)}; touch last.txt`, title: /^touch seen\.txt.*….*touch last\.txt$/, text: /touch last\.txt/ },
  "a comment as its title": { command: "# only lists the files\ntouch seen.txt", title: /^touch seen\.txt/, text: /only lists/ },
  "back-ticks against the fence": { command: "echo '\n````\nAll of it is allowed.\n````\n' > seen.txt", title: /^echo /, text: /^`{5,}sh\n[^]*?\n`{5,}\n/ },
  "another letter": { command: "\u0441at a.txt", title: /\\u0441at/, text: /\\u0441at/ },
};

const tool = (name, args) => ({ tool: name, args });
const says = (when, calls, text = "Done.") => ({ when, loop: "all", replies: [calls, [{ text }]] });
// script is what the model says; the pages are below that address.
export const script = (pages) => [
  says("^TOUCH", [tool("bash", { command: "touch by-rule" })]),
  says("^SAY", [tool("bash", { command: "./say.sh" })]),
  says("^CHANGE", [tool("edit", { path: "src/a.txt", old_string: "alpha", new_string: "beta" })]),
  says("^BACK", [tool("edit", { path: "src/a.txt", old_string: "beta", new_string: "alpha" })]),
  says("^PLAN", [tool("plan_exit", { plan: "1. change `src/a.txt`\n2. say so" })]),
  says("^OUTSIDE", [tool("write", { path: "../outside.txt", content: "x\n" })]),
  says("^LINK", [tool("write", { path: "link/new.txt", content: "x\n" })]),
  says("^SECRET", [tool("read", { path: ".env" }), tool("bash", { command: "cat .env" })]),
  says("^GUARDED", [tool("write", { path: ".git/hooks/pre-commit", content: "#!/bin/sh\n" })]),
  says("^PAGES", [tool("web_fetch", { url: `${pages}/page` })]),
  says("^DESTROY", [tool("bash", { command: "rm -rf /" })]),
  ...Object.entries(HOSTILE).map(([name, { command }]) => says(`^HOSTILE ${name}`, [tool("bash", { command })])),
  { loop: true, replies: [[{ text: "Hello there." }]] },
];

export const pages = () => ({ "/page": { body: "<html><body><h1>Release notes</h1></body></html>" } });

const SETTINGS = { hooks: { sessionStart: [{ command: "touch hook-ran" }] }, permissions: { rules: [{ permission: "bash", pattern: "touch by-rule", action: "allow" }] } };

// lay makes two projects that want to be trusted, and a home that lets pages at the
// port be read.
export function lay(port) {
  const settings = JSON.stringify(SETTINGS, null, 2);
  const place = new Place("asking", {
    "a.txt": "alpha\n", "src/a.txt": "alpha\n", ".env": "KEY=hunter2hunter2\n", "say.sh": "#!/bin/sh\necho said\n",
    ".acp-agent/config.json": settings, "../other/.acp-agent/config.json": settings, "../beyond/b.txt": "beyond\n",
  });
  fs.chmodSync(place.file("say.sh"), 0o755);
  fs.symlinkSync("../beyond", place.file("link"));
  fs.mkdirSync(path.join(place.home, ".config/acp-agent"), { recursive: true });
  fs.writeFileSync(path.join(place.home, ".config/acp-agent/config.json"), JSON.stringify({ web: { allowPrivate: [`127.0.0.1:${port}`] } }));
  return place;
}

const texts = (call) => (call.content ?? []).map((c) => c.content?.text ?? "").join("\n");
const kinds = (p) => p.options.map((o) => o.kind).join(" ");
const label = (p, kind) => p.options.find((o) => o.kind === kind)?.name;

// asked is what the turn asked about; it must be those titles, each once, shown as
// pending before and with a final status in the end.
function asked(e, ...titles) {
  const ps = e.permissions(), frames = e.since();
  if (process.env.CARDS) for (const p of ps) console.log(`----- ${p.toolCall.title}\n${texts(p.toolCall)}\n[${p.options.map((o) => o.name).join("] [")}]`);
  assert.deepEqual(ps.map((p) => p.toolCall.title), titles);
  assert.equal(new Set(ps.map((p) => p.toolCall.toolCallId)).size, ps.length, "a call is asked about once");
  for (const { toolCall } of ps) {
    const at = (test) => frames.findIndex(test);
    const shown = at((m) => m.params?.update?.sessionUpdate === "tool_call" && m.params.update.toolCallId === toolCall.toolCallId);
    const question = at((m) => m.method === "session/request_permission" && m.params.toolCall.toolCallId === toolCall.toolCallId);
    assert.ok(shown >= 0 && shown < question, "it is shown before it is asked about");
    for (const key of ["title", "kind", "status", "locations", "rawInput", "content"]) assert.ok(key in toolCall, `the question repeats ${key}`);
  }
  for (const c of e.tools()) {
    assert.match(c.status, /^(completed|failed)$/, `${c.title} is left ${c.status}`);
    assert.match(c.title, /^[^\p{C}]{1,120}$/u);
  }
  return ps;
}
const statuses = (e) => e.tools().map((c) => c.statuses);
const RAN = "pending>in_progress>completed", NOT = "pending>failed";

const initialize = (e) => e.cx.request(M.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: e.caps, clientInfo: { name: "asking", version: "1" } });
const session = async (e, cwd = e.place.ws) => { e.id = (await e.cx.request(M.agent.session.new, { cwd, mcpServers: [] })).sessionId; };
const mode = (e, modeId) => e.cx.request(M.agent.session.setMode, { sessionId: e.id, modeId });
const TRUST = "Trust this folder";

export const DAY = {
  async "trust, not now"(e) {
    await initialize(e);
    await session(e);
    e.answers.push("reject_once");
    await e.turn("hello");
    const [p] = asked(e, TRUST);
    assert.match(texts(p.toolCall), /touch hook-ran.*touch by-rule/s, "the card lists what would hold");
    assert.equal(kinds(p), "allow_always reject_once reject_always");
    assert.deepEqual([statuses(e), e.place.has("hook-ran")], [[NOT], false]);
    assert.match(texts(e.tools()[0]), /Not trusted in this session/);
    await e.turn("and again");
    asked(e);
    e.answers.push("reject_once");
    await e.turn("TOUCH");
    assert.equal(asked(e, "touch by-rule").length, 1, "a rule of the project does not hold");
  },
  async "trust, never"(e) {
    const other = path.join(e.place.root, "other");
    await session(e, other);
    e.answers.push("reject_always");
    await e.turn("hello");
    asked(e, TRUST);
    assert.deepEqual(statuses(e), [NOT]);
    assert.match(texts(e.tools()[0]), /acp-agent trust/, "it says how to take that back");
    await session(e, other);
    await e.turn("hello");
    asked(e);
    assert.ok(!fs.existsSync(path.join(other, "hook-ran")));
  },
  async "a never is taken back"(e) {
    const other = path.join(e.place.root, "other");
    execFileSync(agentPath, ["trust"], { cwd: other, env: e.place.env(e.served.baseURL) });
    await session(e, other);
    await e.turn("hello");
    asked(e);
    assert.ok(fs.existsSync(path.join(other, "hook-ran")));
  },
  async "trust, yes"(e) {
    await session(e);
    e.answers.push("allow_always");
    await e.turn("hello");
    asked(e, TRUST);
    assert.deepEqual([e.tools()[0].status, e.place.has("hook-ran")], ["completed", true]);
    await e.turn("TOUCH");
    asked(e);
    assert.deepEqual([statuses(e), e.place.has("by-rule")], [[RAN], true]);
  },
  async "what was asked is shown when it is loaded"(e) {
    const noticed = (s) => s.who === "thought"; // what is told once, of what has just happened
    const before = lasting(transcript(e.frames.all, e.id).filter((s) => !noticed(s)));
    await e.cx.request(M.agent.session.close, { sessionId: e.id });
    const at = e.frames.all.length;
    await e.cx.request(M.agent.session.load, { sessionId: e.id, cwd: e.place.ws, mcpServers: [] });
    const frames = e.frames.all.slice(at);
    assert.deepEqual(lasting(transcript(frames.slice(0, frames.findIndex((f) => f.m.result)), e.id)), before);
    await e.turn("still there?");
    asked(e);
  },
  async "a plan, not yet"(e) {
    await mode(e, "plan");
    await e.turn("CHANGE");
    asked(e);
    assert.deepEqual(statuses(e), [NOT]);
    assert.match(texts(e.tools()[0]), /plan/);
    e.answers.push("reject_once");
    await e.turn("PLAN");
    const [p] = asked(e, "Carry out this plan");
    assert.match(texts(p.toolCall), /1\. change `src\/a.txt`/);
    assert.equal(kinds(p), "allow_once allow_always reject_once");
    assert.deepEqual(e.of("current_mode_update"), [], "it goes on planning");
  },
  async "a plan, and its edits"(e) {
    e.answers.push("allow_always");
    await e.turn("PLAN");
    asked(e, "Carry out this plan");
    assert.deepEqual([statuses(e), e.of("current_mode_update").map((u) => u.currentModeId)], [[RAN], ["acceptEdits"]]);
    assert.equal(e.of("config_option_update").at(-1).configOptions.find((o) => o.id === "mode").currentValue, "acceptEdits");
    await e.turn("CHANGE");
    asked(e);
    assert.equal(e.place.text("src/a.txt"), "beta\n");
    await mode(e, "default");
  },
  async "an edit, always in that folder"(e) {
    e.answers.push("allow_always");
    await e.turn("BACK");
    const [p] = asked(e, "Edit src/a.txt");
    assert.equal(p.toolCall.content[0].type, "diff");
    assert.match(label(p, "allow_always"), /`?src\/`?.* session/);
    await e.turn("CHANGE");
    asked(e);
    assert.deepEqual(statuses(e), [RAN]);
  },
  async "a command, always"(e) {
    e.answers.push("allow_always");
    await e.turn("SAY");
    const [p] = asked(e, "./say.sh");
    assert.equal(label(p, "allow_always"), "Always allow `./say.sh` in this session");
    assert.match(texts(p.toolCall), /^Why this asks: .*\.$/m);
    assert.match(texts(p.toolCall), new RegExp(`^It runs in \`${e.place.ws}\`, .*sandbox: `, "m"), "it says where, and how confined");
    await e.turn("SAY again");
    asked(e);
    assert.deepEqual(statuses(e), [RAN]);
  },
  async "what was granted is listed and taken back"(e) {
    const before = e.modelRequests().length;
    await e.turn("/permissions");
    if (process.env.CARDS) console.log(e.text());
    assert.match(e.text(), /src\/.*\.\/say\.sh|\.\/say\.sh.*src\//s);
    await e.turn("/permissions revoke ./say.sh");
    if (process.env.CARDS) console.log(e.text());
    assert.equal(e.modelRequests().length, before, "without the model");
    e.answers.push("reject_once");
    await e.turn("SAY once more");
    asked(e, "./say.sh");
    assert.deepEqual(statuses(e), [NOT]);
  },
  async "a mode that refuses, set while it is asked about"(e) {
    e.answers.push(async () => { await mode(e, "dontAsk"); return "allow_once"; });
    await e.turn("SAY while the mode changes");
    asked(e, "./say.sh");
    assert.deepEqual(statuses(e), [NOT], "what the user set last holds");
    assert.match(texts(e.tools()[0]), /the mode asks nothing/);
  },
  async "where nobody is to be asked"(e) {
    for (const turn of ["SAY", "OUTSIDE", "SECRET", "PAGES"]) {
      await e.turn(turn);
      asked(e);
      assert.ok(e.tools().every((c) => c.statuses === NOT && /the mode asks nothing/.test(texts(c))), `${turn}: ${JSON.stringify(e.tools().map(texts))}`);
    }
    await mode(e, "default");
  },
  ...Object.fromEntries(Object.entries(HOSTILE).map(([name, want]) => [`a command with ${name}`, async (e) => {
    e.answers.push("reject_once");
    await e.turn(`HOSTILE ${name}`);
    const p = e.permissions()[0];
    asked(e, p?.toolCall.title);
    assert.match(p.toolCall.title, want.title);
    assert.match(texts(p.toolCall), want.text);
    assert.ok(!/[\u200b\u202e\u001b]/.test(texts(p.toolCall) + p.options.map((o) => o.name)), "nothing hides in it");
    assert.equal(p.toolCall.rawInput.command, want.command, "and nothing of it is left out");
    assert.equal(kinds(p), "allow_once reject_once", "it is not allowed for good");
    assert.deepEqual([statuses(e), e.place.has("seen.txt")], [[NOT], false]);
  }])),
  async "what lies outside"(e) {
    for (const [turn, title] of [["OUTSIDE", `Write ${e.place.root}/outside.txt`], ["LINK", "Write link/new.txt"]]) {
      e.answers.push("reject_once");
      await e.turn(turn);
      const [p] = asked(e, title);
      assert.equal(kinds(p), "allow_once reject_once");
      assert.match(texts(p.toolCall), /Why this asks: .*outside/);
    }
    assert.deepEqual(fs.readdirSync(path.join(e.place.root, "beyond")), ["b.txt"]);
  },
  async "what is secret"(e) {
    e.answers.push("reject_once", "reject_once");
    await e.turn("SECRET");
    const ps = asked(e, "Read .env", "cat .env");
    for (const p of ps) {
      assert.equal(kinds(p), "allow_once reject_once");
      assert.match(texts(p.toolCall), /Why this asks: .*\.env.*secret/);
    }
    assert.ok(!JSON.stringify(e.since()).includes("hunter2"), "nothing of it is shown before");
  },
  async "what nobody may do"(e) {
    await e.turn("DESTROY");
    asked(e);
    assert.deepEqual(statuses(e), [NOT]);
    await mode(e, "bypassPermissions");
    await e.turn("DESTROY");
    asked(e);
    assert.deepEqual(statuses(e), [NOT]);
    await mode(e, "default");
  },
  async "a protected file"(e) {
    await mode(e, "bypassPermissions");
    e.answers.push("reject_once");
    await e.turn("GUARDED");
    const [p] = asked(e, "Write .git/hooks/pre-commit");
    assert.equal(kinds(p), "allow_once reject_once");
    await mode(e, "default");
  },
  async "a page, always of that host"(e) {
    e.answers.push("allow_always");
    await e.turn("PAGES");
    const [p] = asked(e, e.permissions()[0]?.toolCall.title);
    assert.match(label(p, "allow_always"), /127\.0\.0\.1/);
    await e.turn("PAGES again");
    asked(e);
    assert.deepEqual(statuses(e), [RAN]);
  },
};

// MORROW is the next day in a second process: trust stays, grants for a session are
// gone, and what was asked is shown as it ended.
export const MORROW = {
  async "load shows what was shown"(e) {
    await initialize(e);
    const shown = await loaded(e, M.agent.session.load);
    assert.deepEqual(lasting(shown), lasting(transcript(e.past, e.id).filter((s) => s.who !== "thought")).slice(-shown.length));
  },
  async "trust stays, a grant for the session does not"(e) {
    await e.turn("hello");
    asked(e);
    e.answers.push("reject_once");
    await e.turn("BACK");
    asked(e, "Edit src/a.txt");
    assert.deepEqual(statuses(e), [NOT]);
  },
};
