// The official TypeScript SDK's client around an agent process, with a set of
// capabilities, for the scripts beside this one.
import * as acp from "@agentclientprotocol/sdk";
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { Frames, lines, transcript, within } from "./wire.mjs";

const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");
const M = acp.methods;

export const CAPS = {
  none: {},
  fs: { fs: { readTextFile: true, writeTextFile: true } },
  terminal: { terminal: true },
  all: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, session: { configOptions: { boolean: {} } }, elicitation: { form: {}, url: {} } },
  agentic: { session: { configOptions: { boolean: {} } } },
  liar: { fs: { readTextFile: true, writeTextFile: true }, terminal: true }, // says yes and does nothing
};
export const NAMES = { agentic: "Agentic.nvim", liar: "openclaw-acp-client" };

// Editor is one agent process after another, with the SDK's client around each.
export class Editor {
  constructor(set, place, served, caps = CAPS[set]) {
    Object.assign(this, { set, place, served, caps, hasTerminals: Boolean(caps.terminal) && set !== "liar", answers: [], forms: [], waiting: new Set(), terminals: new Map(), calls: {}, past: [] });
  }

  start() {
    this.frames = new Frames({ trusted: this.set !== "liar" });
    this.child = spawn(agentPath, ["acp"], { cwd: this.place.ws, env: this.place.env(this.served.baseURL), stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.child.stderr.on("data", (d) => { this.stderr += d; });
    this.exited = new Promise((r) => this.child.on("close", (code, signal) => r(code ?? signal)));
    const tap = (from) => lines((l) => { this.frames.take(from, l); for (const look of this.waiting) look(); });
    const toAgent = tap("client"), fromAgent = tap("agent");
    toAgent.pipe(this.child.stdin);
    this.child.stdout.pipe(fromAgent);
    return acp.ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(fromAgent));
  }

  app() {
    const lies = this.set === "liar";
    const count = (name, f) => (c) => { this.calls[name] = (this.calls[name] ?? 0) + 1; return f(c.params); };
    const term = (f) => (p) => f(this.terminals.get(p.terminalId));
    return acp.client({ name: "sdk-client" })
      .onNotification(M.client.session.update, () => {})
      .onRequest(M.client.session.requestPermission, count("permission", (p) => this.answer(p)))
      .onRequest(M.client.elicitation.create, count("form", () => this.forms.shift() ?? new Promise(() => {})))
      .onRequest(M.client.fs.readTextFile, count("read", (p) => (lies ? null : { content: fs.readFileSync(p.path, "utf8") })))
      .onRequest(M.client.fs.writeTextFile, count("write", (p) => { if (!lies) { fs.mkdirSync(path.dirname(p.path), { recursive: true }); fs.writeFileSync(p.path, p.content); } return {}; }))
      .onRequest(M.client.terminal.create, count("terminal", (p) => (lies ? null : this.terminal(p))))
      .onRequest(M.client.terminal.output, count("output", term((t) => ({ output: t.output, truncated: false, ...(t.exit ? { exitStatus: t.exit } : {}) }))))
      .onRequest(M.client.terminal.waitForExit, count("wait", term((t) => t.done)))
      .onRequest(M.client.terminal.kill, count("kill", term((t) => { t.kill(); return {}; })))
      .onRequest(M.client.terminal.release, count("release", term((t) => { t.released = true; t.kill(); return {}; })));
  }

  terminal(p) {
    const env = { ...process.env, HOME: this.place.home, ...Object.fromEntries((p.env ?? []).map((e) => [e.name, e.value])) };
    const child = spawn(p.command, p.args ?? [], { cwd: p.cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const t = { output: "", kill() { if (!t.exit) try { process.kill(-child.pid, "SIGKILL"); } catch { /* it has just ended */ } } };
    t.going = new Promise((r) => { for (const s of [child.stdout, child.stderr]) s.on("data", (d) => { t.output += d; if (t.output.includes("going")) r(); }); });
    t.done = new Promise((r) => child.on("close", (exitCode, signal) => { t.exit = signal ? { signal } : { exitCode }; r(t.exit); }));
    const terminalId = `term-${this.terminals.size + 1}`;
    this.terminals.set(terminalId, t);
    return { terminalId };
  }

  // answer chooses the option of the next kind in `answers`, which may be what to do
  // before it is known.
  async answer(p) {
    let kind = this.answers.shift() ?? "allow_once";
    if (typeof kind === "function") kind = await kind();
    if (kind === "never") return new Promise(() => {});
    const option = p.options.find((o) => o.kind === kind);
    assert.ok(option, `no option ${kind} in ${JSON.stringify(p.options)}`);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  // seen is the first agent's frame since `mark` that passes the test; it waits for it.
  seen(what, test) {
    let look;
    const found = new Promise((resolve) => {
      look = () => { const f = this.since().find(test); if (f) resolve(f); };
      this.waiting.add(look);
      look();
    });
    return within(10000, what, found).finally(() => this.waiting.delete(look));
  }
  saw(what, test) { return this.seen(what, (m) => m.method === "session/update" && test(m.params.update)); }

  // running waits until the command SLEEP has begun; it returns its terminal.
  async running() {
    const shown = (c) => (this.hasTerminals ? c.type === "terminal" : c.content?.text.includes("going"));
    const { update } = (await this.saw("the command", (u) => u.status === "in_progress" && u.content?.some(shown))).params;
    const t = this.terminals.get(update.content.find(shown).terminalId);
    await t?.going;
    return t;
  }

  mark() { this.at = this.frames.all.length; }
  since() { return this.frames.all.slice(this.at).filter((f) => f.from === "agent").map((f) => f.m); }
  updates() { return this.since().filter((m) => m.method === "session/update").map((m) => m.params.update); }
  of(kind) { return this.updates().filter((u) => u.sessionUpdate === kind); }
  text() { return this.of("agent_message_chunk").map((u) => u.content.text).join(""); }
  permissions() { return this.since().filter((m) => m.method === "session/request_permission").map((m) => m.params); }
  // tools lists the tool calls as they stand, with the statuses that each went through.
  tools() {
    const calls = new Map();
    for (const { sessionUpdate, ...u } of this.updates()) {
      if (sessionUpdate === "tool_call") calls.set(u.toolCallId, { ...u, statuses: u.status });
      if (sessionUpdate !== "tool_call_update") continue;
      const c = calls.get(u.toolCallId);
      Object.assign(c, u, { statuses: c.statuses.endsWith(u.status) ? c.statuses : `${c.statuses}>${u.status}` });
    }
    return [...calls.values()];
  }
  modelRequests() { return this.served.state.requests.filter((q) => q.tools?.length); }

  prompt(text, more = []) { return this.cx.request(M.agent.session.prompt, { sessionId: this.id, prompt: [{ type: "text", text }, ...more] }); }
  async turn(text, stopReason = "end_turn", more) {
    this.mark();
    assert.equal((await this.prompt(text, more)).stopReason, stopReason);
  }
  async cancel(answer) {
    const t = performance.now();
    await this.cx.notify(M.agent.session.cancel, { sessionId: this.id });
    assert.equal((await within(5000, "a cancel", answer)).stopReason, "cancelled");
    assert.ok(performance.now() - t < 1000, "a cancel is quick");
  }

  // live runs the scenarios against one process, and checks how that ends. All
  // terminals are released by then, unless `leaving` says that one is in use.
  async live(tally, scenarios, { leaving = false } = {}) {
    const run = (name, work) => tally.run(`${this.set}: ${name}`, work);
    const stream = this.start();
    await this.app().connectWith(stream, async (cx) => {
      this.cx = cx;
      for (const [name, work] of Object.entries(scenarios)) {
        const ok = await run(name, () => { this.mark(); return within(60000, name, work(this)); });
        if (!ok && !this.id) break; // without a session nothing more can be said
      }
    });
    await run("the process ends", async () => {
      const unreleased = await this.ends();
      if (!leaving) assert.equal(unreleased, 0, "every terminal is released");
    });
    for (const t of this.terminals.values()) t.kill();
    this.place.sweep();
    this.past.push(...this.frames.all);
  }

  async ends() {
    const t = performance.now();
    this.child.stdin.end();
    try {
      assert.equal(await within(5000, "the exit", this.exited), 0);
    } catch (e) {
      this.child.kill("SIGKILL");
      throw e;
    }
    assert.ok(performance.now() - t < 1000, "it ends within a second of stdin closing");
    const unreleased = [...this.terminals.values()].filter((t) => !t.released).length;
    // In the end the editor goes first, and its terminals with it.
    for (const t of this.terminals.values()) { t.kill(); await t.done; }
    assert.deepEqual(
      { faults: this.frames.faults, stderr: this.stderr, left: this.place.processes(), objections: this.served.state.errors },
      { faults: [], stderr: "", left: [], objections: [] });
    return unreleased;
  }
}
