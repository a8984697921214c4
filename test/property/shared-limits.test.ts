import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { fixedClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createMetrics, type MetricRegistry } from "#kernel/process/metrics.ts";
import { NO_JOURNAL } from "#gateway/limits/journal.ts";
import { createSpendLedger, type SpendLedger } from "#gateway/limits/ledger.ts";
import { overdraftOf } from "#wire/redis/lease.ts";
import { type LeasedLimits, leasedLimits } from "#wire/redis/leases.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { fc } from "../support/property.ts";
import { type RedisProcess, startRedis } from "../support/redis.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("redis-server");
/** A window that no run of this test sees the end of. */
const windowMs = 10 ** 11;
/** It stands, so that no answer is late on a busy machine. */
const clock = fixedClock("2026-01-01T00:00:00Z");
const sealer = createSealer(randomBytes(32));

/** How often a node has lost the server, and counted alone. */
let lost = 0;
/** Metrics of the last nodes. */
let metricsOfNodes: readonly MetricRegistry[] = [];
const counted = (name: string): number =>
  metricsOfNodes.flatMap((metrics) => metrics.samples()).reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0);
/** A call without an answer loses what it was for until the window ends, as the loss of the server does. */
const losses = (): number => lost + counted("selvedge_counters_unanswered_calls_total");

async function nodesAt(t: TestContext, { url }: RedisProcess, count: number): Promise<readonly LeasedLimits[]> {
  metricsOfNodes = Array.from({ length: count }, createMetrics);
  const nodes = metricsOfNodes.map((metrics) =>
    leasedLimits({ url, ca: "" }, { sealer, subject: "test", clock, metrics, onDown: () => lost++ }),
  );
  t.after(() => nodes.forEach((node) => node.close()));
  await eventually(() => nodes.every((node) => node.isUp()));
  return nodes;
}

test("nodes that share a limit exceed it by at most their overdrafts, and together pass all of it", { skip }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const nodes = await nodesAt(t, redis, 5);
  let keys = 0;
  const whole = (min: number, max: number) => fc.integer({ min, max });
  const steps = fc.array(fc.tuple(fc.nat(4), whole(1, 80), fc.boolean()), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(whole(1, 500), whole(2, 5), steps, async (limit, count, plan) => {
      const key = `k${++keys}`;
      const before = lost;
      let [passed, offered] = [0, 0];
      for (const [who, requests, waits] of plan) {
        const node = nodes[who % count]!;
        for (let n = 0; n < requests; n++) {
          offered++;
          if (node.take(key, 1, { limit, windowMs, technique: "fixed" }) === "yes") passed++;
        }
        if (waits) await turn();
      }
      assert.ok(passed <= limit + count * overdraftOf(limit) || lost > before, `${passed} of ${limit} at ${count} nodes`);
      // A burst at one node is never refused while little is used.
      assert.ok(passed >= Math.min(offered, overdraftOf(limit)), `${passed} of ${offered}`);
    }),
    { numRuns: 300 },
  );
});

test("a limit that is used evenly or at one node alone passes in full, and not much more", { skip }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const nodes = await nodesAt(t, redis, 5);
  const limit = 1_000;
  for (const [key, nodeOf] of [
    ["even", (n: number) => n % 5],
    ["one", (n: number) => (n % 12 === 0 ? 1 : 0)],
  ] as const) {
    let passed = 0;
    // The rest comes later than the leases of others are returned.
    await eventually(async () => {
      for (let n = 0; n < 500; n++) {
        if (nodes[nodeOf(n)]!.take(key, 1, { limit, windowMs, technique: "fixed" }) === "yes") passed++;
        if (n % 10 === 0) await turn();
      }
      return passed >= limit;
    });
    for (let n = 0; n < 2_000; n++) {
      if (nodes[nodeOf(n)]!.take(key, 1, { limit, windowMs, technique: "fixed" }) === "yes") passed++;
      if (n % 10 === 0) await turn();
    }
    assert.ok(passed <= limit + 5 * overdraftOf(limit), `${key}: ${passed}`);
  }
});

test("each key has one hash tag, expires, and reveals no name", { skip }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const [node] = await nodesAt(t, redis, 1);
  node!.take("visitor 192.0.2.77", 1, { limit: 5, windowMs: 60_000, technique: "sliding" });
  await eventually(async () => Number(await redis.run("DBSIZE")) >= 2);
  const keys = (await redis.run("KEYS", "*")) as readonly string[];
  for (const key of keys) {
    assert.match(key, /^sv:\{[\w-]{8}\.[\w-]{5,22}\}$/);
    const ttl = Number(await redis.run("PTTL", key));
    assert.ok(ttl > 0 && ttl <= 130_000, `${ttl}`);
  }
});

test("bursts of spend over several gateways cannot overrun a limit, and use most of it", { skip }, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const nodes = await nodesAt(t, redis, 3);
  const ledgers = nodes.map((sharedLimits) => createSpendLedger({ clock, journal: NO_JOURNAL, sharedLimits }));
  let keys = 0;
  const requests = fc.array(
    fc.record({ node: fc.nat(2), dollars: fc.integer({ min: 1, max: 60 }), part: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      minLength: 200,
      maxLength: 400,
    },
  );
  await fc.assert(
    fc.asyncProperty(requests, fc.boolean(), async (burst, isSliding) => {
      const technique = isSliding ? ("sliding" as const) : ("fixed" as const);
      const bounds = ["one", "other"].map((name, index) => ({ key: `${name} ${keys}`, limit: 500 + 100 * index, windowMs, technique }));
      keys++;
      // In the ledger's whole billionths, which add up without a remainder.
      let [spent, reserved] = [0, 0];
      const before = lost;
      await Promise.all(
        burst.map(async ({ node, dollars, part }) => {
          const estimate = { dollars, isUpperBound: true };
          await ledgers[node]!.ready(bounds, estimate);
          const outcome = ledgers[node]!.reserve(bounds, estimate, true);
          if (!("settle" in outcome)) return;
          const cost = Math.round(dollars * part * 1e9);
          reserved += dollars * 1e9;
          assert.ok(spent + reserved <= 500e9 || lost > before, `${spent} and ${reserved}`);
          await turn();
          outcome.settle(cost / 1e9);
          reserved -= dollars * 1e9;
          spent += cost;
        }),
      );
    }),
    { numRuns: 60 },
  );
  // One after the other, with the leases of others returned in between. A node that loses the server loses what it held: then again.
  for (let attempt = 0; ; attempt++) {
    const bound = { key: `all ${attempt}`, limit: 100, windowMs, technique: "fixed" as const };
    const before = losses();
    let spent = 0;
    const spendOne = async (ledger: SpendLedger): Promise<void> => {
      await ledger.ready([bound], { dollars: 2, isUpperBound: true });
      const outcome = ledger.reserve([bound], { dollars: 2, isUpperBound: true }, true);
      if (!("settle" in outcome)) return;
      outcome.settle(1);
      spent++;
    };
    const state = await readUntil(
      async () => {
        for (const ledger of ledgers) await spendOne(ledger);
        const room = ledgers.map((ledger) => ledger.hasRoom(bound));
        return { spent, lost: losses() - before, room, calls: counted("selvedge_counters_calls_total") };
      },
      (seen) => seen.spent >= 98 || seen.lost > 0,
    );
    if (state.lost > 0 && attempt < 5) continue;
    assert.ok(spent >= 98 && spent <= 100, JSON.stringify(state));
    return;
  }
});
