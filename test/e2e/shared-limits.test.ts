import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, mkdtempSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { overdraftOf } from "#wire/redis/lease.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { answerChat, postJson, TEST_CHAT, testProvider } from "../support/gateway-front.ts";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type RedisProcess, startRedis } from "../support/redis.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("redis-server") || toolOrSkip("postgres");
const LIMIT = 60;
const ALONE = "rate limits and spend are counted on this machine alone";
/** Longer than the test. */
const PERIOD = 3_600;

interface Pair {
  readonly redis: RedisProcess;
  readonly servers: readonly [Selvedge, Selvedge];
  readonly token: string;
  readonly account: string;
}

/** Two processes with all roles on one database. */
async function startPair(t: TestContext, provider: string): Promise<Pair> {
  const shared = sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const redis = await startRedis(["--requirepass", "hidden-word"], ":hidden-word@");
  t.after(() => redis.stop());
  const env = {
    SELVEDGE_DATABASE_URL: await (shared ?? own!).createDatabase(),
    SELVEDGE_COUNTERS_URL: redis.url,
    SELVEDGE_EDGE_WORKERS: "1",
    SELVEDGE_GATEWAY_PROVIDERS: `openai=${provider}`,
    SELVEDGE_API_RATE_LIMIT_REQUESTS: String(LIMIT),
    SELVEDGE_API_RATE_LIMIT_PERIOD_SECONDS: String(PERIOD),
  };
  const start = async (sealKey?: string): Promise<Selvedge> => {
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge-shared-limits-"));
    if (sealKey !== undefined) cpSync(sealKey, join(dataDir, "seal.key"));
    const server = await startSelvedge({ dataDir, env });
    t.after(async () => {
      await server.kill();
      removeDirectory(dataDir);
    });
    return server;
  };
  const first = await start();
  const second = await start(join(first.dataDir, "seal.key"));
  return { redis, servers: [first, second], token: first.ready.token ?? "", account: first.ready.account_id };
}

async function metric({ ready }: Selvedge, name: string): Promise<number> {
  const text = await (await fetch(`${ready.ops}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? Number.NaN);
}

async function visit({ ready }: Selvedge): Promise<number> {
  const { hostname, port } = new URL(ready.http);
  const [response] = (await once(get({ hostname, port, path: "/", headers: { host: "www.shared.example" } }), "response")) as [
    IncomingMessage,
  ];
  await once(response.resume(), "end");
  return response.statusCode ?? 0;
}

/** How many of the limit at each server are not refused. */
async function admitted({ servers }: Pair, ask: (server: Selvedge) => Promise<number>): Promise<number> {
  let count = 0;
  for (let n = 0; n < LIMIT; n++) for (const server of servers) if ((await ask(server)) !== 429) count++;
  return count;
}

test(
  "two processes count limits of rules, gateways and the API together, and each alone without the server",
  { skip, timeout: 600_000 },
  async (t) => {
    const provider = await testProvider(t, (res) => answerChat(res, "hello"));
    const pair = await startPair(t, provider.url);
    const { redis, servers, token, account } = pair;
    const call = apiCaller(servers[0].ready, token);
    const { id: zone } = await succeed(call("POST", "/zones", { name: "shared.example", account: { id: account } }));
    await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
    const ratelimit = { characteristics: ["ip.src", "cf.colo.id"], period: PERIOD, requests_per_period: LIMIT, mitigation_timeout: 0 };
    await succeed(
      call("PUT", `/zones/${zone}/rulesets/phases/http_ratelimit/entrypoint`, {
        rules: [{ action: "block", expression: "true", ratelimit: { ...ratelimit, technique: "fixed" } }],
      }),
    );
    for (const id of ["main", "other"])
      await succeed(
        call("POST", `/accounts/${account}/ai-gateway/gateways`, {
          ...{ ...PLAIN_GATEWAY, id, collect_logs: false, rate_limiting_interval: PERIOD, rate_limiting_limit: LIMIT },
          rate_limiting_technique: "fixed",
        }),
      );
    await succeed(
      call("POST", `/accounts/${account}/ai-gateway/gateways`, {
        ...{ ...PLAIN_GATEWAY, id: "spends", collect_logs: false },
        spend_limits: { enabled: true, rules: [{ limit: 2, limitType: "cost", window: PERIOD, technique: "fixed" }] },
      }),
    );
    const chat = (gateway: string) => async (server: Selvedge) =>
      (await postJson(`${server.ready.gateway}/v1/${account}/${gateway}/openai/chat/completions`, TEST_CHAT)).status;
    const verify = async (server: Selvedge): Promise<number> => (await apiCaller(server.ready, token)("GET", "/user/tokens/verify")).status;
    for (const server of servers) {
      await eventually(async () => (await metric(server, "selvedge_counters_connections")) >= 2);
      await eventually(async () => (await metric(server, 'selvedge_local_duties{duty="counters"}')) === 0);
      await eventually(async () => (await chat("other")(server)) === 200);
    }
    const most = LIMIT + servers.length * overdraftOf(LIMIT);
    const window = (): number => Math.floor(Date.now() / (PERIOD * 1_000));
    const began = window();
    // On a busy machine an answer may be late.
    const countedTogether = async (): Promise<boolean> => {
      const late = await Promise.all(servers.map((server) => metric(server, "selvedge_counters_late_total")));
      const up = await Promise.all(servers.map((server) => metric(server, 'selvedge_local_duties{duty="counters"}')));
      return (
        window() === began && [...late, ...up].every((value) => value === 0) && !servers.some((server) => server.log().includes(ALONE))
      );
    };
    for (const [what, ask] of [
      ["gateway", chat("main")],
      ["edge", visit],
      ["API", verify],
    ] as const) {
      const count = await admitted(pair, ask);
      // Windows begin with the hour, which the test may see.
      if (await countedTogether()) assert.ok(count > LIMIT / 2 && count <= most, `${what}: ${count}`);
    }

    const spend = async (server: Selvedge): Promise<number> => {
      const url = `${server.ready.gateway}/v1/${account}/spends/openai/chat/completions`;
      return (await postJson(url, TEST_CHAT, { "svc-aig-custom-cost": JSON.stringify({ total_cost: 0.1 }) })).status;
    };
    const burst = await Promise.all(Array.from({ length: 40 }, (_, n) => spend(servers[n % 2]!)));
    // 20 are within two dollars.
    const paid = burst.filter((status) => status === 200).length;
    if (await countedTogether()) assert.ok(paid > 0 && paid <= 20, `${paid}`);

    await redis.kill();
    for (const server of servers) {
      await eventually(async () => (await metric(server, 'selvedge_local_duties{duty="counters"}')) === 1);
      assert.ok(server.log().includes(ALONE));
      assert.doesNotMatch(server.log(), /hidden-word/);
      await eventually(async () => (await metric(server, "selvedge_counters_connections")) === 0);
    }
    assert.ok((await admitted(pair, chat("other"))) > most, "each has the limit alone");
    await redis.start();
    for (const server of servers) await eventually(async () => (await metric(server, 'selvedge_local_duties{duty="counters"}')) === 0);
  },
);
