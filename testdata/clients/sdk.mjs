#!/usr/bin/env node
// sdk.mjs AGENT [SET]: the official TypeScript SDK's client drives the agent
// through a working day of one session, with several sets of client capabilities
// or with the one named, and through the scenes beside it. Every frame that the
// agent sends is judged by the protocol's JSON Schema. A scripted model stands in
// for a real one.
// Where SHOW names a file, what the editor would show in the end is written to it.
import * as acp from "@agentclientprotocol/sdk";
import assert from "node:assert/strict";
import fs from "node:fs";
import { startMockModel } from "../harness/mockmodel.mjs";
import * as asking from "./asking.mjs";
import * as languages from "./languages.mjs";
import { CAPS, Editor, NAMES } from "./editor.mjs";
import * as scenes from "./scenes.mjs";
import { Place, Tally, lasting, show, transcript, within } from "./wire.mjs";

const M = acp.methods;

const tool = (name, args) => ({ tool: name, args });
const SCRIPT = [
  { when: "READ", replies: [[{ reasoning: "I look first." }, { text: "Reading. " }, tool("read", { path: "a.txt" })], [{ text: "It says alpha." }]] },
  { when: "EDIT", replies: [[tool("edit", { path: "a.txt", old_string: "alpha", new_string: "beta" })], [{ text: "Changed." }]] },
  { when: "CREATE", replies: [[tool("write", { path: "sub/new.txt", content: "fresh\n" })], [{ text: "Created." }]] },
  { when: "COMMAND", replies: [[tool("bash", { command: "printf 'out %s' put > made.txt; cat made.txt; exit 3" })], [{ text: "Ran." }]] },
  { when: "ALWAYS", replies: [[tool("write", { path: "sub/b.txt", content: "b\n" })], [tool("write", { path: "sub/c.txt", content: "c\n" })], [{ text: "Both." }]] },
  { when: "SEARCH", replies: [[tool("grep", { pattern: "alpha|beta" }), tool("glob", { pattern: "*.txt" })], [{ text: "Found." }]] },
  { when: "TODO", replies: [[tool("todo", { todos: [{ content: "one", status: "completed" }, { content: "two", status: "in_progress" }] })], [{ text: "Planned." }]] },
  { when: "REJECT", replies: [[tool("bash", { command: "touch rejected" })], [{ text: "Then not." }]] },
  { when: "REFUSE", replies: [[tool("write", { path: "refused.txt", content: "x" })], [{ text: "Only a plan." }]] },
  { when: "BROKEN", replies: [[{ http: 400, body: { error: { message: "sample model failure" } } }]] },
  { when: "HANG", replies: [[{ text: "endless " }, { hang: true }]] },
  { when: "SLEEP", loop: true, replies: [[tool("bash", { command: "echo going; sleep 312.5" })]] },
  { when: "UNANSWERED", replies: [[tool("bash", { command: "touch unanswered" })]] },
  { when: "FIRST", replies: [[{ delay_ms: 300 }, { text: "first answer" }]] },
  { loop: true, replies: [[{ text: "Hello there." }]] },
];

const code = (want) => (e) => { assert.equal(e.code, want, e.stack); return true; };

// DAY is what a session sees in its first process; the scenarios build on each other.
const DAY = {
  async "initialize"(e) {
    const clientInfo = { name: NAMES[e.set] ?? "sdk-client", version: "1" };
    const init = await e.cx.request(M.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: e.caps, clientInfo });
    assert.equal(init.protocolVersion, 1);
    assert.ok(init.agentCapabilities.loadSession);
    assert.deepEqual(Object.keys(init.agentCapabilities.sessionCapabilities).filter((c) => ["list", "resume", "close", "delete"].includes(c)).length, 4);
    assert.ok(e.since()[0].result, "the first line is the answer");
    e.methodId = init.authMethods[0].id;
  },
  async "authenticate, twice"(e) {
    for (let i = 0; i < 2; i++) await e.cx.request(M.agent.authenticate, { methodId: e.methodId });
    await assert.rejects(e.cx.request(M.agent.authenticate, { methodId: "nope" }), code(-32602));
  },
  async "a new session"(e) {
    const s = await e.cx.request(M.agent.session.new, { cwd: e.place.ws, mcpServers: [] });
    e.id = s.sessionId;
    assert.deepEqual(s.configOptions.map((o) => o.id), ["mode", "model"]);
    assert.equal(s.modes.currentModeId, "default");
    const { update } = (await e.saw("the commands", (u) => u.sessionUpdate === "available_commands_update")).params;
    assert.ok(update.availableCommands.some((c) => c.name === "help"));
    assert.equal(e.since()[0].result?.sessionId, e.id, "nothing about a session comes before its answer");
  },
  async "read"(e) {
    await e.turn("READ");
    assert.equal(e.text(), "Reading. It says alpha.");
    assert.deepEqual(e.of("agent_thought_chunk").map((u) => u.content.text).join(""), "I look first.");
    const [call] = e.tools();
    assert.deepEqual([call.kind, call.statuses, call.locations[0].path], ["read", "pending>in_progress>completed", e.place.file("a.txt")]);
    assert.equal(e.permissions().length, 0, "nobody is asked about reading");
  },
  async "edit, with permission"(e) {
    await e.turn("EDIT");
    const steps = e.since().map((m) => m.params?.update?.status ?? (m.method === "session/request_permission" ? "ask" : "")).filter(Boolean);
    assert.deepEqual(steps.filter((s, i) => s !== steps[i - 1]), ["pending", "ask", "in_progress", "completed"]);
    const [{ toolCall, options }] = e.permissions(), file = e.place.file("a.txt");
    assert.deepEqual(toolCall.content[0], { type: "diff", path: file, oldText: "alpha\n", newText: "beta\n" });
    for (const key of ["toolCallId", "title", "kind", "status", "locations", "rawInput"]) assert.ok(key in toolCall, `the question repeats ${key}`);
    assert.equal(toolCall.title, "Edit a.txt");
    const once = options.map((o) => o.kind).filter((k) => k.endsWith("_once"));
    assert.deepEqual(once, ["allow_once", "reject_once"]);
    assert.equal(e.place.text("a.txt"), "beta\n");
    assert.equal(e.tools()[0].content[0].type, "diff");
  },
  async "write a new file"(e) {
    await e.turn("CREATE");
    assert.deepEqual(e.permissions()[0].toolCall.content[0], { type: "diff", path: e.place.file("sub/new.txt"), newText: "fresh\n" });
    assert.equal(e.place.text("sub/new.txt"), "fresh\n");
  },
  async "a command"(e) {
    await e.turn("COMMAND");
    const [{ toolCall }] = e.permissions(), [call] = e.tools();
    assert.match(toolCall.title, /printf/);
    assert.equal(e.place.text("made.txt"), "out put");
    assert.equal(call.kind, "execute");
    if (e.hasTerminals) assert.equal(call.content[0].type, "terminal");
    else assert.match(JSON.stringify(call.content), /out put/);
    assert.match(e.modelRequests().at(-1).messages.at(-1).content, /out put[^]*3/, "the model gets the output and the status");
  },
  async "always is asked once"(e) {
    e.answers.push("allow_always");
    await e.turn("ALWAYS");
    assert.equal(e.permissions().length, 1);
    assert.match(e.permissions()[0].options.find((o) => o.kind === "allow_always").name, /sub\/.*session/, "the option says how far it goes");
    assert.deepEqual([e.place.text("sub/b.txt"), e.place.text("sub/c.txt")], ["b\n", "c\n"]);
  },
  async "searches"(e) {
    await e.turn("SEARCH");
    assert.deepEqual(e.tools().map((c) => [c.kind, c.status]), [["search", "completed"], ["search", "completed"]]);
  },
  async "a plan"(e) {
    await e.turn("TODO");
    assert.deepEqual(e.of("plan").at(-1).entries.map((p) => [p.content, p.status]), [["one", "completed"], ["two", "in_progress"]]);
  },
  async "a rejected command"(e) {
    e.answers.push("reject_once");
    await e.turn("REJECT");
    assert.equal(e.tools()[0].statuses, "pending>failed");
    assert.ok(!e.place.has("rejected"));
  },
  async "set_mode"(e) {
    await e.cx.request(M.agent.session.setMode, { sessionId: e.id, modeId: "plan" });
    await e.turn("REFUSE");
    assert.deepEqual([e.tools()[0].status, e.permissions().length, e.place.has("refused.txt")], ["failed", 0, false]);
    await assert.rejects(e.cx.request(M.agent.session.setMode, { sessionId: e.id, modeId: "nope" }), code(-32602));
  },
  async "set_config_option"(e) {
    const set = (configId, value) => e.cx.request(M.agent.session.setConfigOption, { sessionId: e.id, configId, value });
    const current = (r, id) => r.configOptions.find((o) => o.id === id).currentValue;
    assert.equal(current(await set("mode", "default"), "mode"), "default");
    assert.equal(current(await set("model", "openai-compatible/mock-2"), "model"), "openai-compatible/mock-2");
    await e.turn("which model?");
    assert.equal(e.modelRequests().at(-1).model, "mock-2");
    await assert.rejects(set("nope", "x"), code(-32602));
    await assert.rejects(set("mode", "nope"), code(-32602));
  },
  async "a slash command"(e) {
    const before = e.modelRequests().length;
    await e.turn("/help");
    assert.match(e.text(), /`\/grep/);
    assert.equal(e.modelRequests().length, before, "without the model");
  },
  async "a link to a file"(e) {
    await e.turn("and this?", "end_turn", [{ type: "resource_link", uri: `file://${e.place.file("a.txt")}`, name: "a.txt" }]);
    assert.match(JSON.stringify(e.modelRequests().at(-1).messages.at(-1)), /a\.txt/);
  },
  async "a failing model"(e) {
    await assert.rejects(e.prompt("BROKEN"), /sample model failure/);
  },
  async "a cancel in a stream"(e) {
    const answer = e.prompt("HANG");
    await e.saw("the stream", (u) => u.content?.text?.includes("endless"));
    await e.cancel(answer);
  },
  async "a cancel in a command"(e) {
    const answer = e.prompt("SLEEP");
    const terminal = await e.running();
    await e.cancel(answer);
    assert.equal(e.tools()[0].status, "failed");
    if (terminal) await within(2000, "the end of the terminal", terminal.done);
    await e.place.gone(2000, "sleep 312.5");
  },
  async "a cancel of a question that nobody answers"(e) {
    e.answers.push("never");
    const answer = e.prompt("UNANSWERED");
    const question = await e.seen("the question", (m) => m.method === "session/request_permission");
    await e.cancel(answer);
    assert.ok(e.since().some((m) => m.method === "$/cancel_request" && m.params.requestId === question.id), "the question is taken back");
    assert.equal(e.tools()[0].status, "failed");
  },
  async "a cancel of nothing"(e) {
    await e.cx.notify(M.agent.session.cancel, { sessionId: e.id });
    await e.turn("still there?");
    assert.equal(e.text(), "Hello there.");
  },
  async "a queued prompt"(e) {
    const [one, two] = await Promise.all([e.prompt("FIRST"), e.prompt("and then?")]);
    assert.deepEqual([one.stopReason, two.stopReason], ["end_turn", "end_turn"]);
    assert.equal(e.text(), "first answerHello there.");
    const between = e.since().findIndex((m) => m.result?.stopReason);
    assert.ok(e.since().slice(0, between).every((m) => !m.params?.update?.content?.text?.includes("Hello")), "one turn after the other");
  },
  async "errors"(e) {
    const cwd = e.place.ws, mcpServers = [], sessionId = "nobody";
    await assert.rejects(e.cx.request("session/nope", {}), code(-32601));
    await assert.rejects(e.cx.request(M.agent.session.new, { cwd: "relative", mcpServers }), code(-32602));
    await assert.rejects(e.cx.request(M.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "hi" }] }), code(-32002));
    await assert.rejects(e.cx.request(M.agent.session.load, { sessionId, cwd, mcpServers }), code(-32002));
    await assert.rejects(e.cx.request(M.agent.session.resume, { sessionId, cwd, mcpServers }), code(-32002));
  },
};

// MORROW is what the same session sees in a second process.
const MORROW = {
  "initialize": DAY.initialize,
  async "list"(e) {
    const { sessions } = await e.cx.request(M.agent.session.list, { cwd: e.place.ws });
    assert.deepEqual(sessions.map((s) => [s.sessionId, s.cwd]), [[e.id, e.place.ws]]);
    assert.ok(sessions[0].title && sessions[0].updatedAt);
  },
  async "load shows what was shown"(e) {
    await e.cx.request(M.agent.session.load, { sessionId: e.id, cwd: e.place.ws, mcpServers: [] });
    const frames = e.frames.all.slice(e.at);
    const answered = frames.findIndex((f) => f.m.result);
    const before = lasting(transcript(e.past, e.id)), now = lasting(transcript(frames.slice(0, answered), e.id));
    assert.deepEqual(now, before);
  },
  async "resume shows nothing and goes on"(e) {
    await e.cx.request(M.agent.session.close, { sessionId: e.id });
    e.mark();
    await e.cx.request(M.agent.session.resume, { sessionId: e.id, cwd: e.place.ws, mcpServers: [] });
    await e.saw("the commands", (u) => u.sessionUpdate === "available_commands_update");
    assert.ok(!e.updates().some((u) => /chunk|tool_call|plan/.test(u.sessionUpdate)));
    await e.turn("what did I say?");
    assert.match(JSON.stringify(e.modelRequests().at(-1).messages), /READ.*alpha.*what did I say/s);
  },
  async "close and delete"(e) {
    await e.cx.request(M.agent.session.close, { sessionId: e.id });
    await assert.rejects(e.prompt("closed"), code(-32002));
    await e.cx.request(M.agent.session.delete, { sessionId: e.id });
    assert.deepEqual((await e.cx.request(M.agent.session.list, {})).sessions, []);
  },
  async "only what was offered is called"(e) {
    const { permission, read, write, terminal } = e.calls;
    assert.ok(permission);
    if (e.set === "liar") return; // OpenClaw is known, and not asked
    assert.equal(Boolean(read && write), Boolean(e.caps.fs), "files");
    assert.equal(Boolean(terminal), Boolean(e.caps.terminal), "terminals");
  },
  async "the editor goes while a command runs"(e) {
    e.id = (await e.cx.request(M.agent.session.new, { cwd: e.place.ws, mcpServers: [] })).sessionId;
    e.prompt("SLEEP").catch(() => {});
    await e.running();
  },
};

const model = await startMockModel();
const tally = new Tally();

// live has an editor with the set's capabilities live through a day and the next morning.
async function live(e, day, morrow, options) {
  await e.live(tally, day);
  if (process.env.SHOW) fs.writeFileSync(process.env.SHOW, show(transcript(e.past, e.id)) + "\n" + e.past.map((f) => `${f.from === "agent" ? "<" : ">"} ${JSON.stringify(f.m)}`).join("\n"));
  await e.live(tally, morrow, options);
  e.place.remove();
}

const only = process.argv[3];
for (const set of Object.keys(CAPS).filter((s) => !only || s === only)) {
  const place = new Place("sdk", { "a.txt": "alpha\n" });
  await live(new Editor(set, place, model.add(`sdk-${set}`, SCRIPT)), DAY, MORROW, { leaving: true });
}
for (const set of Object.keys(scenes.SETS).filter((s) => !only || s === only)) {
  for (const [name, { lay, script, pages, DAY, MORROW }] of Object.entries({ scenes, asking, languages })) {
    const base = `http://127.0.0.1:${model.port}/${name}-${set}`;
    const served = model.add(`${name}-${set}`, script(base), pages());
    await live(new Editor(set, lay(model.port), served, scenes.SETS[set]), DAY, MORROW);
  }
}
model.close();
tally.end();
