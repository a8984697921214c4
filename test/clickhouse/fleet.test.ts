import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, mkdtempSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";
import { NOT_INSTALLED, startClickHouse } from "./server.ts";

const skip = NOT_INSTALLED || toolOrSkip("postgres");
const HOUR_MS = 3_600_000;

test(
  "two servers with one ClickHouse show the events of both, also those of the time when it was away",
  { skip, timeout: 600_000 },
  async (t) => {
    const engine = await startClickHouse(join(temporary(t), "data"));
    t.after(() => engine.close());
    const [one, other] = await startPair(t, engine.url.replace("//", "//selvedge:hidden-word@"));
    const token = one.ready.token ?? "";
    const call = apiCaller(one.ready);
    const callOther = apiCaller(other.ready, token);
    const { id: zone } = await succeed(call("POST", "/zones", { name: "shared.example", account: { id: one.ready.account_id } }));
    await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
    await succeed(
      call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, {
        rules: [{ action: "block", expression: 'starts_with(http.request.uri.path, "/admin")' }],
      }),
    );
    const paths = async (ask: typeof call): Promise<readonly string[]> =>
      (await succeed(ask("GET", `/zones/${zone}/security/events?per_page=50`)))
        .map(({ path }: { readonly path: string }) => path)
        .toSorted();

    await eventually(async () => (await visit(one, "/admin/1")) === 403 && (await visit(other, "/admin/2")) === 403, 500);
    await eventually(async () => new Set(await paths(call)).size === 2, 200);
    assert.deepEqual(await paths(callOther), await paths(call));

    engine.away = true;
    assert.equal(await visit(other, "/admin/3"), 403);
    await eventually(
      async () => (await readiness(other)).notices?.some((notice) => notice.startsWith("ClickHouse does not take events")) === true,
      200,
    );
    assert.equal((await readiness(other)).status, "ready");
    assert.equal((await callOther("GET", `/zones/${zone}/security/events`)).status, 503);
    assert.match(await (await fetch(`${other.ready.ops}/statusz`)).text(), /"bytes_for_clickhouse":\d+/);
    // Rows that were on the disk survive the process.
    await other.kill();
    engine.away = false;
    const again = await startAgain(t, other);
    await eventually(async () => (await paths(call)).includes("/admin/3"), 200);
    const found = await paths(call);
    assert.equal(found.filter((path) => path === "/admin/3").length, 1);

    const end = new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS).toISOString();
    const query = `{ viewer { zones(filter: { zoneTag: "${zone}" }) {
    httpRequestsAdaptiveGroups(limit: 10, filter: { datetime_geq: "2020-01-01T00:00:00Z", datetime_lt: "${end}" }, orderBy: [clientRequestPath_ASC]) { count dimensions { clientRequestPath } }
  } } }`;
    const answers = await Promise.all(
      [one, again].map(async ({ ready }) => (await apiCaller(ready, token)("POST", "/graphql", { query })).body),
    );
    const groups = (answers[0] as any).data.viewer.zones[0].httpRequestsAdaptiveGroups;
    assert.equal(
      groups.reduce((sum: number, { count }: { readonly count: number }) => sum + count, 0),
      found.length,
    );
    assert.deepEqual(answers[1], answers[0]);
    for (const server of [one, other, again]) assert.ok(!server.log().includes("hidden-word"));
  },
);

function temporary(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-clickhouse-fleet-"));
  t.after(() => removeDirectory(directory));
  return directory;
}

/** Two processes with all roles on one PostgreSQL. */
async function startPair(t: TestContext, events: string): Promise<readonly [Selvedge, Selvedge]> {
  const shared = sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const env = { SELVEDGE_DATABASE_URL: await (shared ?? own!).createDatabase(), SELVEDGE_EVENTS_URL: events, SELVEDGE_EDGE_WORKERS: "1" };
  environments.set(t, env);
  const [first, second] = [temporary(t), temporary(t)];
  const one = await start(t, first, env);
  cpSync(join(first, "seal.key"), join(second, "seal.key"));
  return [one, await start(t, second, env)];
}

const environments = new WeakMap<TestContext, Readonly<Record<string, string>>>();

const startAgain = (t: TestContext, { dataDir }: Selvedge): Promise<Selvedge> => start(t, dataDir, environments.get(t)!);

async function start(t: TestContext, dataDir: string, env: Readonly<Record<string, string>>): Promise<Selvedge> {
  const server = await startSelvedge({ dataDir, env });
  t.after(() => server.kill());
  return server;
}

async function visit({ ready }: Selvedge, path: string): Promise<number> {
  const { hostname, port } = new URL(ready.http);
  const request = get({ hostname, port, path, headers: { host: "www.shared.example" } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
  return response.statusCode ?? 0;
}

const readiness = async ({ ready }: Selvedge): Promise<{ readonly status: string; readonly notices?: readonly string[] }> =>
  (await fetch(`${ready.ops}/readyz`)).json() as Promise<{ status: string; notices?: string[] }>;
