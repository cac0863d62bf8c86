#!/usr/bin/env node
// acpx.mjs AGENT: the command-line client acpx drives the agent: one-shot prompts
// under its permission policies, named sessions, modes and models, a cancel, and
// a session taken up again after acpx's own process for it has ended. A scripted
// model stands in for a real one.
import { execFileSync, spawn } from "node:child_process";
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startMockModel } from "../harness/mockmodel.mjs";

const agentPath = path.resolve(process.argv[2] ?? "bin/acp-agent");
const acpxPath = fileURLToPath(new URL("./node_modules/acpx/dist/cli.js", import.meta.url));
const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "acp-acpx-")));
const ws = path.join(root, "ws"), home = path.join(root, "home");
for (const dir of [ws, home]) fs.mkdirSync(dir);
fs.writeFileSync(path.join(ws, "a.txt"), "alpha\n");

const model = await startMockModel();
const served = model.add("acpx", [
  { when: "READ", loop: "all", replies: [[{ tool: "read", args: { path: "a.txt" } }], [{ text: "It says alpha." }]] },
  { when: "TOUCH", loop: "all", replies: [[{ tool: "bash", args: { command: "touch made" } }], [{ text: "Touched." }]] },
  { when: "EDIT", replies: [[{ tool: "edit", args: { path: "a.txt", old_string: "alpha", new_string: "beta" } }], [{ text: "Edited." }]] },
  { when: "HANG", replies: [[{ text: "endless " }, { hang: true }]] },
  { when: "BROKEN", loop: true, replies: [[{ http: 400, body: { error: { message: "sample model failure" } } }]] },
  { loop: true, replies: [[{ text: "Hello there." }]] },
]);
const env = {
  PATH: process.env.PATH, HOME: home, TMPDIR: root, LANG: "C.UTF-8", NO_COLOR: "1",
  ACP_AGENT_MODEL: "openai-compatible/mock", OPENAI_BASE_URL: served.baseURL, OPENAI_API_KEY: "test-key", ACP_AGENT_KEYRING: "off",
};

// acpx runs the client and returns its status and output.
function acpx(...args) {
  const child = spawn(process.execPath, [acpxPath, "--cwd", ws, "--ttl", "120", "--agent", `${agentPath} acp`, ...args], { cwd: ws, env, stdio: ["ignore", "pipe", "pipe"] });
  const r = { stdout: "", stderr: "", child };
  child.stdout.on("data", (d) => { r.stdout += d; r.look?.(); });
  child.stderr.on("data", (d) => { r.stderr += d; });
  const timer = setTimeout(() => child.kill("SIGKILL"), 30000);
  r.done = new Promise((resolve) => child.on("close", (code) => { clearTimeout(timer); r.code = code; resolve(r); }));
  r.says = (re) => new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`acpx never said ${re}: ${r.stdout}${r.stderr}`)), 20000);
    r.look = () => { if (re.test(r.stdout)) { clearTimeout(late); resolve(); } };
    r.look();
  });
  return r;
}
const run = async (...args) => {
  const r = await acpx(...args).done;
  return r;
};
const ok = (r, re) => {
  assert.equal(r.code, 0, r.stdout + r.stderr);
  if (re) assert.match(r.stdout, re);
};
// ours lists the processes that this test began: their environment names its folder.
const ours = () => execFileSync("ps", ["axeww", "-o", "pid=,args="]).toString().split("\n").filter((l) => l.includes(`HOME=${home}`)).map((l) => ({ pid: Number(l.trim().split(" ")[0]), line: l.slice(0, 200) }));

const TESTS = {
  async "one prompt, everything approved"() {
    ok(await run("--approve-all", "exec", "TOUCH"), /Touched/);
    assert.ok(fs.existsSync(path.join(ws, "made")));
    fs.rmSync(path.join(ws, "made"));
  },
  async "one prompt, everything denied"() {
    const r = await run("--deny-all", "exec", "TOUCH");
    assert.notEqual(r.code, 2, r.stderr);
    assert.ok(!fs.existsSync(path.join(ws, "made")));
  },
  async "nobody can be asked"() {
    const r = await run("--non-interactive-permissions", "fail", "exec", "TOUCH");
    assert.notEqual(r.code, 0);
    assert.ok(!fs.existsSync(path.join(ws, "made")));
  },
  async "reading needs no approval"() {
    ok(await run("--no-fs", "--deny-all", "exec", "READ"), /It says alpha/);
  },
  async "frames as JSON"() {
    const r = await run("--format", "json", "--approve-all", "exec", "READ");
    ok(r);
    const frames = r.stdout.trim().split("\n").map((l) => JSON.parse(l));
    assert.ok(frames.some((f) => f.params?.update?.sessionUpdate === "tool_call"));
    assert.ok(frames.some((f) => f.result?.stopReason === "end_turn"));
  },
  async "text alone"() { ok(await run("--format", "quiet", "--approve-all", "exec", "hi"), /^Hello there\.\s*$/); },
  async "without files and terminals of the client"() {
    ok(await run("--no-fs", "--no-terminal", "--approve-all", "exec", "EDIT"), /Edited/);
    assert.equal(fs.readFileSync(path.join(ws, "a.txt"), "utf8"), "beta\n");
    fs.writeFileSync(path.join(ws, "a.txt"), "alpha\n");
  },
  async "a failing model"() {
    const r = await run("exec", "BROKEN");
    assert.equal(r.code, 1, r.stdout + r.stderr);
    assert.match(r.stdout + r.stderr, /sample model failure/);
  },
  async "a named session: prompt, mode, model, list, history, status"() {
    ok(await run("sessions", "new", "--name", "s1"));
    ok(await run("prompt", "-s", "s1", "hi"), /Hello there/);
    ok(await run("set-mode", "-s", "s1", "plan"));
    ok(await run("set", "-s", "s1", "mode", "default"));
    ok(await run("set", "-s", "s1", "model", "openai-compatible/mock-2"));
    ok(await run("prompt", "-s", "s1", "hi again"), /Hello there/);
    assert.equal(served.state.requests.filter((q) => q.tools?.length).at(-1).model, "mock-2");
    ok(await run("sessions", "list", "--local"), /s1/);
    ok(await run("sessions", "history", "s1"), /hi again/);
    ok(await run("status", "-s", "s1"));
  },
  async "a cancel ends a running prompt"() {
    const prompt = acpx("prompt", "-s", "s1", "HANG");
    await prompt.says(/endless/);
    ok(await run("cancel", "-s", "s1"));
    const r = await prompt.done;
    assert.notEqual(r.code, 1, r.stderr);
    ok(await run("prompt", "-s", "s1", "after the cancel"), /Hello there/);
  },
  async "a session goes on after the process that held it ended"() {
    assert.ok(ours().length >= 2, "acpx keeps a process for the session, and that the agent");
    await gone();
    ok(await run("prompt", "-s", "s1", "still there?"), /Hello there/);
    const last = served.state.requests.filter((q) => q.tools?.length).at(-1);
    assert.match(JSON.stringify(last.messages), /hi again.*still there/s);
    ok(await run("sessions", "close", "s1"));
  },
};

// gone ends acpx's process for the session and waits until it and its agent are
// gone. To let it run out of time would race with the command before.
async function gone() {
  for (const p of ours()) try { process.kill(p.pid, "SIGTERM"); } catch {}
  for (const until = Date.now() + 20000; ours().length; await new Promise((r) => setTimeout(r, 100))) {
    if (Date.now() > until) throw new Error(`still there: ${JSON.stringify(ours())}`);
  }
}

let passed = 0, failed = 0;
for (const [name, test] of Object.entries(TESTS)) {
  try { await test(); console.log(`ok   ${name}`); passed++; }
  catch (e) { console.log(`FAIL ${name}: ${e.stack ?? e}`); failed++; }
}
try { await gone(); } catch (e) { console.log(`FAIL ${e.message}`); failed++; }
for (const p of ours()) try { process.kill(p.pid, "SIGKILL"); } catch {}
if (served.state.errors.length) { console.log(`FAIL the provider objects: ${served.state.errors}`); failed++; }
model.close();
fs.rmSync(root, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
