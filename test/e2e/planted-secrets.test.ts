import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { openStore } from "#store/database/open.ts";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// One secret of each kind is given to a server, by its configuration and by its API. None of them may come out: of no answer but that of
// the call that made it, no log, no file, no command and no crash.

const execute = promisify(execFile);

interface Secrets {
  readonly kinds: Map<string, string>;
  /** Kinds of which the text has the secret, in the forms in which it could be written. */
  foundIn(text: string): readonly string[];
}

function secretsOf(): Secrets {
  const kinds = new Map<string, string>();
  const forms = (secret: string): readonly string[] => {
    const bytes = Buffer.from(secret);
    return [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      bytes.toString("base64").slice(0, -4),
      bytes.toString("hex"),
    ];
  };
  return {
    kinds,
    foundIn: (what) => Array.from(kinds).flatMap(([kind, secret]) => (forms(secret).some((form) => what.includes(form)) ? [kind] : [])),
  };
}

const CONFIG = {
  SELVEDGE_BOOTSTRAP_TOKEN: "bootstrapsecretbootstrapsecretbootstrap1",
  SELVEDGE_S3_SECRET_ACCESS_KEY: "s3-secret-access-key-0123456789",
  SELVEDGE_NOTIFICATIONS_SMTP_PASSWORD: "smtp-password-0123456789",
  SELVEDGE_CERTIFICATES_BINDINGS: `google=key-1:${Buffer.from("hmac of an account at google").toString("base64url")}`,
};

/** A server that answers with what it got, in an error, as providers, receivers of logs and webhooks may. */
async function echo(t: TestContext, seen: (where: string, what: string) => void): Promise<number> {
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const isPacked = body.subarray(0, 2).equals(Buffer.of(0x1f, 0x8b));
    seen(isPacked ? "pushed logs" : "what receivers got", (isPacked ? gunzipSync(body) : body).toString());
    res
      .writeHead(req.url?.includes("logs") === true ? 200 : 400, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: JSON.stringify(req.headers) + req.url } }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  return (server.address() as AddressInfo).port;
}

async function plantAll(call: ApiCall, account: string, zone: string, port: number, { kinds }: Secrets): Promise<void> {
  const made = (method: string, path: string, body: object): Promise<any> => succeed(call(method, path, body));
  const put = (kind: string, secret: string): string => (kinds.set(kind, secret), secret);
  const groups: readonly { id: string; name: string; scopes: readonly string[] }[] = await succeed(
    call("GET", "/user/tokens/permission_groups"),
  );
  const grant = (name: string) => groups.filter((group) => group.name === name).map(({ id }) => ({ id }));
  const policies = [
    { effect: "allow", resources: { [`com.cloudflare.api.account.${account}`]: "*" }, permission_groups: grant("AI Gateway Run") },
  ];
  put("gateway token", (await made("POST", "/user/tokens", { name: "gateway", policies })).value);
  put("account token", (await made("POST", `/accounts/${account}/tokens`, { name: "account", policies })).value);
  const settings = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };
  const otel = [
    {
      url: `http://127.0.0.1:${port}/otel`,
      headers: { authorization: put("otel header", "otel-secret-0123456789") },
      authorization: "otel-secret-0123456789",
    },
  ];
  const gateways = `/accounts/${account}/ai-gateway`;
  await made("POST", `${gateways}/gateways`, {
    ...settings,
    id: "g",
    collect_logs: true,
    logpush: true,
    authentication: true,
    otel: otel.map(({ url, authorization }) => ({ url, authorization, headers: {} })),
  });
  const provider = {
    alias: "default",
    default_config: true,
    provider_slug: "openai",
    secret: put("provider key", "sk-provider-key-0123456789abcdef"),
  };
  await made("POST", `${gateways}/gateways/g/provider_configs`, provider);
  const headers = JSON.stringify({ "x-key": put("header of a custom provider", "custom-provider-0123456789") });
  await made("POST", `${gateways}/custom-providers`, { name: "own", slug: "own", base_url: `http://127.0.0.1:${port}/v1`, headers });
  const alerting = `/accounts/${account}/alerting/v3`;
  const hook = {
    name: "hook",
    url: `http://127.0.0.1:${port}/${put("webhook URL", "services-T01234-B56789-x0x1x2x3x4x5")}`,
    secret: put("webhook secret", "webhook-secret-0123456789"),
  };
  // Its test is refused with what it was sent.
  await call("POST", `${alerting}/destinations/webhooks`, hook);
  const logpush = { dataset: "ai_gateway_events", enabled: true, max_upload_interval_seconds: 30 };
  const to = (query: string): string => `http://127.0.0.1:${port}/logs?${query}`;
  await made("POST", `/accounts/${account}/logpush/jobs`, {
    ...logpush,
    destination_conf: to(`header_Authorization=${put("logpush header", "logpush-header-0123456789")}`),
  });
  const s3 = `s3://bucket/logs?region=us-east-1&endpoint=127.0.0.1:${port}&access-key-id=AKIA0&secret-access-key=${put("logpush S3 key", "logpush-s3-key-0123456789")}`;
  // Refused, because nothing has TLS there: with an error.
  await call("POST", `/accounts/${account}/logpush/jobs`, { ...logpush, destination_conf: s3 });
  await made("POST", `/accounts/${account}/secondary_dns/tsigs`, {
    name: "key.",
    algo: "hmac-sha256.",
    secret: put("TSIG", Buffer.from("a TSIG secret of the test, 32 b").toString("base64")),
  });
  await made("POST", `/accounts/${account}/cfd_tunnel`, {
    name: "t",
    tunnel_secret: put("tunnel", Buffer.from("the secret of a tunnel, 32 bytes").toString("base64")),
  });
  const own = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue(["secrets.example"]);
  put("certificate key", own.privateKey.split("\n")[1] ?? "");
  await made("POST", `/zones/${zone}/custom_certificates`, { certificate: own.chain, private_key: own.privateKey });
  await made("PATCH", `/zones/${zone}/dnssec`, { status: "active" });
  const password = put("password", "correct horse battery staple 9876");
  const browser = await call("POST", "/user/setup", { email: "owner@secrets.example", password });
  const session = /=([^;]{16,})/.exec(browser.headers.getSetCookie()[0] ?? "")?.[1];
  put("session", session ?? "");
  const totp = await made("POST", "/user/totp", { current_password: password });
  for (const [name, value] of Object.entries(totp)) if (typeof value === "string" && /secret/.test(name)) put(`TOTP ${name}`, value);
}

/** The keys that the server has made itself, and seals. */
async function ownKeys(dataDir: string, { kinds }: Secrets): Promise<void> {
  const sealer = createSealer(await readFile(join(dataDir, "seal.key")));
  kinds.set("seal key", (await readFile(join(dataDir, "seal.key"))).toString("latin1"));
  const store = await openStore({ url: `sqlite:${join(dataDir, "control.db")}`, clock: systemClock });
  try {
    const keys = await store.read.selectFrom("zone_dnssec_keys").select(["id", "private_key"]).execute();
    assert.ok(keys.length > 0);
    for (const { id, private_key } of keys) {
      const opened = sealer.open(private_key, `dnssec:${id}`);
      kinds.set(`DNSSEC key ${id}`, opened.includes("PRIVATE KEY") ? (opened.toString().split("\n")[1] ?? "") : opened.toString("latin1"));
    }
    const certificates = await store.read.selectFrom("certificates").select(["id", "private_key"]).execute();
    for (const { id, private_key } of certificates)
      kinds.set(`issued key ${id}`, sealer.open(private_key, `certificate:${id}`).toString().split("\n")[1] ?? "");
  } finally {
    await store.close();
  }
}

/** Every list and object of the API that needs no identifier but those that are known. */
async function readAll(
  server: Selvedge,
  token: string,
  known: Readonly<Record<string, string>>,
  see: (where: string, what: string) => void,
): Promise<number> {
  const { paths } = (await (await fetch(`${server.ready.api}/openapi.json`)).json()) as { paths: Record<string, Record<string, unknown>> };
  let read = 0;
  for (const [path, methods] of Object.entries(paths)) {
    if (methods["get"] === undefined) continue;
    const filled = path.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => known[name] ?? whole);
    if (filled.includes("{") || /tail|live|stream|events\/follow/.test(filled)) continue;
    const url = filled.startsWith("/client/v4") ? new URL(filled, server.ready.api).href : server.ready.api + filled;
    const res = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(10_000) }).catch(() => null);
    if (res === null) continue;
    if (/event-stream/.test(res.headers.get("content-type") ?? "")) {
      await res.body?.cancel();
      continue;
    }
    see(`GET ${path}`, JSON.stringify([...res.headers]) + (await res.text().catch(() => "")));
    read++;
  }
  return read;
}

test("a secret of each kind comes out nowhere but in the answer to the call that made it", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-secrets-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const dataDir = join(directory, "data");
  const seen = new Map<string, string>();
  const see = (where: string, what: string): void => void seen.set(where, (seen.get(where) ?? "") + what);
  const port = await echo(t, see);
  const secrets = secretsOf();
  for (const [name, value] of Object.entries(CONFIG)) secrets.kinds.set(name, value.split(":").at(-1) ?? "");
  const env = {
    ...CONFIG,
    SELVEDGE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    SELVEDGE_S3_BUCKET: "bucket",
    SELVEDGE_S3_ACCESS_KEY_ID: "AKIA1",
    SELVEDGE_NOTIFICATIONS_SMTP_HOST: "127.0.0.1",
    SELVEDGE_NOTIFICATIONS_SMTP_PORT: String(port),
    SELVEDGE_NOTIFICATIONS_SMTP_USERNAME: "mail",
    SELVEDGE_NOTIFICATIONS_EMAIL_FROM: "edge@example.net",
  };
  const server = await startSelvedge({ dataDir, args: ["--log-level", "debug", "--provider", `openai=http://127.0.0.1:${port}/v1`], env });
  t.after(() => server.kill().catch(() => undefined));
  const token = CONFIG.SELVEDGE_BOOTSTRAP_TOKEN;
  const call = apiCaller(server.ready, token);
  const account = server.ready.account_id;
  const zone = (await succeed(call("POST", "/zones", { name: "secrets.example", account: { id: account } }))).id as string;
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const rule = { action: "block", expression: 'http.request.uri.path eq "/page"' };
  await succeed(call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules: [rule] }));
  await plantAll(call, account, zone, port, secrets);
  await ownKeys(dataDir, secrets);
  const tail = await fetch(`${server.ready.api}/accounts/${account}/security/events/tail`, {
    headers: { authorization: `Bearer ${token}` },
  });
  void (async () => {
    for await (const piece of tail.body ?? []) see("the tail", Buffer.from(piece).toString());
  })().catch(() => undefined);

  // Requests that carry secrets, or make servers repeat them.
  const gatewayToken = secrets.kinds.get("gateway token") ?? "";
  const chat = (path: string, headers: Record<string, string>) =>
    fetch(`${server.ready.gateway}/v1/${account}/g/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: '{"model":"m","messages":[]}',
    });
  for (const path of ["openai/chat/completions", "custom-own/chat/completions"])
    for (const headers of [{ "svc-aig-authorization": `Bearer ${gatewayToken}` }, { "svc-aig-authorization": "Bearer wrong" }])
      see(`the gateway's answer to ${path}`, await (await chat(path, headers)).text());
  for (const [, secret] of secrets.kinds) {
    const { hostname, port: at } = new URL(server.ready.http);
    for (const target of [server.ready.api, server.ready.gateway]) {
      const socket = connect(Number(new URL(target).port), hostname).on("error", () => undefined);
      socket.end(`GET /x HTTP/9.9\r\nAuthorization: Bearer ${secret}\r\n\r\n`, "latin1");
      see("answers to requests that are none", await text(socket).catch(() => ""));
    }
    const socket = connect(Number(at), hostname).on("error", () => undefined);
    socket.end(
      `GET /page?access_token=${encodeURIComponent(secret)} HTTP/1.1\r\nHost: www.secrets.example\r\nAuthorization: Bearer ${Buffer.from(secret).toString("base64")}\r\nConnection: close\r\n\r\n`,
      "latin1",
    );
    await text(socket).catch(() => "");
  }
  const bad = { method: "POST", headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
  const wrongBodies: readonly (readonly [string, string])[] = [
    [`/accounts/${account}/logpush/jobs`, JSON.stringify({ destination_conf: secrets.kinds.get("logpush header"), dataset: "none" })],
    [`/accounts/${account}/secondary_dns/tsigs`, JSON.stringify({ name: 1, algo: "none", secret: secrets.kinds.get("TSIG") })],
    [`/accounts/${account}/ai-gateway/gateways/g/provider_configs`, JSON.stringify({ secret: [secrets.kinds.get("provider key")] })],
    [`/zones/${zone}/custom_certificates`, JSON.stringify({ certificate: "none", private_key: secrets.kinds.get("certificate key") })],
    ["/user/setup", `{"password":"${secrets.kinds.get("password")}"`],
    [`/accounts/${account}/cfd_tunnel`, JSON.stringify({ tunnel_secret: { of: secrets.kinds.get("tunnel") } })],
  ];
  for (const [path, body] of wrongBodies)
    see(`the error of ${path}`, await (await fetch(server.ready.api + path, { ...bad, body })).text());

  await eventually(async () => ((await call("GET", `/accounts/${account}/ai-gateway/gateways/g/logs`)).body.result?.length ?? 0) > 0);
  const known = { account_id: account, zone_id: zone, gateway_id: "g", provider: "openai" };
  assert.ok((await readAll(server, token, known, see)) > 80, "the API has many lists");
  for (const path of ["/metrics", "/readyz", "/healthz", "/statusz"])
    see(path, await (await fetch(new URL(path, server.ready.api))).text());

  const commands: readonly (readonly string[])[] = [
    ["status"],
    ["status", "--json"],
    ["token", "list"],
    ["nodes"],
    ["backup", join(directory, "backup.tar")],
    ["backup", "/dev/null/backup"],
  ];
  const run = async (command: readonly string[]): Promise<void> => {
    const options = { env: { ...process.env, ...env, SELVEDGE_DATA: dataDir } };
    const args = ["bin/selvedge.js", ...command, "--data", dataDir];
    const done = await execute(process.execPath, args, options).catch((error: { stdout: string; stderr: string }) => error);
    see(`selvedge ${command[0]}`, done.stdout + done.stderr);
  };
  for (const command of commands) await run(command);
  see("the log", server.log());
  await eventually(() => (seen.get("pushed logs")?.length ?? 0) > 100 && seen.get("the tail")?.includes("/page") === true);
  await server.stop();
  for (const command of [["doctor"], ["config", "check"]]) await run(command);
  // A start that fails: damaged configuration, and a port that is taken.
  const taken = await echo(t, () => undefined);
  await startSelvedge({ dataDir, args: ["--api-port", String(taken)], env }).then(
    (started) => started.kill(),
    (error: Error) => see("a failed start", error.message),
  );
  await writeFile(join(directory, "selvedge.toml"), `[s3]\nsecret_access_key = ["${CONFIG.SELVEDGE_S3_SECRET_ACCESS_KEY}"]\n`);
  await startSelvedge({ dataDir, args: ["--config", join(directory, "selvedge.toml")], env: {} }).then(
    (started) => started.kill(),
    (error: Error) => see("a damaged configuration", error.message),
  );
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (file.isFile()) see(`file ${file.name}`, unpacked(await readFile(join(file.parentPath, file.name))).toString("latin1"));

  for (const place of ["pushed logs", "what receivers got", "the tail", "selvedge doctor", "a failed start", "file control.db"])
    assert.ok((seen.get(place) ?? "").length > 100, place);
  for (const kind of ["gateway token", "session", "TOTP", "DNSSEC key", "issued key"])
    assert.ok(
      [...secrets.kinds].some(([name, secret]) => name.startsWith(kind) && secret.length > 15),
      kind,
    );
  const leaks = Array.from(seen, ([where, what]) => [where, secrets.foundIn(what).join()] as const).filter(([, kinds]) => kinds !== "");
  assert.deepEqual(Object.fromEntries(leaks), EXPECTED);
});

/** The vendor's API shows the first again, and the second to those who may change it; the others are files that only their owner reads. */
const EXPECTED = {
  "GET /accounts/{account_id}/secondary_dns/tsigs": "TSIG",
  "GET /accounts/{account_id}/alerting/v3/destinations/webhooks": "webhook URL",
  "file selvedge.toml": "SELVEDGE_S3_SECRET_ACCESS_KEY",
  "file seal.key": "seal key",
  "file backup.tar": "seal key",
};

function unpacked(bytes: Buffer): Buffer {
  if (bytes.subarray(0, 2).equals(Buffer.of(0x1f, 0x8b))) return gunzipSync(bytes);
  return bytes.subarray(0, 4).equals(Buffer.of(0x28, 0xb5, 0x2f, 0xfd)) ? zstdDecompressSync(bytes) : bytes;
}
