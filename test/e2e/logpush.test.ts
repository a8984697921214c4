import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { eventually, readUntil } from "../support/eventually.ts";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";

const CANARY = "sk-CANARY-0123456789abcdef";
const GATEWAY = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };

let selvedge: Selvedge;
let token: string;
let dataDir: string;
/** Repeats what it was given, as some do in their errors. */
const provider = createServer((req, res) => {
  req.resume().on("end", () => {
    const echo = { echo: req.headers, usage: { prompt_tokens: 3, completion_tokens: 4 } };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(echo));
  });
});
const files: string[] = [];
let isTaken = true;
const receiver = createServer((req, res) => {
  const parts: Buffer[] = [];
  req.on("data", (part: Buffer) => parts.push(part));
  req.on("end", () => {
    if (isTaken) files.push(gunzipSync(Buffer.concat(parts)).toString());
    res.writeHead(isTaken ? 200 : 500).end();
  });
});

const portOf = (server: typeof provider): number => (server.address() as AddressInfo).port;
const start = async (): Promise<Selvedge> =>
  startSelvedge({ dataDir, args: ["--provider", `openai=http://127.0.0.1:${portOf(provider)}/v1`] });

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "selvedge-logpush-"));
  for (const server of [provider, receiver]) await once(server.listen(0, "127.0.0.1"), "listening");
  selvedge = await start();
  token = selvedge.ready.token ?? "";
});

after(async () => {
  await selvedge.stop().catch(() => undefined);
  for (const server of [provider, receiver]) {
    server.closeAllConnections();
    server.close();
  }
  await rm(dataDir, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: object): ReturnType<typeof api> =>
  api(selvedge, token, method, `/accounts/${selvedge.ready.account_id}${path}`, body);

async function chat(gateway: string): Promise<string> {
  const res = await fetch(`${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/${gateway}/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${CANARY}` },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: `my key is ${CANARY}` }] }),
  });
  assert.equal(res.status, 200);
  assert.match(await res.text(), new RegExp(CANARY), "the client is told what the provider says");
  return res.headers.get("svc-aig-log-id") ?? "";
}

const pushed = (): string[] =>
  files
    .flatMap((file) => file.trimEnd().split("\n"))
    .map((line) => (JSON.parse(line) as { LogID?: string }).LogID)
    .filter((id) => id !== undefined);

test("logpush delivers each log, also after a power cut while the receiver was down, and no provider keys", async () => {
  for (const [id, logpush] of Object.entries({ pushed: true, quiet: false }))
    assert.equal((await call("POST", "/ai-gateway/gateways", { ...GATEWAY, id, collect_logs: true, logpush })).status, 200);
  const destination_conf = `http://127.0.0.1:${portOf(receiver)}/logs?header_Authorization=Bearer%20token`;
  const job = await call("POST", "/logpush/jobs", { dataset: "ai_gateway_events", enabled: true, destination_conf });
  assert.equal(job.status, 201);
  const ids = [await chat("pushed"), await chat("pushed")];
  await chat("quiet");
  await eventually(() => pushed().length >= 2);
  isTaken = false;
  ids.push(await chat("pushed"), await chat("pushed"));
  // A changed job applies in its next turn.
  await call("PUT", `/logpush/jobs/${job.body.result.id}`, { name: "hurried" });
  await eventually(async () => (await call("GET", `/logpush/jobs/${job.body.result.id}`)).body.result.last_error !== null);
  const answered = chat("pushed");
  ids.push(await answered);
  await selvedge.kill();
  isTaken = true;
  selvedge = await start();
  await eventually(() => pushed().length >= 5);
  assert.deepEqual(pushed(), ids, "nothing that was taken is pushed again");
  // The line is written after the answer.
  const shown = await readUntil(
    async () => (await call("GET", `/logpush/jobs/${job.body.result.id}`)).body.result,
    ({ last_error }) => last_error === null,
  );
  assert.equal(typeof shown.last_complete, "string");
  const everything = files.join("");
  assert.doesNotMatch(everything, /CANARY/);
  assert.match(everything, /my key is/);
});
