import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp } from "node:fs/promises";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { countNodes } from "#store/events/event-counts.ts";
import { openStore } from "#store/database/open.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const SECRET = "whsec-of-the-nodes";
/** Too few for a spike. */
const AT_EACH = 130;
/** The minute of the attack is over. */
const LATER_MS = 75_000;

test("a spike seen by two nodes with separate event databases sends one alert", { skip: toolOrSkip("postgres") }, async (t) => {
  const shared = sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const url = await (shared ?? own!).createDatabase();
  const receiver = spawn(process.execPath, [join(import.meta.dirname, "../support/alert-receiver.ts"), SECRET], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => receiver.kill());
  const told: { readonly message: { readonly data: { readonly events: number } } }[] = [];
  const lines = createInterface({ input: receiver.stdout });
  const ports = JSON.parse(String((await once(lines, "line"))[0]));
  lines.on("line", (line) => told.push(JSON.parse(line)));

  const dirs = await Promise.all(["a", "b"].map((name) => mkdtemp(join(tmpdir(), `selvedge-node-${name}-`))));
  const [dirA = "", dirB = ""] = dirs;
  let living: Selvedge[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  t.after(async () => {
    agent.destroy();
    await Promise.all(living.map((node) => node.kill()));
    for (const dir of dirs) await removeDirectory(dir);
  });
  let shiftMs = 0;
  const start = (dataDir: string): Promise<Selvedge> =>
    startSelvedge({
      dataDir,
      env: {
        SELVEDGE_DATABASE_URL: url,
        NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/shifted-clock.ts")}`,
        TEST_CLOCK_SHIFT_MS: String(shiftMs),
      },
    });
  const attack = async ({ ready }: Selvedge): Promise<void> => {
    const { hostname, port } = new URL(ready.http);
    const ask = async (): Promise<number> => {
      const [res] = await once(get({ agent, hostname, port, path: "/attack", headers: { host: "www.nodes.example" } }), "response");
      await once(res.resume(), "end");
      return res.statusCode;
    };
    assert.deepEqual([...new Set(await Promise.all(Array.from({ length: AT_EACH }, ask)))], [403]);
  };

  const a = await start(dirA);
  living = [a];
  const call = apiCaller(a.ready, a.ready.token ?? "");
  const account = a.ready.account_id;
  const { id: zone } = await succeed(call("POST", "/zones", { name: "nodes.example", account: { id: account } }));
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const rules = [{ action: "block", expression: 'starts_with(http.request.uri.path, "/attack")' }];
  await succeed(call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));
  const alerting = `/accounts/${account}/alerting/v3`;
  const hook = { name: "hook", url: `http://127.0.0.1:${ports.http}/nodes`, secret: SECRET };
  const { id: webhook } = await succeed(call("POST", `${alerting}/destinations/webhooks`, hook));
  const mechanisms = { webhooks: [{ id: webhook }] };
  const policy = { name: "p", enabled: true, alert_type: "clickhouse_alert_fw_anomaly", alert_interval: "1m", mechanisms };
  await succeed(call("POST", `${alerting}/policies`, policy));
  await copyFile(join(dirA, "seal.key"), join(dirB, "seal.key"));
  const b = await start(dirB);
  living = [a, b];

  const store = await openStore({ url, clock: systemClock });
  t.after(() => store.close());
  /** Until both have counted all that there was before this life. */
  const counted = async (sinceMs: number): Promise<void> => {
    await eventually(async () => (await countNodes(store.read)).filter(({ counted_ms }) => counted_ms >= sinceMs).length === 2, 100);
  };
  const live = async (): Promise<void> => {
    await Promise.all(living.map((node) => node.stop()));
    shiftMs += LATER_MS;
    living = [];
    living = await Promise.all(dirs.map(start));
  };

  await counted(0);
  await attack(a);
  await attack(b);
  const attackedMs = Date.now();
  await live();
  await eventually(() => told.length > 0, 100);
  // The minute may have changed during the attack.
  assert.ok((told[0]?.message.data.events ?? 0) > AT_EACH);
  // It is still in the window when both have looked again.
  const [before] = (await countNodes(store.read)).map(({ counted_ms }) => counted_ms);
  await live();
  await counted((before ?? attackedMs) + 60_000);
  const history = await succeed(apiCaller(living[0]!.ready, a.ready.token ?? "")("GET", `${alerting}/history`));
  assert.equal(history.length, 1);
  assert.equal(told.length, 1);
});
