import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import pg from "pg";
import { SMTPServer } from "smtp-server";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { apiCaller, type ApiCall, succeed } from "../support/api.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { KINDS, type Kind, markedValues } from "../support/marked-values.ts";
import { type OwnPostgres, sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// Values of all kinds go everywhere where a visitor, an origin, a provider or a client of the API may put them. None of them may
// come out anywhere else: the cache alone holds responses as they are.

const ZONE = "planted.example";
const HOST = `www.${ZONE}`;
const MINUTE_MS = 60_000;
const SPIKE = 250;
const CACHE = "cache";

const marked = markedValues(20_261_123);
const startedMs = Date.now();
const postgres: OwnPostgres | null = sharedPostgres() === null ? startPostgres() : null;
/** Values that have appeared, by place. */
const seen = new Map<string, string>();
const see = (where: string, what: string): void => void seen.set(where, (seen.get(where) ?? "") + what);

let directory = "";
let dataDir = "";
let databaseUrl = "";
let token = "";
let selvedge: Selvedge;
let call: ApiCall;
let zone = "";
const open: { close(): unknown }[] = [];

async function listening(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  return (server.address() as AddressInfo).port;
}

const json = (values: Readonly<Record<Kind, string>>): string => JSON.stringify(values);
/** Each value is a key as well. */
const keyed = (values: Readonly<Record<Kind, string>>): string =>
  JSON.stringify({ users: Object.fromEntries(Object.values(values).map((value) => [value, { card: value }])) });

const bodies: Readonly<
  Record<string, { readonly type: string; readonly body: string | Buffer; readonly more?: Readonly<Record<string, string>> }>
> = {
  "/json": { type: "application/json", body: json(marked.at("a JSON body")) },
  "/keys": { type: "application/json", body: keyed(marked.at("keys of JSON")) },
  "/html": { type: "text/html", body: `<p>${Object.values(marked.at("a page")).join("</p><p>")}</p>` },
  "/packed": { type: "text/html", body: gzipSync(json(marked.at("a packed body"))), more: { "content-encoding": "gzip" } },
  "/kept": { type: "text/html", body: json(marked.at("a cached body")), more: { "cache-control": "public, max-age=600" } },
  "/broken": { type: "text/html", body: json(marked.at("a broken body")), more: { "content-length": "100000" } },
  "/headers": { type: "text/html", body: "", more: headersOf("response", marked.at("a response's head")) },
};

function headersOf(kind: "request" | "response", values: Readonly<Record<Kind, string>>): Record<string, string> {
  const all = Object.values(values).join("; ");
  const own = Object.fromEntries(KINDS.map((name) => [`x-${name.replace("_", "-")}`, values[name]]));
  return kind === "response"
    ? { ...own, "set-cookie": `a=${all}`, location: `https://elsewhere.example/?${encodeURIComponent(all)}`, etag: `"${values.card}"` }
    : {
        ...own,
        cookie: `a=${all}`,
        authorization: `Bearer ${values.stripe_key}`,
        referer: `https://x.example/${encodeURIComponent(all)}`,
        "if-none-match": `"${values.card}"`,
        from: values.email,
      };
}

/** Kinds that the detectors find which are on by default: the others stay in paths, as visitors wrote them (ADR 0035). */
const MASKED: readonly Kind[] = ["card", "iban", "aws_key", "stripe_key"];

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The status; 0 where the answer breaks off. */
async function visit(path: string, { method = "GET", headers = {}, body }: Asked = {}): Promise<number> {
  const { hostname, port } = new URL(selvedge.ready.http);
  const req = request({ hostname, port, path, method, headers: { host: HOST, ...headers } });
  req.end(body);
  const [res] = (await once(req, "response")) as [IncomingMessage];
  return text(res).then(
    () => res.statusCode ?? 0,
    () => 0,
  );
}

/** Sends bytes that are not a request, or a refused one. */
async function sendRaw(url: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  socket.end(bytes, "latin1");
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
}

/** Follows a stream of events for as long as the server lives. */
async function follow(path: string): Promise<void> {
  const res = await fetch(selvedge.ready.api + path, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(res.status, 200);
  void (async () => {
    for await (const piece of res.body ?? []) see("the tails", Buffer.from(piece).toString("latin1"));
  })().catch(() => undefined);
}

async function liveAt(minutes: number, smtpPort: number, providerPort: number): Promise<void> {
  selvedge = await startSelvedge({
    dataDir,
    args: [...["--log-level", "debug", "--provider", `openai=http://127.0.0.1:${providerPort}/v1`], ...["--database-url", databaseUrl]],
    env: {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/shifted-clock.ts")}`,
      TEST_CLOCK_SHIFT_MS: String(startedMs + minutes * MINUTE_MS - Date.now()),
      TMPDIR: join(directory, "tmp"),
      SELVEDGE_NOTIFICATIONS_SMTP_HOST: "127.0.0.1",
      SELVEDGE_NOTIFICATIONS_SMTP_PORT: String(smtpPort),
      SELVEDGE_NOTIFICATIONS_EMAIL_FROM: "edge@example.net",
    },
  });
  token = selvedge.ready.token ?? token;
  call = apiCaller(selvedge.ready, token);
}

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "selvedge-planted-"));
  dataDir = join(directory, "data");
  await mkdir(join(directory, "tmp"));
  databaseUrl = await (sharedPostgres() ?? postgres!).createDatabase();
});

after(async () => {
  await selvedge?.kill().catch(() => undefined);
  for (const one of open) one.close();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

test("values planted in requests, responses and API calls are stored in the cache only", async () => {
  const originPort = await listening((req, res) => {
    const { type, body, more } = bodies[new URL(req.url ?? "", "http://x").pathname] ?? { type: "text/html", body: "plain" };
    req.resume();
    res.writeHead(200, { "content-type": type, ...more }).write(body);
    if (req.url === "/broken") setTimeout(() => res.destroy(), 20);
    else res.end();
  });
  const providerPort = await listening(async (req, res) => {
    const said = await text(req);
    res
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: `no: ${said}` }, head: req.headers }));
  });
  const pushPort = await listening(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    see("pushed logs", gunzipSync(Buffer.concat(parts)).toString("latin1"));
    res.end();
  });
  const hookPort = await listening(async (req, res) => {
    see("webhooks", `${JSON.stringify(req.headers)}${await text(req)}`);
    res.end();
  });
  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: async (stream, _session, done) => {
      see("mail", await text(stream));
      done();
    },
  });
  mail.listen(0, "127.0.0.1");
  open.push({ close: () => mail.close(() => undefined) });
  await once(mail.server, "listening");
  const smtpPort = (mail.server.address() as AddressInfo).port;

  await liveAt(0, smtpPort, providerPort);
  const account = selvedge.ready.account_id;
  zone = (await succeed(call("POST", "/zones", { name: ZONE, account: { id: account } }))).id;
  for (const name of ["www", "down"])
    await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name, content: "127.0.0.1", proxied: true, ttl: 1 }));
  const entryPoint = (phase: string, rules: readonly object[]): Promise<any> =>
    succeed(call("PUT", `/zones/${zone}/rulesets/phases/${phase}/entrypoint`, { rules }));
  const route = (name: string, port: number) => ({
    ...{ action: "route", expression: `http.host eq "${name}.${ZONE}"` },
    action_parameters: { origin: { port } },
  });
  await entryPoint("http_request_origin", [route("www", originPort), route("down", 9)]);
  const everything = { id: SENSITIVE_DATA_RULESET_ID, overrides: { enabled: true } };
  await entryPoint("http_response_firewall_managed", [{ action: "execute", expression: "true", action_parameters: everything }]);
  await entryPoint("http_request_firewall_custom", [
    { action: "block", expression: 'starts_with(http.request.uri.path, "/refused")' },
    { action: "log", expression: 'starts_with(http.request.uri.path, "/logged")' },
  ]);
  await entryPoint("http_request_cache_settings", [
    { action: "set_cache_settings", expression: 'http.request.uri.path eq "/kept"', action_parameters: { cache: true } },
  ]);
  const alerting = `/accounts/${account}/alerting/v3`;
  const { id: webhook } = await succeed(
    call("POST", `${alerting}/destinations/webhooks`, { name: "hook", url: `http://127.0.0.1:${hookPort}/hook` }),
  );
  const policy = { name: "spikes", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", filters: { zones: [zone] } };
  await succeed(
    call("POST", `${alerting}/policies`, { ...policy, mechanisms: { webhooks: [{ id: webhook }], email: [{ id: "ops@example.com" }] } }),
  );
  for (const path of [
    `/zones/${zone}/security/events/tail`,
    `/accounts/${account}/security/events/tail`,
    `/zones/${zone}/logs/requests/tail`,
  ])
    await follow(path);

  // Responses.
  for (const path of Object.keys(bodies)) assert.equal(await visit(path), path === "/broken" ? 0 : 200, path);
  assert.equal(await visit("/kept"), 200);
  // Requests: what they say beside their address is kept nowhere.
  const head = { ...headersOf("request", marked.at("a request's head")), "content-type": "application/json" };
  assert.equal(await visit("/heads", { headers: head }), 200);
  assert.equal(await visit("/refused/heads", { headers: head }), 403);
  for (const path of ["/posted", "/refused/posted"])
    await visit(path, { method: "POST", headers: head, body: json(marked.at("a request's body")) });
  // Addresses.
  for (const prefix of ["", "/refused", "/logged"]) {
    const values = marked.at(`addresses below ${prefix}/`);
    for (const kind of MASKED) {
      const value = encodeURIComponent(values[kind]);
      await visit(`${prefix}/people/${value}/of?q=${value}&${value}=1`, { headers: { "user-agent": `Agent ${values[kind]}` } });
      await visit(`${prefix}/people`, { headers: { host: `down.${ZONE}`, "user-agent": `Agent ${values[kind]}` } });
    }
  }
  const odd = marked.at("requests that are none");
  for (const url of [selvedge.ready.http, selvedge.ready.api, selvedge.ready.gateway]) {
    const all = Object.values(odd).join(" ");
    await sendRaw(url, `GET /?q=${odd.card} HTTP/1.1\r\nHost: ${HOST}\r\nHost: ${odd.card}\r\n\r\n`);
    await sendRaw(url, `GET /${all} HTTP/9.9\r\n${all}\r\n\r\n`);
    await sendRaw(url, `POST / HTTP/1.1\r\nHost: ${HOST}\r\nTransfer-Encoding: chunked\r\nX: ${all}\r\n\r\n${all}\r\n`);
    await sendRaw(url, `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Long: ${all.repeat(2000)}\r\n\r\n`);
  }
  // Calls.
  const texts = marked.at("a dry run");
  const dry = await succeed(call("POST", `/zones/${zone}/sensitive_data/scan`, { text: `${json(texts)} ${keyed(texts)}` }));
  assert.ok(dry.findings.length >= KINDS.length);
  see("a dry run", JSON.stringify(dry));
  const wrong = marked.at("mistaken calls");
  const api = (path: string, body: string) =>
    fetch(selvedge.ready.api + path, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
  await api(`/zones/${zone}/sensitive_data/scan`, `{"text": "${json(wrong)}`);
  await api(`/zones/${zone}/sensitive_data/scan`, JSON.stringify({ text: 5, other: wrong }));
  for (const value of Object.values(wrong)) {
    await call("GET", `/zones/${encodeURIComponent(value)}/sensitive_data/allowed?${encodeURIComponent(value)}=1`);
    await call("GET", `/zones/${zone}/security/events?since=${encodeURIComponent(value)}&cursor=${encodeURIComponent(value)}`);
  }
  // Gateway: its rows hold what was asked only where its owner lets them.
  const settings = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };
  const gateway = { ...settings, id: "quiet", collect_logs: true, logpush: true };
  await succeed(call("POST", `/accounts/${account}/ai-gateway/gateways`, gateway));
  const destination_conf = `http://127.0.0.1:${pushPort}/logs`;
  await succeed(call("POST", `/accounts/${account}/logpush/jobs`, { dataset: "ai_gateway_events", enabled: true, destination_conf }));
  const prompt = marked.at("a prompt");
  const chat = await fetch(`${selvedge.ready.gateway}/v1/${account}/quiet/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${prompt.stripe_key}`, "svc-aig-collect-log-payload": "false" },
    body: JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: json(prompt) }] }),
  });
  assert.match(await chat.text(), new RegExp(prompt.card), "the client is told what the provider says");

  const events = `/zones/${zone}/security/events`;
  const found = (
    await readUntil<readonly { path: string; service: string; matches: { detector: string }[] }[]>(
      () => succeed(call("GET", `${events}?per_page=500`)),
      (rows) => Object.keys(bodies).every((path) => path === "/headers" || rows.some((row) => row.path === path && row.matches.length > 0)),
    )
  ).filter(({ service }) => service === "Data Loss Protection");
  for (const path of ["/json", "/keys", "/html", "/packed", "/kept", "/broken"]) {
    const detectors = new Set(found.filter((row) => row.path === path).flatMap(({ matches }) => matches.map(({ detector }) => detector)));
    assert.ok(detectors.size >= 5, `${path}: ${[...detectors].join()}`);
  }
  await Promise.all(Array.from({ length: SPIKE }, () => visit("/refused")));
  await eventually(() => seen.has("pushed logs"));
  const query = `{ viewer { zones(filter: { zoneTag: "${zone}" }) {
    firewallEventsAdaptive(limit: 1000, filter: {}) { clientRequestPath clientRequestQuery userAgent }
    httpRequestsAdaptive(limit: 1000, filter: {}) { clientRequestPath clientRequestQuery userAgent } } } }`;
  const answers: readonly (readonly [name: string, path: string, init?: RequestInit])[] = [
    ["events", `${events}?per_page=1000`],
    ["exports", `${events}/export?format=csv`],
    ["exports", `/accounts/${account}/security/events/export`],
    ["request logs", `/zones/${zone}/logs/requests?limit=1000`],
    ["GraphQL", "/graphql", { method: "POST", body: JSON.stringify({ query }) }],
    ["audit logs", `/accounts/${account}/audit_logs`],
    ["gateway logs", `/accounts/${account}/ai-gateway/gateways/quiet/logs`],
  ];
  for (const [name, path, init] of answers) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const res = await fetch(selvedge.ready.api + path, { ...init, headers });
    const body = await res.text();
    assert.equal(res.status, 200, `${path}: ${body}`);
    assert.ok(body.length > 100, path);
    see(name, body);
  }
  see("metrics", await (await fetch(new URL("/metrics", selvedge.ready.api))).text());
  await eventually(() => seen.get("the tails")?.includes("/refused") === true);
  see("the log", selvedge.log());
  await selvedge.kill();

  await liveAt(2, smtpPort, providerPort);
  await eventually(() => seen.has("mail") && (seen.get("webhooks") ?? "").includes(ZONE));
  see("alerts", JSON.stringify(await succeed(call("GET", `${alerting}/history`))));
  see("the log", selvedge.log());
  await selvedge.stop();

  await seeFiles();
  await seeDatabase();
  const wanted = ["the tails", "pushed logs", "webhooks", "mail", "the log", "metrics", "alerts", "data/events.db"];
  for (const where of wanted) assert.ok((seen.get(where) ?? "").length > 0, where);
  const leaks = Array.from(seen, ([where, what]) => [where, marked.foundIn(what)] as const).filter(([, names]) => names.length > 0);
  const isCache = (where: string): boolean => where.startsWith(`data/${CACHE}/`);
  assert.deepEqual(
    leaks.filter(([where]) => !isCache(where)),
    [],
  );
  const kept = leaks.filter(([where]) => isCache(where)).flatMap(([, names]) => names);
  assert.deepEqual([...new Set(kept)].toSorted(), KINDS.map((kind) => `${kind} of a cached body`).toSorted());
});

/** Every file that the server has left, temporary ones among them. */
async function seeFiles(): Promise<void> {
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (file.isFile()) {
      const path = join(file.parentPath, file.name);
      see(path.slice(directory.length + 1), (await readFile(path)).toString("latin1"));
    }
}

/** Every row of every table. */
async function seeDatabase(): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
    );
    assert.ok(rows.length > 10);
    for (const { name } of rows) {
      const all = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
      see(`table ${name}`, all.rows.map(({ row }) => row).join("\n"));
    }
  } finally {
    await client.end();
  }
}
