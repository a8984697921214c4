import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { api, startSelvedge, type Selvedge } from "../support/selvedge.ts";

const CANARY = "CANARY";
const GATEWAY = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };

let selvedge: Selvedge;
let token: string;
let dataDir: string;
let provider: ReturnType<typeof createServer>;
let asked = 0;

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "selvedge-gateway-logs-"));
  // A provider that repeats what it was given, as some do in their errors.
  provider = createServer((req, res) => {
    asked++;
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const echo = {
        error: `bad key in ${JSON.stringify(req.headers)} at ${req.url}`,
        sent: Buffer.concat(chunks).toString(),
        usage: { prompt_tokens: 3, completion_tokens: 4 },
      };
      res.writeHead(req.url?.includes("fail") === true ? 401 : 200, { "content-type": "application/json" }).end(JSON.stringify(echo));
    });
  });
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  selvedge = await startSelvedge({ dataDir, args: ["--provider", `openai=${address}`, "--provider", `google-ai-studio=${address}`] });
  token = selvedge.ready.token ?? "";
  for (const gateway of [
    { id: "open", collect_logs: true },
    { id: "quiet", collect_logs: false },
    { id: "closed", collect_logs: true, authentication: true },
  ])
    assert.equal((await management("POST", "", { ...GATEWAY, ...gateway })).status, 200);
});

after(async () => {
  await selvedge.stop().catch(() => undefined);
  provider.closeAllConnections();
  provider.close();
  await rm(dataDir, { recursive: true, force: true });
});

const management = (method: string, path: string, body?: object): ReturnType<typeof api> =>
  api(selvedge, token, method, `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways${path}`, body);
const ask = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello there" }] };
const logIdOf = (res: Response): string => res.headers.get("svc-aig-log-id") ?? "";

test("a log has bodies and metadata as soon as the response ends, and accepts feedback, score and metadata later", async () => {
  const res = await ask("open/openai/chat/completions", chat, {
    "svc-aig-metadata": '{"user":"ada","n":1,"paid":true}',
    "svc-aig-event-id": "event-7",
    "user-agent": "tester/1",
  });
  const answer = await res.text();
  const id = logIdOf(res);
  const { status, body } = await management("GET", `/open/logs/${id}`);
  assert.equal(status, 200);
  const { request_head, response_head, created_at, duration, time_to_first_byte, cost, ...facts } = body.result;
  assert.deepEqual(JSON.parse(request_head), chat);
  assert.equal(response_head, answer);
  assert.ok(Date.parse(created_at) > 0 && duration >= time_to_first_byte && cost > 0);
  assert.deepEqual(facts, {
    id,
    provider: "openai",
    model: "gpt-4o-mini",
    model_type: "llm",
    path: "/chat/completions",
    success: true,
    cached: false,
    tokens_in: 3,
    tokens_out: 4,
    custom_cost: false,
    metadata: '{"user":"ada","n":1,"paid":true}',
    request_type: "chat",
    request_content_type: "application/json",
    response_content_type: "application/json",
    status_code: 200,
    step: 0,
    event_id: "event-7",
    user_agent: "tester/1",
    tokens_in_cached: null,
    tokens_in_cache_written: null,
    tokens_out_reasoning: null,
    tokens_estimated: false,
    authentication: false,
    compatibility_mode: false,
    dlp_action: "",
    guardrail_action: "",
    guardrail_findings: "",
    feedback: null,
    score: null,
    request_head_complete: true,
    request_size: Buffer.byteLength(JSON.stringify(chat)),
    response_head_complete: true,
    response_size: Buffer.byteLength(answer),
  });
  const raw = await fetch(`${selvedge.ready.api}/accounts/${selvedge.ready.account_id}/ai-gateway/gateways/open/logs/${id}/response`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.deepEqual([raw.status, raw.headers.get("content-type"), await raw.text()], [200, "application/json", answer]);
  assert.equal((await management("PATCH", `/open/logs/${id}`, { feedback: 2 })).status, 400);
  assert.equal((await management("PATCH", `/open/logs/${id}`, { feedback: -1, score: 42.5, metadata: { team: "blue" } })).status, 200);
  const patched = (await management("GET", `/open/logs/${id}`)).body.result;
  assert.deepEqual([patched.feedback, patched.score, patched.metadata], [-1, 42.5, '{"team":"blue"}']);
  const filters = encodeURIComponent(JSON.stringify([{ key: "metadata.value", operator: "eq", value: ["blue"] }]));
  const found = (await management("GET", `/open/logs?filters=${filters}&meta_info=true`)).body;
  assert.deepEqual(
    found.result.map((log: { id: string }) => log.id),
    [id],
  );
  assert.deepEqual([found.result_info.max_tokens_in, found.result_info.min_total_tokens, found.result_info.total_count], [3, 7, 1]);
  assert.equal((await management("GET", `/open/logs?filters=nonsense`)).body.errors[0].code, 7001);
  assert.equal((await management("GET", `/quiet/logs/${id}`)).status, 404);
});

test("a request decides whether it is logged, and whether with its bodies", async () => {
  const total = async (gateway: string): Promise<number> => (await management("GET", `/${gateway}/logs`)).body.result_info.total_count;
  const before = await total("open");
  assert.equal(logIdOf(await ask("open/openai/chat/completions", chat, { "cf-aig-collect-log": "false" })), "");
  const quiet = await ask("quiet/openai/chat/completions", chat);
  assert.equal(logIdOf(quiet), "");
  const loud = logIdOf(
    await ask("quiet/openai/chat/completions", chat, { "svc-aig-collect-log": "true", "svc-aig-collect-log-payload": "false" }),
  );
  const { result } = (await management("GET", `/quiet/logs/${loud}`)).body;
  assert.deepEqual([result.request_head, result.request_head_complete, result.response_head, result.tokens_out], ["", false, "", 4]);
  assert.equal((await management("GET", `/quiet/logs/${loud}/request`)).status, 404);
  assert.equal(await total("quiet"), 1);
  assert.equal(await total("open"), before);
});

test("a log is in the list once the client has its response, and a filter deletes it with other matches", async () => {
  assert.equal((await management("POST", "", { ...GATEWAY, id: "prompt", collect_logs: true })).status, 200);
  const filters = encodeURIComponent(JSON.stringify([{ key: "metadata.value", operator: "eq", value: ["gone"] }]));
  for (let round = 1; round <= 5; round++) {
    for (const value of ["gone", "stays", "gone"])
      await (await ask("prompt/openai/chat/completions", chat, { "svc-aig-metadata": JSON.stringify({ value }) })).text();
    const { result_info } = (await management("GET", "/prompt/logs")).body;
    assert.equal(result_info.total_count, round - 1 + 3);
    await (await ask("prompt/openai/chat/completions", chat, { "svc-aig-metadata": '{"value":"gone"}' })).text();
    assert.equal((await management("DELETE", `/prompt/logs?filters=${filters}`)).status, 200);
    assert.equal((await management("GET", "/prompt/logs")).body.result_info.total_count, round);
  }
});

test("the first request with a token creates the account's default gateway, and has its log there", async () => {
  const authorized = { "svc-aig-authorization": `Bearer ${token}` };
  assert.equal((await ask("default/openai/chat/completions", chat)).status, 400);
  assert.equal((await management("GET", "/default")).status, 404);
  const first = await ask("default/openai/chat/completions", chat, authorized);
  assert.equal(first.status, 200);
  await eventually(async () => (await management("GET", "/default")).status === 200);
  const { is_default, authentication, collect_logs } = (await management("GET", "/default")).body.result;
  assert.deepEqual([is_default, authentication, collect_logs], [true, true, true]);
  assert.equal((await management("GET", `/default/logs/${logIdOf(first)}`)).status, 200);
  assert.equal((await ask("default/openai/chat/completions", chat)).status, 401);
});

test("SPEC 1.1: a refused request has no log and does not reach the provider", async () => {
  const before = asked;
  for (const headers of [{}, { "svc-aig-authorization": "Bearer wrong" }, { authorization: `Bearer ${token}` }] as Record<string, string>[])
    assert.equal((await ask("closed/openai/chat/completions", chat, headers)).status, 401);
  assert.equal((await management("GET", "/closed/logs")).body.result_info.total_count, 0);
  assert.equal(asked, before);
});

test("keys in headers, queries and bodies appear in no log, database, error or export", async () => {
  const names = [
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "openai-organization-token",
    "cookie",
    "proxy-secret",
    "svc-aig-authorization",
    "svc-aig-token",
    "cf-aig-authorization",
    "x-auth-key",
    "x-my-password",
  ];
  const headers = Object.fromEntries(names.map((name, i) => [name, `Bearer ${CANARY}-header-${i}-x9Qm`]));
  headers["user-agent"] = `agent ${CANARY}-header-1-x9Qm`;
  headers["svc-aig-metadata"] = JSON.stringify({ key: `${CANARY}-header-2-x9Qm` });
  const key = `sk-proj-${"Zq8LmN4pR7sT2vWx".repeat(3)}T3BlbkFJ${"kQ9wE5rT1yU7iO3p".repeat(3)}`;
  const body = {
    ...chat,
    api_key: `${CANARY}-body-1`,
    nested: { client_secret: `${CANARY}-body-2` },
    messages: [{ role: "user", content: `my key is ${key} and password=${CANARY}-body-3 and Bearer ${CANARY}-body-4-long` }],
  };
  const query = `?key=${CANARY}-query-1-x9Qm&api_key=${CANARY}-query-2&access_token=${CANARY}-query-3`;
  const ids: string[] = [];
  for (const path of [
    "open/openai/chat/completions",
    "open/openai/fail",
    "open/google-ai-studio/models/gemini:generateContent",
    "closed/openai/chat/completions",
    "open/nowhere/x",
  ]) {
    const res = await ask(path + query, body, headers);
    ids.push(logIdOf(res));
    const text = await res.text();
    if (res.status !== 200 && !path.includes("fail")) assert.ok(!text.includes(CANARY), text);
  }
  const kept = ids.filter((id) => id !== "");
  assert.equal(kept.length, 3);
  for (const id of kept)
    for (const part of ["", "/request", "/response"]) {
      const res = await fetch(`${selvedge.ready.api}/accounts/${selvedge.ready.account_id}/ai-gateway/gateways/open/logs/${id}${part}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const text = await res.text();
      assert.equal(res.status, 200);
      assert.ok(!text.includes(CANARY) && !text.includes(key), `${part}: ${text.slice(0, 2000)}`);
    }
  const list = JSON.stringify((await management("GET", "/open/logs?per_page=50")).body);
  assert.ok(!list.includes(CANARY) && !list.includes(key));
  assert.equal((await management("DELETE", "/open/logs?limit=1")).status, 200);
  await selvedge.stop();
  assert.ok(!selvedge.log().includes(CANARY), "the server's own log");
  for (const file of filesBelow(dataDir)) {
    const bytes = readFileSync(file);
    assert.ok(!bytes.includes(CANARY) && !bytes.includes(key), file);
    if (file.includes("/gateway-logs/")) assert.equal(statSync(file).mode & 0o077, 0, file);
  }
});

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
