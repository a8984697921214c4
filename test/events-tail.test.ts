import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";

const PROGRAM = join(import.meta.dirname, "../bin/selvedge.js");
const ACCOUNT = "a/b".padEnd(32, "0");

/** Follows an account's events. */
const started = (api: string, ...args: readonly string[]) =>
  spawn(process.execPath, [PROGRAM, "events", "tail", "--api", api, "--token", "t", "--account", ACCOUNT, "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });

/** Its output, its error output, and its exit code. */
async function tail(api: string, ...args: readonly string[]): Promise<readonly [string, string, number]> {
  const child = started(api, ...args);
  const [out, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return [out, complaint, code as number];
}

/** A server with scripted answers, one per request, which a real server cannot produce on demand. */
async function serve(t: TestContext, ...answers: ((req: IncomingMessage, res: ServerResponse) => void)[]) {
  const asked: { readonly url: string; readonly seen: string | undefined }[] = [];
  const server = createServer((req, res) => {
    asked.push({ url: req.url ?? "", seen: req.headers["last-event-id"] as string | undefined });
    (answers.shift() ?? refused(403))(req, res);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close().closeAllConnections());
  return { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`, asked };
}

const refused = (status: number) => (_: IncomingMessage, res: ServerResponse) =>
  res
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify({ success: false, errors: [{ code: 1000 + status, message: "no" }], messages: [], result: null }));
const stream =
  (body: string, end: (res: ServerResponse) => void = () => undefined) =>
  (_: IncomingMessage, res: ServerResponse) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(body, () => end(res));
  };
const event = (id: string): string => `id: ${id}\nevent: security_event\ndata: {"id":"${id}"}\n\n`;

test("Ctrl-C ends the command by its signal, as shells expect, and prints nothing", async (t) => {
  const { api } = await serve(t, stream(event("one")));
  // A separate process group, because a terminal interrupts the group.
  const child = spawn(process.execPath, [PROGRAM, "events", "tail", "--api", api, "--token", "t", "--account", ACCOUNT, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const complaint = text(child.stderr);
  await once(child.stdout, "data");
  process.kill(-(child.pid as number), "SIGINT");
  assert.deepEqual(await once(child, "exit"), [null, "SIGINT"]);
  assert.equal(await complaint, "");
});

test("the help has examples with valid options", async () => {
  const child = spawn(process.execPath, [PROGRAM, "events", "tail", "--help"], { stdio: ["ignore", "pipe", "inherit"] });
  const [help, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(code, 0);
  const [options = "", examples = ""] = help.split("Examples:\n");
  const named = examples.match(/--\w+/g) ?? [];
  assert.ok(named.length > 5);
  for (const option of named) assert.ok(options.includes(`  ${option} `), option);
});

test("the command ends with a message if the server is missing or refuses", async (t) => {
  const { api } = await serve(t);
  const [out, complaint, code] = await tail(api);
  assert.deepEqual([out, code], ["", 1]);
  assert.match(complaint, /events: no \(1403\)/);
  const [, unreachable, failed] = await tail("http://127.0.0.1:9/client/v4");
  assert.match(unreachable, /cannot reach the API/);
  assert.doesNotMatch(unreachable, /trying again/);
  assert.equal(failed, 1);
});

test("a broken stream resumes after the last seen event, retries a busy server, and ends if refused", async (t) => {
  const { api, asked } = await serve(
    t,
    stream("id: begun\n\n", (res) => res.destroy()),
    stream(event("one"), (res) => res.end()),
    refused(503),
    stream(`event: missed\ndata: {"events":null}\n\n${event("two")}`, (res) => res.end()),
  );
  const [out, complaint, code] = await tail(api);
  assert.deepEqual(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id),
    ["one", "two"],
  );
  assert.deepEqual(
    asked.map(({ seen }) => seen),
    [undefined, "begun", "one", "one", "two"],
  );
  assert.match(complaint, /was interrupted.*trying again[^]*no \(1503\); trying again[^]*missed the events[^]*no \(1403\)/);
  assert.equal(code, 1);
  assert.ok(asked.every(({ url }) => url.startsWith(`/client/v4/accounts/${encodeURIComponent(ACCOUNT)}/security/`)));
});

test("--for limits the time of all connections together", async (t) => {
  const { api, asked } = await serve(
    t,
    stream("id: begun\n\n", (res) => setTimeout(() => res.destroy(), 1200)),
    stream("id: begun\n\n", (res) => setTimeout(() => res.end(), secondsOf(res.req.url ?? "") * 1000)),
  );
  const secondsOf = (url: string): number => Number(new URL(url, api).searchParams.get("for_seconds"));
  const [, , code] = await tail(api, "--for", "8s");
  assert.equal(code, 0);
  const [first, second = 0] = asked.map(({ url }) => secondsOf(url));
  assert.equal(first, 8);
  assert.ok(second >= 1 && second <= 7, `then ${second} of 8 seconds were asked for`);
  const [, complaint, usage] = await tail(api, "--for", "soon");
  assert.match(complaint, /--for takes a number and a unit, such as 90d, 12h, 30m or 600s, not "soon"/);
  assert.equal(usage, 2);
});

test("a reader that closes the pipe ends the command silently", async (t) => {
  let write: (() => void) | undefined;
  const { api } = await serve(t, (_, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    write = () => void res.write(event("again"));
    write();
  });
  const child = started(api);
  await once(child.stdout, "data");
  child.stdout.destroy();
  const timer = setInterval(() => write?.(), 20);
  t.after(() => clearInterval(timer));
  const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.deepEqual([complaint, code], ["", 0]);
});

test("visitors' text cannot control the terminal, and JSON output has the same content", async (t) => {
  const agent = "ua \u009b31m \u001b[31m \u007f \u202egnp.exe";
  const sent = (row: object) =>
    stream(`id: one\nevent: security_event\ndata: ${JSON.stringify({ id: "one", ...row })}\n\n`, (res) => res.end());
  const line = {
    occurred_at: "t",
    action: "log",
    service: "WAF",
    client_ip: "192.0.2.7",
    method: "GET",
    host: "h",
    path: "/",
    status: 200,
  };
  const { api } = await serve(t, sent({ user_agent: agent }), refused(403), sent({ ...line, rule_description: agent }), refused(403));
  const COMMANDS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
  const [json] = await tail(api);
  assert.doesNotMatch(json, COMMANDS);
  assert.equal(JSON.parse(json).user_agent, agent);
  const child = spawn(process.execPath, [PROGRAM, "events", "tail", "--api", api, "--token", "t", "--account", ACCOUNT]);
  const shown = await text(child.stdout);
  assert.doesNotMatch(shown, COMMANDS);
  assert.equal(shown, "t log               200 192.0.2.7       WAF: ua \\u009b31m \\u001b[31m \\u007f \\u202egnp.exe  GET h/\n");
});

test("output is aligned in columns, with the longest last", async (t) => {
  const sent = (kind: string, rows: readonly object[]) =>
    stream(rows.map((row) => `id: one\nevent: ${kind}\ndata: ${JSON.stringify(row)}\n\n`).join(""), (res) => res.end());
  const shared = { occurred_at: "2030-01-31T08:00:00.000Z", method: "GET", host: "a.example", path: `/${"long".repeat(100)}` };
  const blocked = {
    ...shared,
    id: "1",
    action: "block",
    status: 403,
    client_ip: "192.0.2.7",
    service: "WAF",
    rule_description: "",
    rule_id: "r1",
  };
  const challenged = {
    ...blocked,
    action: "managed_challenge",
    client_ip: "192.0.2.107",
    service: "Data Loss Protection",
    rule_description: "a rule",
  };
  const answered = { ...shared, status: 200, client_ip: "2001:db8::7", duration_ms: 0.123, bytes_out: 274 };
  const { api } = await serve(
    t,
    sent("security_event", [blocked, challenged]),
    refused(403),
    sent("request", [answered, { ...answered, duration_ms: 12_345.6, bytes_out: 123_456_789 }]),
    refused(403),
  );
  const lines = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [PROGRAM, "events", "tail", "--api", api, "--token", "t", "--account", ACCOUNT, ...args]);
    return (await text(child.stdout)).trimEnd().split("\n");
  };
  const end = `  GET a.example${shared.path}`;
  assert.deepEqual(await lines(), [
    `2030-01-31T08:00:00.000Z block             403 192.0.2.7       WAF: r1${end}`,
    `2030-01-31T08:00:00.000Z managed_challenge 403 192.0.2.107     Data Loss Protection: a rule${end}`,
  ]);
  assert.deepEqual(await lines("--requests"), [
    `2030-01-31T08:00:00.000Z 200 2001:db8::7          0.1 ms       274 bytes${end}`,
    `2030-01-31T08:00:00.000Z 200 2001:db8::7      12345.6 ms 123456789 bytes${end}`,
  ]);
});
