#!/usr/bin/env node
// sdk.mjs AGENT: the official TypeScript SDK's client drives the agent through
// whole conversations, with several sets of client capabilities. Every frame that
// the agent sends is validated against the protocol's JSON Schema as the SDK
// ships it. A scripted model stands in for a real one.
import * as acp from "@agentclientprotocol/sdk";
import Ajv from "ajv/dist/2020.js";
import { spawn, execFileSync } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Readable, Transform, Writable } from "node:stream";
import { startMockModel } from "../harness/mockmodel.mjs";

const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");
const schema = JSON.parse(fs.readFileSync(new URL("./node_modules/@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.url)));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");
const M = acp.methods;

// byMethod: method -> the names of the definitions of its params and its result.
const byMethod = {};
for (const [name, def] of Object.entries(schema.$defs)) {
  if (def["x-method"]) (byMethod[def["x-method"]] ??= {})[/Response$/.test(name) ? "result" : "params"] = name;
}

// Frames keeps what went over the wire and what is wrong with it.
class Frames {
  constructor() { this.all = []; this.faults = []; this.asked = new Map(); }
  valid(name, value, frame) {
    const check = ajv.getSchema(`acp#/$defs/${name}`);
    if (!check(value)) this.faults.push(`${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(frame).slice(0, 300)}`);
  }
  sent(line) { const m = JSON.parse(line); if (m.method && m.id !== undefined) this.asked.set(m.id, m.method); }
  received(line) {
    let m;
    try { m = JSON.parse(line); } catch { this.faults.push(`not JSON: ${line.slice(0, 100)}`); return; }
    this.all.push(m);
    if (m.jsonrpc !== "2.0") this.faults.push(`no jsonrpc 2.0: ${line.slice(0, 100)}`);
    if (m.method) {
      const name = byMethod[m.method]?.params;
      if (name) this.valid(name, m.params, m); else this.faults.push(`unknown method ${m.method}`);
    } else if (m.error) this.valid("Error", m.error, m);
    else if (this.asked.has(m.id)) this.valid(byMethod[this.asked.get(m.id)].result, m.result, m);
    else this.faults.push(`an answer to nothing: ${line.slice(0, 100)}`);
  }
}

// lines calls take for every line that passes.
const lines = (take) => {
  let rest = "";
  return new Transform({
    transform(chunk, _, done) {
      rest += chunk.toString("utf8");
      for (let i; (i = rest.indexOf("\n")) >= 0; rest = rest.slice(i + 1)) if (rest.slice(0, i).trim()) take(rest.slice(0, i));
      done(null, chunk);
    },
  });
};

const CAPS = {
  none: {},
  fs: { fs: { readTextFile: true, writeTextFile: true } },
  terminal: { terminal: true },
  all: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, session: { configOptions: { boolean: {} } }, elicitation: { form: {}, url: {} } },
  agentic: { session: { configOptions: { boolean: {} } } },
  liar: { fs: { readTextFile: true, writeTextFile: true }, terminal: true }, // says yes and does nothing
};

const script = [
  { when: "READ", replies: [[{ reasoning: "I look first." }, { text: "Reading. " }, { tool: "read", args: { path: "a.txt" } }], [{ text: "It says alpha." }]] },
  { when: "EDIT", replies: [[{ tool: "edit", args: { path: "a.txt", old_string: "alpha", new_string: "beta" } }], [{ text: "Changed." }]] },
  { when: "COMMAND", replies: [[{ tool: "bash", args: { command: "printf 'out %s' put > made.txt; cat made.txt; exit 3" } }], [{ text: "Ran." }]] },
  { when: "PLAN", replies: [[{ tool: "todo", args: { todos: [{ content: "one", status: "completed" }, { content: "two", status: "in_progress" }] } }], [{ text: "Planned." }]] },
  { when: "SEARCH", replies: [[{ tool: "grep", args: { pattern: "alpha|beta" } }, { tool: "glob", args: { pattern: "*.txt" } }], [{ text: "Found." }]] },
  { when: "HANG", replies: [[{ text: "endless " }, { hang: true }]] },
  { when: "SLEEP", replies: [[{ tool: "bash", args: { command: "sleep 312.5" } }], [{ text: "never" }]] },
  { when: "FIRST", replies: [[{ delay_ms: 300 }, { text: "first answer" }]] },
  { when: "SECOND", replies: [[{ text: "second answer" }]] },
  { when: "REJECT", replies: [[{ tool: "bash", args: { command: "touch rejected" } }], [{ text: "Then not." }]] },
];

// Editor is one agent process with the SDK's client around it.
class Editor {
  constructor(root, model, set) {
    Object.assign(this, { root, model, set, ws: path.join(root, "ws"), updates: [], permissions: [], answers: [], waiting: [], terminals: new Map(), calls: {} });
  }

  start() {
    const home = path.join(this.root, "home");
    const env = { PATH: process.env.PATH, HOME: home, TMPDIR: this.root, LANG: "C.UTF-8", ACP_AGENT_MODEL: "openai-compatible/mock", OPENAI_BASE_URL: this.model.baseURL, OPENAI_API_KEY: "test-key", ACP_AGENT_KEYRING: "off" };
    this.frames = new Frames();
    this.child = spawn(agentPath, ["acp"], { cwd: this.ws, env, stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.child.stderr.on("data", (d) => { this.stderr += d; });
    this.exited = new Promise((r) => this.child.on("exit", (code) => r(code)));
    const toAgent = lines((l) => this.frames.sent(l)), fromAgent = lines((l) => this.frames.received(l));
    toAgent.pipe(this.child.stdin);
    this.child.stdout.pipe(fromAgent);
    return acp.ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(fromAgent));
  }

  app() {
    const liar = this.set === "liar";
    const count = (name, f) => (c) => { this.calls[name] = (this.calls[name] ?? 0) + 1; return f(c.params); };
    return acp.client({ name: "sdk-client" })
      .onNotification(M.client.session.update, ({ params }) => { this.updates.push(params); for (const w of [...this.waiting]) w(); })
      .onRequest(M.client.session.requestPermission, count("permission", (p) => { this.permissions.push(p); return this.answer(p); }))
      .onRequest(M.client.fs.readTextFile, count("read", (p) => (liar ? null : { content: fs.readFileSync(p.path, "utf8") })))
      .onRequest(M.client.fs.writeTextFile, count("write", (p) => { if (!liar) { fs.mkdirSync(path.dirname(p.path), { recursive: true }); fs.writeFileSync(p.path, p.content); } return {}; }))
      .onRequest(M.client.terminal.create, count("terminal", (p) => (liar ? null : this.terminal(p))))
      .onRequest(M.client.terminal.output, count("output", (p) => { const t = this.terminals.get(p.terminalId); return { output: t.output, truncated: false, ...(t.exit ? { exitStatus: t.exit } : {}) }; }))
      .onRequest(M.client.terminal.waitForExit, count("wait", (p) => this.terminals.get(p.terminalId).done))
      .onRequest(M.client.terminal.kill, count("kill", (p) => { this.kill(p.terminalId); return {}; }))
      .onRequest(M.client.terminal.release, count("release", (p) => { this.terminals.get(p.terminalId).released = true; this.kill(p.terminalId); return {}; }));
  }

  terminal(p) {
    const t = { output: "" };
    const env = { ...process.env, ...Object.fromEntries((p.env ?? []).map((e) => [e.name, e.value])) };
    t.child = spawn(p.command, p.args ?? [], { cwd: p.cwd, env, detached: true });
    for (const s of [t.child.stdout, t.child.stderr]) s.on("data", (d) => { t.output += d; });
    t.done = new Promise((r) => t.child.on("close", (exitCode, signal) => { t.exit = { ...(exitCode === null ? {} : { exitCode }), ...(signal ? { signal } : {}) }; r(t.exit); }));
    const terminalId = `term-${this.terminals.size + 1}`;
    this.terminals.set(terminalId, t);
    return { terminalId };
  }
  kill(id) { const t = this.terminals.get(id); if (!t.exit) try { process.kill(-t.child.pid, "SIGKILL"); } catch {} }

  answer(p) {
    const kind = this.answers.shift() ?? "allow_once";
    const option = p.options.find((o) => o.kind === kind);
    assert.ok(option, `no option ${kind} in ${JSON.stringify(p.options)}`);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  // seen resolves once an update matches.
  seen(test) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no such update: ${test}`)), 10000);
      const look = () => { if (this.updates.some((u) => test(u.update))) { clearTimeout(timer); this.waiting = this.waiting.filter((w) => w !== look); resolve(); } };
      this.waiting.push(look);
      look();
    });
  }
  of(kind) { return this.updates.map((u) => u.update).filter((u) => u.sessionUpdate === kind); }
  text() { return this.of("agent_message_chunk").map((u) => u.content.text).join(""); }
  last(id) { return this.updates.map((u) => u.update).filter((u) => u.toolCallId === id).at(-1); }

  // with runs the agent and the client around `work`, and checks how both end.
  async with(work) {
    const stream = this.start();
    await this.app().connectWith(stream, async (cx) => {
      const init = await cx.request(M.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: CAPS[this.set], clientInfo: { name: this.set === "liar" ? "openclaw-acp-client" : "sdk-client", version: "1" } });
      assert.equal(init.protocolVersion, 1);
      await work(cx, init);
    }).catch((e) => { this.child.kill("SIGKILL"); throw e; });
    const t = performance.now();
    this.child.stdin.end();
    assert.equal(await this.exited, 0);
    assert.ok(performance.now() - t < 1000, "it ends within a second of stdin closing");
    assert.deepEqual(this.frames.faults, []);
    assert.equal(this.stderr, "", "stderr is silent");
    for (const t of this.terminals.values()) assert.ok(t.released, "every terminal is released");
  }
}

// conversation is everything that a session sees in a day.
async function conversation(e) {
  let id;
  const prompt = (cx, text) => cx.request(M.agent.session.prompt, { sessionId: id, prompt: [{ type: "text", text }] });
  const turn = async (cx, text, stopReason = "end_turn") => {
    e.updates.length = 0;
    e.permissions.length = 0;
    assert.equal((await prompt(cx, text)).stopReason, stopReason);
  };
  await e.with(async (cx, init) => {
    assert.ok(init.agentCapabilities.loadSession);
    await cx.request(M.agent.authenticate, { methodId: init.authMethods[0].id });
    const s = await cx.request(M.agent.session.new, { cwd: e.ws, mcpServers: [] });
    id = s.sessionId;
    assert.deepEqual(s.configOptions.map((o) => o.id), ["mode", "model"]);
    await e.seen((u) => u.sessionUpdate === "available_commands_update");

    await turn(cx, "READ");
    assert.equal(e.text(), "Reading. It says alpha.");
    assert.equal(e.of("tool_call")[0].kind, "read");
    assert.equal(e.of("tool_call")[0].locations[0].path, path.join(e.ws, "a.txt"));
    assert.equal(e.permissions.length, 0);

    await turn(cx, "EDIT");
    assert.equal(e.permissions[0].toolCall.content[0].type, "diff");
    assert.equal(e.permissions[0].toolCall.content[0].newText, "beta\n");
    assert.equal(fs.readFileSync(path.join(e.ws, "a.txt"), "utf8"), "beta\n");
    assert.equal(e.last(e.of("tool_call")[0].toolCallId).status, "completed");

    await turn(cx, "COMMAND");
    assert.match(e.permissions[0].toolCall.title, /printf/);
    assert.equal(fs.readFileSync(path.join(e.ws, "made.txt"), "utf8"), "out put");
    await turn(cx, "SEARCH");
    assert.deepEqual(e.of("tool_call").map((c) => c.kind), ["search", "search"]);
    await turn(cx, "PLAN");
    assert.deepEqual(e.of("plan")[0].entries.map((p) => p.status), ["completed", "in_progress"]);
    e.answers.push("reject_once");
    await turn(cx, "REJECT");
    assert.ok(!fs.existsSync(path.join(e.ws, "rejected")));

    // a cancel in a stream, then in a command
    for (const [text, ready] of [["HANG", (u) => u.content?.text?.includes("endless")], ["SLEEP", (u) => u.status === "in_progress"]]) {
      e.updates.length = 0;
      const answer = prompt(cx, text);
      await e.seen(ready);
      const t = performance.now();
      await cx.notify(M.agent.session.cancel, { sessionId: id });
      assert.equal((await answer).stopReason, "cancelled");
      assert.ok(performance.now() - t < 1000, "a cancel is quick");
    }
    const [one, two] = await Promise.all([prompt(cx, "FIRST"), prompt(cx, "SECOND")]);
    assert.deepEqual([one.stopReason, two.stopReason], ["end_turn", "end_turn"]);

    const set = await cx.request(M.agent.session.setConfigOption, { sessionId: id, configId: "mode", value: "plan" });
    assert.equal(set.configOptions.find((o) => o.id === "mode").currentValue, "plan");
    await cx.request(M.agent.session.setMode, { sessionId: id, modeId: "default" });
    await assert.rejects(cx.request(M.agent.session.setMode, { sessionId: id, modeId: "nope" }), { code: -32602 });
    await assert.rejects(cx.request(M.agent.session.prompt, { sessionId: "nobody", prompt: [] }), { code: -32002 });
  });

  e.updates.length = 0;
  await e.with(async (cx) => { // a new process
    const { sessions } = await cx.request(M.agent.session.list, { cwd: e.ws });
    assert.deepEqual(sessions.map((s) => s.sessionId), [id]);
    await cx.request(M.agent.session.load, { sessionId: id, cwd: e.ws, mcpServers: [] });
    const told = e.updates.map((u) => u.update.sessionUpdate);
    assert.deepEqual(e.of("user_message_chunk").map((u) => u.content.text).slice(0, 3), ["READ", "EDIT", "COMMAND"]);
    assert.ok(told.includes("plan") && told.includes("agent_thought_chunk"));
    const calls = e.of("tool_call");
    assert.deepEqual(calls.map((c) => c.status), ["completed", "completed", "completed", "completed", "completed", "completed", "failed", "failed"]);
    assert.equal(calls[1].content[0].newText, "beta\n");
    await cx.request(M.agent.session.resume, { sessionId: id, cwd: e.ws, mcpServers: [] });
    await turn(cx, "SECOND again");
    await cx.request(M.agent.session.close, { sessionId: id });
    await cx.request(M.agent.session.delete, { sessionId: id });
    assert.deepEqual((await cx.request(M.agent.session.list, {})).sessions, []);
  });
  if (e.set === "none" || e.set === "agentic") assert.deepEqual(Object.keys(e.calls), ["permission"], "nothing is called that was not offered");
  if (e.set === "fs") assert.ok(e.calls.read && e.calls.write);
  if (e.set === "terminal") assert.equal(e.calls.terminal, 2);
}

const model = await startMockModel();
let passed = 0, failed = 0;
for (const set of Object.keys(CAPS)) {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "acp-sdk-")));
  fs.mkdirSync(path.join(root, "ws"));
  fs.mkdirSync(path.join(root, "home"));
  fs.writeFileSync(path.join(root, "ws", "a.txt"), "alpha\n");
  const served = model.add(`sdk-${set}`, script.map((s) => ({ ...s, loop: undefined })));
  const e = new Editor(root, served, set);
  try {
    await conversation(e);
    assert.deepEqual(served.state.errors, [], "the model's provider has nothing to object to");
    const left = execFileSync("ps", ["-eo", "args"]).toString().split("\n").filter((l) => l.startsWith("sleep 312.5"));
    assert.deepEqual(left, [], "no command is left");
    console.log(`ok   ${set}`);
    passed++;
  } catch (err) {
    console.log(`FAIL ${set}: ${err.stack ?? err}\n${e.stderr}`);
    failed++;
  }
  fs.rmSync(root, { recursive: true, force: true });
}
model.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
