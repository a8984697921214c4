import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { type Clock, fixedClock, systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { overdraftOf } from "#wire/redis/lease.ts";
import { type LeasedLimits, leasedLimits } from "#wire/redis/leases.ts";
import { slotOf } from "#wire/redis/cluster-slot.ts";
import { freePort } from "../bench/program.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, fleetDirectory } from "../support/fleet.ts";
import { startRedis } from "../support/redis.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("redis-server");
const sealer = createSealer(randomBytes(32));
const LIMIT = { limit: 1_000, windowMs: 10 ** 11, technique: "fixed" } as const;

interface Watched {
  readonly limits: LeasedLimits;
  /** "up", and reasons of being down. */
  readonly said: readonly string[];
}

function watched(t: TestContext, url: string, clock: Clock = systemClock, ca = ""): Watched {
  const said: string[] = [];
  const limits = leasedLimits(
    { url, ca },
    {
      ...{ sealer, subject: "test", clock, metrics: createMetrics() },
      onUp: () => said.push("up"),
      onDown: (reason) => said.push(reason),
    },
  );
  t.after(() => limits.close());
  return { limits, said };
}

/** How many of so many are let through. */
const passed = (limits: LeasedLimits, key: string, count: number): number =>
  Array.from({ length: count }, () => limits.take(key, 1, LIMIT)).filter((answer) => answer === "yes").length;

test("while the server is away, frozen or restarted each machine counts alone, says so once, and joins again", { skip }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const { limits, said } = watched(t, redis.url);
  assert.equal(passed(limits, "early", 5_000), 5_000, "nothing waits for the first connection");
  await eventually(() => limits.isUp());
  await redis.kill();
  await eventually(() => !limits.isUp());
  assert.equal(passed(limits, "away", 5_000), 5_000);
  await redis.start();
  await eventually(() => limits.isUp());
  let keys = 0;
  await eventually(() => passed(limits, `back ${++keys}`, 5_000) < 5_000);

  redis.freeze(true);
  // The answer is late, and then the connection ends: neither keeps a request.
  await eventually(() => passed(limits, "frozen", 2_000) === 2_000);
  await eventually(() => !limits.isUp());
  assert.equal(passed(limits, "frozen", 5_000), 5_000);
  await delay(3_000);
  redis.freeze(false);
  await eventually(() => limits.isUp());
  assert.equal(said.filter((one) => one === "up").length, 3);
  // Seconds without it, and one line for each reason.
  assert.ok(
    said.every((one, index) => one !== said[index - 1]),
    said.join("; "),
  );
});

test(
  "a server that is full, or refuses the password, counts nothing and is tried again; no reason has the password",
  { skip },
  async (t) => {
    const redis = await startRedis(["--requirepass", "right-secret"], ":right-secret@");
    t.after(() => redis.stop());
    const wrong = watched(t, redis.url.replace("right-secret", "wrong-secret"));
    const right = watched(t, redis.url);
    await eventually(() => right.limits.isUp() && wrong.said.length > 0);
    assert.match(wrong.said.join(), /WRONGPASS|invalid password/);
    assert.doesNotMatch(wrong.said.join(), /secret/);
    assert.equal(passed(wrong.limits, "k", 5_000), 5_000);

    await redis.run("CONFIG", "SET", "maxmemory", "1");
    await eventually(() => {
      right.limits.take("full", 1, LIMIT);
      return !right.limits.isUp();
    });
    await eventually(() => right.said.length >= 2);
    assert.match(right.said.at(-1) ?? "", /OOM/);
    assert.equal(passed(right.limits, "full", 5_000), 5_000);
    await redis.run("CONFIG", "SET", "maxmemory", "0");
    await eventually(() => right.limits.isUp());
  },
);

test("in a cluster each key is counted by the member that has its slot", { skip }, async (t) => {
  const cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
  const [one, other] = [await startRedis(cluster), await startRedis(cluster)];
  t.after(() => Promise.all([one.stop(), other.stop()]));
  await one.run("CLUSTER", "ADDSLOTSRANGE", 0, 8_191);
  await other.run("CLUSTER", "ADDSLOTSRANGE", 8_192, 16_383);
  await one.run("CLUSTER", "MEET", "127.0.0.1", other.port, other.clusterPort);
  await eventually(async () => String(await one.run("CLUSTER", "INFO")).includes("cluster_state:ok"));
  await eventually(async () => String(await other.run("CLUSTER", "INFO")).includes("cluster_state:ok"));
  // On a clock that stands no answer is late.
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const nodes = [watched(t, one.url, clock).limits, watched(t, other.url, clock).limits];
  await eventually(() => nodes.every((node) => node.isUp()));
  for (let n = 0; n < 20; n++) {
    let sum = 0;
    for (let round = 0; round < 40; round++) {
      for (const node of nodes) sum += passed(node, `key ${n}`, 50);
      await turn();
    }
    assert.ok(sum <= LIMIT.limit + 2 * overdraftOf(LIMIT.limit), `${sum}`);
  }
  const [here, there] = [await one.run("KEYS", "*"), await other.run("KEYS", "*")] as readonly (readonly string[])[];
  assert.ok(here!.length > 3 && there!.length > 3);
  assert.ok(here!.every((key) => slotOf(key) < 8_192) && there!.every((key) => slotOf(key) >= 8_192));
});

test("over TLS only a server with a certificate of the named authority is used", { skip }, async (t) => {
  const directory = fleetDirectory(t, "counters-tls");
  const root = await createRoot(systemClock);
  const { chain, privateKey } = await createLocalCa({ root, clock: systemClock }).issue(["localhost"]);
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const ca = file("ca.pem", root.certificate);
  const port = await freePort();
  const tls = ["--tls-cert-file", file("cert.pem", chain), "--tls-key-file", file("key.pem", privateKey), "--tls-ca-cert-file", ca];
  const redis = await startRedis(["--tls-port", String(port), "--tls-auth-clients", "no", ...tls]);
  t.after(() => redis.stop());
  const trusting = watched(t, `rediss://localhost:${port}`, systemClock, ca);
  const others = [watched(t, `rediss://localhost:${port}`), watched(t, `rediss://127.0.0.1:${port}`, systemClock, ca)];
  await eventually(() => trusting.limits.isUp() && others.every(({ said }) => said.length > 0));
  assert.match(others[0]!.said.join(), /certificate/);
  assert.match(others[1]!.said.join(), /does not match certificate/);
  assert.ok(others.every(({ said }) => !said.includes("up")));
});

test("doctor and config check show the server without its password, and doctor whether it can be used", { skip }, async (t) => {
  const redis = await startRedis(["--requirepass", "hidden-word"], ":hidden-word@");
  t.after(() => redis.stop());
  const data = fleetDirectory(t, "doctor");
  const env = { SELVEDGE_COUNTERS_URL: redis.url, SELVEDGE_DATA: data };
  const checked = await fleetCommand(env, "config", "check");
  assert.equal(checked["counters.url"].value, `redis://[secret]@127.0.0.1:${redis.port}`);
  const finding = (answer: any): string => answer.findings.find(({ what }: { readonly what: string }) => what === "counters").finding;
  assert.match(finding(await fleetCommand(env, "doctor")), /^reachable, (Redis|Valkey) \d+\./);
  await redis.kill();
  await assert.rejects(fleetCommand(env, "doctor"), (error: { readonly code: number; readonly stdout: string }) => {
    assert.equal(error.code, 1);
    assert.match(finding(JSON.parse(error.stdout)), /cannot be used: .*ECONNREFUSED/);
    assert.doesNotMatch(error.stdout, /hidden-word/);
    return true;
  });
});
