#!/usr/bin/env node
// matrix.mjs AGENT: older versions of the official TypeScript SDK, as editors in
// use still carry them, drive the agent through one session each. They parse
// strictly what they know: an update that one of them refuses is a failure here,
// but for the kinds that came after it.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { startMockModel } from "../harness/mockmodel.mjs";
import { Frames, Place, Tally, lines, within } from "./wire.mjs";

const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");

// VERSIONS: package -> the kinds of updates that came after it.
const VERSIONS = {
  "sdk-0.4": ["config_option_update", "session_info_update", "usage_update"],
  "sdk-0.14": [],
  "sdk-1.9": [],
};

const SCRIPT = [
  { when: "EDIT", replies: [
    [{ reasoning: "Think." }, { text: "Editing. " }, { tool: "edit", args: { path: "a.txt", old_string: "alpha", new_string: "beta" } }, { tool: "read", args: { path: "a.txt" } }],
    [{ tool: "bash", args: { command: "cat a.txt" } }, { tool: "todo", args: { todos: [{ content: "one", status: "pending" }] } }],
    [{ text: "Done." }]] },
  { when: "HANG", replies: [[{ text: "endless " }, { hang: true }]] },
];

// Listener keeps what an SDK hands to its client.
class Listener {
  constructor() { Object.assign(this, { updates: [], permissions: [], waiting: new Set() }); }
  client() {
    return {
      sessionUpdate: async (p) => { this.updates.push(p.update); for (const look of this.waiting) look(); },
      requestPermission: async (p) => {
        this.permissions.push(p);
        return { outcome: { outcome: "selected", optionId: p.options.find((o) => o.kind === "allow_once").optionId } };
      },
      readTextFile: async (p) => ({ content: fs.readFileSync(p.path, "utf8") }),
      writeTextFile: async (p) => { fs.writeFileSync(p.path, p.content); return {}; },
    };
  }
  of(kind) { return this.updates.filter((u) => u.sessionUpdate === kind); }
  saw(what, test) {
    let look;
    const found = new Promise((resolve) => { look = () => { if (this.updates.some(test)) resolve(); }; this.waiting.add(look); look(); });
    return within(10000, what, found).finally(() => this.waiting.delete(look));
  }
}

async function session(sdk, place, child, frames, later) {
  const refused = [], heard = new Listener();
  const { error } = console;
  console.error = (...args) => refused.push(args);
  try {
    const toAgent = lines((l) => frames.take("client", l)), fromAgent = lines((l) => frames.take("agent", l));
    toAgent.pipe(child.stdin);
    child.stdout.pipe(fromAgent);
    const agent = new sdk.ClientSideConnection(() => heard.client(), sdk.ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(fromAgent)));
    const init = await agent.initialize({ protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
    assert.equal(init.protocolVersion, 1);
    const { sessionId, modes } = await agent.newSession({ cwd: place.ws, mcpServers: [] });
    assert.equal(modes.currentModeId, "default");
    const prompt = (text) => agent.prompt({ sessionId, prompt: [{ type: "text", text }] });
    assert.equal((await prompt("EDIT")).stopReason, "end_turn");
    assert.equal(place.text("a.txt"), "beta\n");
    assert.equal(heard.permissions[0].toolCall.content[0].type, "diff");
    assert.deepEqual(heard.of("tool_call").map((u) => u.kind), ["edit", "read", "execute", "think"]);
    assert.equal(heard.of("agent_message_chunk").map((u) => u.content.text).join(""), "Editing. Done.");
    assert.equal(heard.of("plan").length, 1);
    await agent.setSessionMode({ sessionId, modeId: "plan" });
    const answer = prompt("HANG");
    await heard.saw("the stream", (u) => u.content?.text?.includes("endless"));
    await agent.cancel({ sessionId });
    assert.equal((await answer).stopReason, "cancelled");
    const sent = frames.all.filter((f) => f.from === "agent" && f.m.method === "session/update").map((f) => f.m.params.update.sessionUpdate);
    assert.deepEqual(heard.updates.map((u) => u.sessionUpdate), sent.filter((k) => !later.includes(k)), `every update arrives; refused: ${JSON.stringify(refused).slice(0, 2000)}`);
  } finally {
    console.error = error;
  }
}

const model = await startMockModel();
const tally = new Tally();
for (const [name, later] of Object.entries(VERSIONS)) {
  const place = new Place("matrix", { "a.txt": "alpha\n" });
  const served = model.add(name, SCRIPT), frames = new Frames({ trusted: false });
  const child = spawn(agentPath, ["acp"], { cwd: place.ws, env: place.env(served.baseURL), stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (d) => { stderr += d; });
  const exited = new Promise((r) => child.on("close", (code, signal) => r(code ?? signal)));
  await tally.run(name, async () => {
    const sdk = await import(name);
    try { await within(20000, "the session", session(sdk, place, child, frames, later)); } finally { child.stdin.end(); }
    assert.equal(await within(1000, "the exit", exited), 0);
    assert.deepEqual([frames.faults, stderr, place.processes(), served.state.errors], [[], "", [], []]);
  });
  child.kill("SIGKILL");
  place.remove();
}
model.close();
tally.end();
