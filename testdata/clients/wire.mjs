// What the scripts beside this one share: the place an agent runs in, and what
// goes over its wire, judged by the protocol's JSON Schema as the SDK ships it.
import Ajv from "ajv/dist/2020.js";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Transform } from "node:stream";

const schema = JSON.parse(fs.readFileSync(new URL("./node_modules/@agentclientprotocol/sdk/schema/v1/schema.json", import.meta.url)));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");

// byMethod: method -> the names of the definitions of its params and its result.
const byMethod = {};
for (const [name, def] of Object.entries(schema.$defs)) {
  if (def["x-method"]) (byMethod[def["x-method"]] ??= {})[/Response$/.test(name) ? "result" : "params"] = name;
}

// Frames keeps what went over the wire in `all`, in order, as {from, m}, and in
// `faults` what is wrong with it. Where `trusted` is false only the agent's
// frames are judged: some clients are known to send wrong ones.
export class Frames {
  constructor({ trusted = true } = {}) {
    Object.assign(this, { all: [], faults: [], trusted, asked: { agent: new Map(), client: new Map() } });
  }

  take(from, line) {
    let m;
    try { m = JSON.parse(line); } catch { this.faults.push(`${from}: not JSON: ${line.slice(0, 200)}`); return; }
    this.all.push({ from, m });
    if (m.method && m.id !== undefined) this.asked[from].set(m.id, m.method);
    if (from === "agent" || this.trusted) this.judge(from, m);
  }

  judge(from, m) {
    const fault = (why) => this.faults.push(`${from}: ${why} in ${JSON.stringify(m).slice(0, 400)}`);
    const valid = (name, value) => {
      const check = ajv.getSchema(`acp#/$defs/${name}`);
      if (!check(value)) fault(`${name}: ${ajv.errorsText(check.errors)}`);
    };
    if (m.jsonrpc !== "2.0") fault("no jsonrpc 2.0");
    if (m.method) {
      const name = byMethod[m.method]?.params;
      if (name) valid(name, m.params);
      else if (from === "agent") fault("an unknown method");
      return;
    }
    const asked = this.asked[from === "agent" ? "client" : "agent"];
    if (!asked.has(m.id)) fault("an answer to nothing");
    else if (m.error) valid("Error", m.error);
    else valid(byMethod[asked.get(m.id)].result, m.result);
    asked.delete(m.id);
  }
}

// lines passes bytes on and calls take for every line among them.
export const lines = (take) => {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk, _, done) {
      rest = Buffer.concat([rest, chunk]);
      for (let i; (i = rest.indexOf(10)) >= 0; rest = rest.subarray(i + 1)) if (i > 0) take(rest.toString("utf8", 0, i));
      done(null, chunk);
    },
  });
};

// transcript folds frames into what an editor shows of a session at their end:
// texts, tool calls with their latest state, the last plan. A prompt that was
// sent during a turn stands where its own turn begins.
export function transcript(frames, sessionId) {
  const shown = [], calls = new Map(), queue = [];
  const say = (who, id, block) => {
    const last = shown.at(-1);
    if (block.type !== "text") shown.push({ who, id, block });
    else if (last?.who === who && last.id === id && last.text !== undefined) last.text += block.text;
    else shown.push({ who, id, text: block.text });
  };
  const begin = () => { for (const block of queue[0]?.prompt ?? []) say("user", queue[0].id, block); };
  for (const { from, m } of frames) {
    if (from === "client" && m.method === "session/prompt" && m.params.sessionId === sessionId) {
      queue.push({ id: m.id, prompt: m.params.prompt });
      if (queue.length === 1) begin();
    }
    if (from !== "agent") continue;
    if (!m.method && queue.length && m.id === queue[0].id) { queue.shift(); begin(); }
    if (m.method !== "session/update" || m.params.sessionId !== sessionId) continue;
    const { sessionUpdate, ...u } = m.params.update;
    switch (sessionUpdate) {
      case "user_message_chunk": say("user", u.messageId, u.content); break;
      case "agent_message_chunk": say("agent", u.messageId, u.content); break;
      case "agent_thought_chunk": say("thought", u.messageId, u.content); break;
      case "tool_call": calls.set(u.toolCallId, { who: "tool", id: u.toolCallId, ...u }); shown.push(calls.get(u.toolCallId)); break;
      case "tool_call_update": Object.assign(calls.get(u.toolCallId), u); break;
      case "plan": shown.push({ who: "plan", entries: u.entries }); break;
    }
  }
  return shown;
}

// loaded loads a scene's session again, and is what the editor is shown before the
// answer.
export async function loaded(e, method) {
  const at = e.frames.all.length;
  await e.cx.request(method, { sessionId: e.id, cwd: e.place.ws, mcpServers: [] });
  const frames = e.frames.all.slice(at);
  return transcript(frames.slice(0, frames.findIndex((f) => f.m.result)), e.id);
}

// lasting is of a transcript what has to come back: not terminals, which are
// gone, nor the ids of the user's messages, which the agent gives.
export function lasting(shown) {
  return shown.map(({ who, id, text, block, entries, title, kind, status, locations, rawInput, content }) => ({
    who, id: who === "user" ? undefined : id, text, block, entries, title, kind, status, locations, rawInput,
    diffs: content?.filter((c) => c.type === "diff"),
  }));
}

// show writes a transcript as text.
export function show(shown) {
  const of = (c) => (c.type === "diff" ? `diff ${c.path}\n-${c.oldText ?? ""}+${c.newText}` : c.type === "terminal" ? `[terminal ${c.terminalId}]` : c.content.text ?? JSON.stringify(c.content));
  return shown.map((s) => {
    if (s.who === "tool") return `[${s.status}] (${s.kind}) ${s.title}\n${(s.content ?? []).map(of).join("\n").replace(/^/gm, "    ")}`;
    if (s.who === "plan") return `plan: ${s.entries.map((p) => `[${p.status}] ${p.content}`).join(", ")}`;
    return `${s.who}: ${s.text ?? JSON.stringify(s.block)}`;
  }).join("\n\n") + "\n";
}

// Place is a folder with a project in it and a home folder, for one agent.
export class Place {
  constructor(name, files = {}) {
    this.root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `acp-${name}-`)));
    this.home = path.join(this.root, "home");
    this.ws = path.join(this.root, "ws");
    for (const dir of [this.home, this.ws]) fs.mkdirSync(dir);
    for (const [file, content] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(this.file(file)), { recursive: true });
      fs.writeFileSync(this.file(file), content);
    }
  }
  file(name) { return path.join(this.ws, name); }
  text(name) { return fs.readFileSync(this.file(name), "utf8"); }
  has(name) { return fs.existsSync(this.file(name)); }

  // env is what an agent gets here whose model is served at baseURL.
  env(baseURL) {
    return {
      PATH: process.env.PATH, HOME: this.home, TMPDIR: this.root, LANG: "C.UTF-8", NO_COLOR: "1",
      ACP_AGENT_MODEL: "openai-compatible/mock", OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: "test-key", ACP_AGENT_KEYRING: "off",
    };
  }

  // processes lists those that were begun here: their environment says so.
  processes() {
    return execFileSync("ps", ["axeww", "-o", "pid=,args="], { maxBuffer: 1 << 26 }).toString().split("\n")
      .filter((l) => l.includes(`HOME=${this.home}`)).map((l) => ({ pid: Number(l.trim().split(" ")[0]), line: l.trim().slice(0, 200) }));
  }
  // gone waits for the end of those whose line has a text: a killed process is listed for
  // a moment longer.
  async gone(ms, text) {
    for (const until = Date.now() + ms; this.processes().some((p) => p.line.includes(text)); await new Promise((r) => setTimeout(r, 20)))
      if (Date.now() > until) throw new Error(`${text} has not ended within ${ms} ms`);
  }
  // sweep ends those that a failure left.
  sweep() { for (const p of this.processes()) try { process.kill(p.pid, "SIGKILL"); } catch { /* it has just ended */ } }
  remove() { this.sweep(); fs.rmSync(this.root, { recursive: true, force: true }); }
}

// Tally prints one line a scenario and counts them.
export class Tally {
  constructor() { Object.assign(this, { passed: 0, failed: 0 }); }
  async run(name, work) {
    try { await work(); this.passed++; console.log(`ok   ${name}`); return true; } catch (e) { this.fail(name, e); return false; }
  }
  fail(name, e) { this.failed++; console.log(`FAIL ${name}: ${e?.stack ?? e}`); }
  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    process.exit(this.failed ? 1 : 0);
  }
}

// within is the promise's value, or an error where it takes longer than ms.
export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
