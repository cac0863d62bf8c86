#!/usr/bin/env node
// acpx.mjs AGENT: the command-line client acpx drives the agent: one-shot prompts
// under its permission policies, named sessions, modes and models, a cancel, and
// a session taken up again after acpx's own process for it has ended. A scripted
// model stands in for a real one. acpx 0.19 asks for Node 22 and works with 20.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startMockModel } from "../harness/mockmodel.mjs";
import { Place, Tally, within } from "./wire.mjs";

const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");
const acpxPath = fileURLToPath(new URL("./node_modules/acpx/dist/cli.js", import.meta.url));
const place = new Place("acpx", { "a.txt": "alpha\n" });
const model = await startMockModel();
const served = model.add("acpx", [
  { when: "ABORTED", replies: [[{ tool: "write", args: { path: "new.txt", content: "new\n" } }]] },
  { when: "READ", loop: "all", replies: [[{ tool: "read", args: { path: "a.txt" } }], [{ text: "It says alpha." }]] },
  { when: "TOUCH", loop: "all", replies: [[{ tool: "bash", args: { command: "touch made" } }], [{ text: "After the command." }]] },
  { when: "WRITE", loop: "all", replies: [[{ tool: "write", args: { path: "new.txt", content: "new\n" } }], [{ text: "Written." }]] },
  { when: "EDIT", loop: "all", replies: [[{ tool: "edit", args: { path: "a.txt", old_string: "alpha", new_string: "beta" } }], [{ text: "Edited." }]] },
  { when: "HANG", loop: true, replies: [[{ text: "endless " }, { hang: true }]] },
  { when: "BROKEN", loop: true, replies: [[{ http: 400, body: { error: { message: "sample model failure" } } }]] },
  { loop: true, replies: [[{ text: "Hello there." }]] },
]);
const lastRequest = () => served.state.requests.filter((q) => q.tools?.length).at(-1);

// The statuses that acpx ends with.
const OK = 0, ERROR = 1, USAGE = 2, TIMEOUT = 3, NO_SESSION = 4, DENIED = 5;

// acpx starts the client; `done` is its status and output, `says` waits for words of it.
function acpx(...args) {
  const child = spawn(process.execPath, [acpxPath, "--cwd", place.ws, "--ttl", "120", "--agent", `${agentPath} acp`, ...args],
    { cwd: place.ws, env: place.env(served.baseURL), stdio: ["ignore", "pipe", "pipe"] });
  const r = { stdout: "", stderr: "", look() {} };
  child.stdout.on("data", (d) => { r.stdout += d; r.look(); });
  child.stderr.on("data", (d) => { r.stderr += d; });
  const closed = new Promise((resolve) => child.on("close", (code) => { r.code = code; resolve(r); }));
  r.done = within(30000, `acpx ${args.join(" ")}`, closed).catch((e) => { child.kill("SIGKILL"); throw e; });
  r.says = (re) => within(20000, `${re}`, new Promise((resolve) => { r.look = () => { if (re.test(r.stdout)) resolve(); }; r.look(); }));
  return r;
}

// run wants a status, and words in the output.
async function run(want, re, ...args) {
  const r = await acpx(...args).done;
  assert.equal(r.code, want, `acpx ${args.join(" ")}: ${r.stdout}${r.stderr}`);
  assert.match(r.stdout + r.stderr, re);
  return r;
}
const json = (r) => r.stdout.trim().split("\n").map((l) => JSON.parse(l));

const TESTS = {
  async "exec, everything approved"() {
    await run(OK, /After the command/, "--approve-all", "exec", "TOUCH");
    assert.ok(place.has("made"));
    await run(OK, /Edited/, "--approve-all", "exec", "EDIT");
    assert.equal(place.text("a.txt"), "beta\n");
  },
  async "exec, everything denied"() {
    await run(DENIED, /After the command/, "--deny-all", "exec", "WRITE then TOUCH");
    assert.ok(!place.has("new.txt"));
  },
  async "exec, nobody can be asked"() {
    await run(DENIED, /./, "--non-interactive-permissions", "fail", "exec", "ABORTED");
    await run(DENIED, /./, "--non-interactive-permissions", "deny", "exec", "WRITE");
    assert.ok(!place.has("new.txt"));
  },
  async "exec, a policy by kinds"() {
    const policy = JSON.stringify({ autoApprove: ["edit"], defaultAction: "deny" });
    await run(OK, /Written/, "--no-fs", "--permission-policy", policy, "exec", "WRITE");
    assert.equal(place.text("new.txt"), "new\n");
    fs.rmSync(place.file("new.txt")); // its files have a gate of their own, which the policy does not open
    const r = await acpx("--permission-policy", policy, "exec", "WRITE").done;
    assert.match(JSON.stringify(lastRequest().messages.at(-1)), /the editor refuses/);
    assert.ok(!place.has("new.txt"), r.stdout + r.stderr);
  },
  async "exec, reading needs no approval"() { await run(OK, /It says alpha/, "--no-fs", "--deny-all", "exec", "READ"); },
  async "exec, without files and terminals of the client"() {
    await run(OK, /After the command/, "--no-fs", "--no-terminal", "--approve-all", "exec", "TOUCH");
  },
  async "exec as JSON"() {
    const frames = json(await run(OK, /./, "--format", "json", "--approve-all", "exec", "READ"));
    assert.ok(frames.some((f) => f.params?.update?.sessionUpdate === "tool_call"));
    assert.ok(frames.some((f) => f.result?.stopReason === "end_turn"));
  },
  async "exec as text alone"() {
    const r = await run(OK, /./, "--format", "quiet", "--approve-all", "exec", "hi");
    assert.deepEqual([r.stdout.trim(), r.stderr], ["Hello there.", ""]);
  },
  async "exec, a failing model"() { await run(ERROR, /sample model failure/, "exec", "BROKEN"); },
  async "exec, out of time"() { await run(TIMEOUT, /endless/, "--timeout", "3", "exec", "HANG"); },
  async "exec, credentials demanded"() { await run(ERROR, /auth/i, "--auth-policy", "fail", "exec", "hi"); },
  async "wrong usage"() {
    await run(USAGE, /./, "--no-such-flag", "exec", "hi");
    await run(NO_SESSION, /./, "prompt", "-s", "nobody", "hi");
  },
  async "a named session"() {
    await run(OK, /./, "sessions", "new", "--name", "s1");
    await run(OK, /Hello there/, "prompt", "-s", "s1", "hi");
  },
  async "set-mode"() {
    await run(OK, /plan/, "set-mode", "-s", "s1", "plan");
    await run(OK, /Written/, "--approve-all", "prompt", "-s", "s1", "WRITE while planning");
    assert.match(JSON.stringify(lastRequest().messages.at(-1)), /plan mode/, "the mode holds");
    await run(OK, /default/, "set", "-s", "s1", "mode", "default");
    await run(ERROR, /nope/, "set-mode", "-s", "s1", "nope");
  },
  async "set model"() {
    await run(OK, /mock-2/, "set", "-s", "s1", "model", "openai-compatible/mock-2");
    await run(OK, /Hello there/, "prompt", "-s", "s1", "hi again");
    assert.equal(lastRequest().model, "mock-2");
  },
  async "list, history, status"() {
    const [{ sessions }] = json(await run(OK, /./, "--format", "json", "sessions", "list"));
    assert.ok(sessions.some((s) => s.title === "hi"), JSON.stringify(sessions));
    await run(OK, /s1/, "sessions", "list", "--local");
    await run(OK, /hi again/, "sessions", "history", "s1");
    await run(OK, /running|alive|idle/, "status", "-s", "s1");
  },
  async "a cancel ends a running prompt"() {
    const prompt = acpx("prompt", "-s", "s1", "HANG");
    await prompt.says(/endless/);
    await run(OK, /cancel/, "cancel", "-s", "s1");
    const r = await prompt.done;
    assert.equal(r.code, OK, r.stdout + r.stderr);
    assert.match(r.stdout, /cancelled/);
    await run(OK, /Hello there/, "prompt", "-s", "s1", "after the cancel");
  },
  async "a session goes on after the process that held it ended"() {
    assert.ok(owners().length > 0 && place.processes().length > owners().length, "acpx keeps a process for the session, and that the agent");
    await gone();
    await run(OK, /Hello there/, "prompt", "-s", "s1", "still there?");
    assert.match(JSON.stringify(lastRequest().messages), /hi again.*still there/s);
  },
  async "close"() {
    await run(OK, /./, "sessions", "close", "s1");
    await run(NO_SESSION, /./, "prompt", "-s", "s1", "closed");
  },
};

// owners are acpx's own processes that hold sessions.
const owners = () => place.processes().filter((p) => p.line.includes(acpxPath) || p.line.includes("acpx/dist"));

// gone ends acpx's own processes, not the agents, and waits until all are gone.
// To let their time run out would race with the command before. They are no
// children of this process, so that it has to look for their end.
async function gone() {
  for (const p of owners()) try { process.kill(p.pid, "SIGTERM"); } catch { /* it has just ended */ }
  for (const until = Date.now() + 20000; place.processes().length; await new Promise((r) => setTimeout(r, 100))) {
    if (Date.now() > until) throw new Error(`still there: ${JSON.stringify(place.processes())}`);
  }
}

const tally = new Tally();
for (const [name, test] of Object.entries(TESTS)) await tally.run(name, test);
await tally.run("nothing is left running", gone);
await tally.run("the model's provider has nothing to object to", () => assert.deepEqual(served.state.errors, []));
model.close();
place.remove();
tally.end();
