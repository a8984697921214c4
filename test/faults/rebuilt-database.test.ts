import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");
const NOISE = "noise".repeat(4096);

/** A state directory as a kill leaves it, and what the planes said before. */
let whole: string;
/** Its database before the changes. */
let older: string;
let token: string;
let served: Served;
const zones: string[] = [];

interface Served {
  readonly addresses: readonly string[];
  readonly mail: readonly { priority: number; exchange: string }[];
  readonly page: readonly [status: number, body: string];
  readonly blocked: number;
  readonly listed: number;
  readonly gateway: number;
}

const origin = createServer((_req, res) => res.end("the page"));
const provider = createServer((_req, res) => res.writeHead(200, { "content-type": "application/json" }).end('{"choices":[]}'));

const portOf = (server: typeof origin): number => (server.address() as AddressInfo).port;

async function get(selvedge: Selvedge, path: string): Promise<readonly [number, string]> {
  const { hostname, port } = new URL(selvedge.ready.http);
  const req = request({ hostname, port, path, headers: { host: "www.kept.example" }, timeout: 20_000 }).end();
  const [res] = await once(req, "response");
  let body = "";
  for await (const chunk of res) body += chunk;
  return [res.statusCode, body];
}

async function askPlanes(selvedge: Selvedge): Promise<Served> {
  const resolver = new Resolver({ tries: 2, timeout: 20_000 });
  resolver.setServers([selvedge.ready.dns]);
  const chat = await fetch(`${selvedge.ready.gateway}/v1/${accountId}/g/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "svc-aig-authorization": `Bearer ${token}` },
    body: JSON.stringify({ model: "gpt-4o", messages: [{ role: "user", content: "hello" }] }),
    signal: AbortSignal.timeout(20_000),
  });
  await chat.arrayBuffer();
  return {
    addresses: await resolver.resolve4("direct.kept.example"),
    mail: (await resolver.resolveMx("kept.example")).map(({ priority, exchange }) => ({ priority, exchange })),
    page: await get(selvedge, "/"),
    blocked: (await get(selvedge, "/blocked"))[0],
    listed: (await get(selvedge, "/listed"))[0],
    gateway: chat.status,
  };
}

let accountId: string;
const args = (): string[] => ["--provider", `openai=http://127.0.0.1:${portOf(provider)}/v1`];

async function fill(selvedge: Selvedge): Promise<void> {
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await api(selvedge, token, method, path, body);
    assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(answer.body.errors)}`);
    return answer.body.result;
  };
  const zone = await call("POST", "/zones", { name: "kept.example", account: { id: accountId } });
  zones.push(zone.id);
  const at = `/zones/${zone.id}`;
  await call("POST", `${at}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, comment: "lost" });
  await call("POST", `${at}/dns_records`, { type: "A", name: "direct", content: "192.0.2.7", ttl: 120 });
  await call("POST", `${at}/dns_records`, { type: "MX", name: "@", content: "mail.kept.example", priority: 7 });
  await call("PATCH", `${at}/dnssec`, { status: "active" });
  await call("PATCH", `${at}/settings/browser_cache_ttl`, { value: 1800 });
  const list = await call("POST", `/accounts/${accountId}/rules/lists`, { name: "us", kind: "ip" });
  await call("POST", `/accounts/${accountId}/rules/lists/${list.id}/items`, [{ ip: "127.0.0.0/8" }]);
  const routed = { action: "route", action_parameters: { origin: { port: portOf(origin) } }, expression: "true" };
  await call("PUT", `${at}/rulesets/phases/http_request_origin/entrypoint`, { rules: [routed] });
  await eventually(async () => {
    const rules = [
      { action: "block", expression: 'http.request.uri.path eq "/blocked"' },
      { action: "block", expression: 'http.request.uri.path eq "/listed" and ip.src in $us' },
    ];
    await call("PUT", `${at}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules });
    return (await get(selvedge, "/listed"))[0] === 403;
  });
  const choices = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };
  await call("POST", `/accounts/${accountId}/ai-gateway/gateways`, { id: "g", authentication: true, collect_logs: true, ...choices });
  const key = { alias: "main", default_config: true, provider_slug: "openai", secret: "sk-of-the-test-0123456789" };
  await call("POST", `/accounts/${accountId}/ai-gateway/gateways/g/provider_configs`, key);
}

before(async () => {
  for (const server of [origin, provider]) await once(server.listen(0, "127.0.0.1"), "listening");
  whole = mkdtempSync(join(tmpdir(), "selvedge-rebuilt-"));
  const first = await startSelvedge({ dataDir: whole, args: args() });
  token = first.ready.token ?? "";
  accountId = first.ready.account_id;
  await first.stop();
  older = `${whole}-older.db`;
  cpSync(join(whole, "control.db"), older);
  const selvedge = await startSelvedge({ dataDir: whole, args: args() });
  await fill(selvedge);
  served = await askPlanes(selvedge);
  assert.deepEqual(served, {
    ...{ addresses: ["192.0.2.7"], mail: [{ priority: 7, exchange: "mail.kept.example" }], page: [200, "the page"] },
    ...{ blocked: 403, listed: 403, gateway: 200 },
  });
  await eventually(() => readFileSync(join(whole, "snapshot.last-good.journal"), "utf8").includes("provider_key"));
  await selvedge.kill();
});
after(() => {
  origin.close();
  provider.close();
  rmSync(whole, { recursive: true, force: true });
  rmSync(older, { force: true });
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const doctor = (dataDir: string, ...flags: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
    const options = { env, timeout: 180_000, killSignal: "SIGKILL" } as const;
    execFile(process.execPath, [PROGRAM, "doctor", "--data", dataDir, ...flags], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

function copyOf(t: { after(step: () => void): void }): string {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-rebuilt-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(whole, dataDir, { recursive: true });
  rmSync(join(dataDir, "control.db-shm"), { force: true });
  return dataDir;
}

test("doctor --rebuild replaces a corrupt database from the snapshot: the answers and records are the same, and writes work", async (t) => {
  const dataDir = copyOf(t);
  writeFileSync(join(dataDir, "control.db"), NOISE);
  rmSync(join(dataDir, "control.db-wal"), { force: true });

  const damaged = await startSelvedge({ dataDir, args: args() });
  assert.deepEqual(await askPlanes(damaged), served);
  const refused = await api(damaged, token, "GET", "/zones");
  assert.deepEqual([refused.status, refused.body.errors[0].code], [503, 10504]);
  assert.match(refused.body.errors[0].message, /rebuilds it with selvedge doctor --rebuild/);
  assert.match(await (await fetch(`${damaged.ready.ops}/readyz`)).text(), /selvedge doctor --rebuild/);
  await damaged.logged(/rebuild what the last good copy contains with: selvedge doctor --rebuild --data /);
  const busy = await doctor(dataDir, "--rebuild");
  assert.equal(busy.code, 1);
  assert.match(busy.err, /another Selvedge is running/);
  await damaged.kill();
  assert.match((await doctor(dataDir)).out, /without one, rebuild it from the last good copy with selvedge doctor --rebuild/);

  const { code, out, err } = await doctor(dataDir, "--rebuild");
  assert.equal(code, 0, err);
  for (const [what, count] of [
    ["zones", 1],
    ["DNS records", 3],
    ["rulesets", 2],
    ["gateways", 1],
    ["provider keys", 1],
  ] as const)
    assert.match(out, new RegExp(`^${what} +${count} +${count}$`, "m"));
  assert.match(out, /^- the audit log/m);
  const kept = readdirSync(dataDir).find((name) => name.startsWith("damaged-")) ?? "";
  assert.equal(readFileSync(join(dataDir, kept, "control.db"), "utf8"), NOISE);
  assert.ok(existsSync(join(dataDir, kept, "snapshot.last-good")));
  assert.equal((await doctor(dataDir)).code, 0);

  const rebuilt = await startSelvedge({ dataDir, args: args() });
  assert.deepEqual(await askPlanes(rebuilt), served, "the token that ran the gateway still does");
  const fresh = rebuilt.ready.token ?? "";
  assert.notEqual(fresh, token);
  const at = `/zones/${zones[0]}/dns_records`;
  const { body } = await api(rebuilt, fresh, "GET", at);
  assert.deepEqual(body.result.map(({ name }: { name: string }) => name).toSorted(), [
    "direct.kept.example",
    "kept.example",
    "www.kept.example",
  ]);
  assert.equal((await api(rebuilt, token, "GET", at)).status, 403, "and may do nothing else");
  const direct = body.result.find(({ name }: { name: string }) => name === "direct.kept.example");
  for (const content of ["192.0.2.8", "192.0.2.9"]) {
    assert.equal((await api(rebuilt, fresh, "PATCH", `${at}/${direct.id}`, { content })).status, 200);
    assert.deepEqual((await askPlanes(rebuilt)).addresses, [content]);
  }
  await rebuilt.stop();
  const again = await doctor(dataDir, "--rebuild");
  assert.equal(again.code, 1);
  assert.match(again.err, /is intact and needs no rebuilding/);
});

const LOST: readonly (readonly [what: string, lose: (dataDir: string) => void])[] = [
  [
    "missing",
    (at) => {
      rmSync(join(at, "control.db"));
      rmSync(join(at, "control.db-wal"), { force: true });
    },
  ],
  [
    "behind what was served",
    (at) => {
      cpSync(older, join(at, "control.db"));
      for (const file of ["control.db-wal", "control.db-shm"]) rmSync(join(at, file), { force: true });
    },
  ],
];
for (const [what, lose] of LOST) {
  test(`doctor --rebuild recovers a database that is ${what}`, async (t) => {
    const dataDir = copyOf(t);
    lose(dataDir);
    const { code, out, err } = await doctor(dataDir, "--rebuild", "--json");
    assert.equal(code, 0, err);
    const { rebuilt, kinds } = JSON.parse(out) as { rebuilt: boolean; kinds: readonly { held: number; recovered: number }[] };
    assert.ok(rebuilt && kinds.length > 5);
    for (const kind of kinds) assert.equal(kind.recovered, kind.held, JSON.stringify(kind));
    assert.equal((await doctor(dataDir)).code, 0);
  });
}

const REFUSED: readonly (readonly [what: string, damage: (dataDir: string) => void, flags: readonly string[], said: RegExp])[] = [
  ["a sound database", () => {}, [], /is intact and needs no rebuilding/],
  [
    "no last good copy",
    (at) => {
      writeFileSync(join(at, "control.db"), NOISE);
      rmSync(join(at, "snapshot.last-good"));
    },
    [],
    /has no last good copy to rebuild from .*: restore a backup/,
  ],
  [
    "another sealing key",
    (at) => {
      writeFileSync(join(at, "control.db"), NOISE);
      writeFileSync(join(at, "seal.key"), Buffer.alloc(32, 1));
    },
    [],
    /the sealing key does not belong to the last good copy: restore seal\.key/,
  ],
  ["PostgreSQL", () => {}, ["--database-url", "postgres://user:secret@127.0.0.1:1/db"], /is PostgreSQL, .* pg_restore/],
  ["two wishes at once", () => {}, ["--new-history"], /use either --new-history, .* or --rebuild/],
];
for (const [what, damage, flags, said] of REFUSED) {
  test(`doctor --rebuild refuses and changes nothing: ${what}`, async (t) => {
    const dataDir = copyOf(t);
    damage(dataDir);
    const before = new Map(
      readdirSync(dataDir).map((name) => [name, name.startsWith("control.db") ? readFileSync(join(dataDir, name)) : null]),
    );
    const { code, out, err } = await doctor(dataDir, "--rebuild", ...flags);
    assert.ok(code > 0, out);
    assert.match(err, said);
    assert.doesNotMatch(err, /secret@/);
    for (const [name, bytes] of before)
      if (bytes !== null && !name.endsWith("-shm")) assert.ok(readFileSync(join(dataDir, name)).equals(bytes), name);
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith("damaged-") || name.includes("rebuilt")),
      [],
    );
  });
}
