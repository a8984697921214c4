import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { EXTERNAL_LIMITS, type ExternalLimits } from "#nameserver/config.ts";
import { createExternalNames, type FindExternal } from "./external-names.ts";
import type { Resolution, Resolve } from "./resolve.ts";

const NAME = parseAbsoluteName("www.elsewhere.example");
const FOUND: Resolution = { rdatas: [Buffer.of(192, 0, 2, 1)], ttl: 100 };
const NEXT: Resolution = { rdatas: [Buffer.of(192, 0, 2, 2)], ttl: 100 };

function setUp(resolve: Resolve, change: Partial<ExternalLimits> = {}) {
  const clock = fixedClock("2026-11-20T12:00:00Z");
  const metrics = createMetrics();
  const asked: string[] = [];
  const counting: Resolve = (question) => {
    asked.push(`${formatName(question.name)} ${question.type}`);
    return resolve(question);
  };
  const names = createExternalNames({ resolve: counting, clock, metrics, limits: { ...EXTERNAL_LIMITS, ...change } });
  /** As an answer does: what is missing is noted, and the answer made again. */
  const ask = async (name = NAME): Promise<string> => {
    const { found } = await names.complete((find: FindExternal) => {
      const set = find(name, TYPE.A);
      return set === undefined ? { found: undefined, outside: { missing: [{ name, type: TYPE.A }] } } : { found: set };
    });
    return found ? `${found.state} ${found.ttl} ${found.rdatas.map((rdata) => rdata[3]).join()}` : "nothing";
  };
  const count = (result: string): number => metrics.samples().find(({ labels }) => labels["result"] === result)?.value ?? 0;
  return { names, clock, asked, ask, count };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("all queries for a name share one look-up, whose result is cached for its TTL", async () => {
  const { ask, asked, clock, names } = setUp(async () => FOUND);
  assert.equal(names.find(NAME, TYPE.A), undefined);
  assert.deepEqual(await Promise.all(Array.from({ length: 50 }, () => ask())), Array(50).fill("good 100 1"));
  assert.deepEqual(asked, ["www.elsewhere.example 1"]);
  assert.equal(names.find(NAME, TYPE.A)?.keepMs, 80_000);
  clock.advance(78_000);
  assert.equal(await ask(), "good 100 1");
  assert.equal(asked.length, 1);
  clock.advance(22_000);
  assert.equal(names.find(NAME, TYPE.A), undefined);
  assert.equal(await ask(), "good 100 1");
  assert.equal(asked.length, 2);
});

test("names in use are looked up again before they expire, while queries get the old answer", async () => {
  let now = FOUND;
  const { ask, asked, clock, names } = setUp(async () => now);
  await ask();
  now = NEXT;
  clock.advance(85_000);
  assert.equal(await ask(), "good 100 1");
  // Answers are rebuilt often now, so that the new address is used at once.
  assert.ok((names.find(NAME, TYPE.A)?.keepMs ?? 0) <= 80_000);
  await settled();
  assert.equal(asked.length, 2);
  assert.equal(await ask(), "good 100 2");
  clock.advance(60_000);
  assert.equal(await ask(), "good 100 2");
  assert.equal(asked.length, 2);
});

test("while look-ups fail, clients get the last good answer for three days", async () => {
  let fails = false;
  const { ask, asked, clock, count } = setUp(async () => {
    if (fails) throw new Error("no server");
    return FOUND;
  });
  await ask();
  fails = true;
  clock.advance(101_000);
  // The first waits for the look-up in vain; those after it do not wait.
  assert.equal(await ask(), "stale 30 1");
  assert.equal(await ask(), "stale 30 1");
  assert.equal(asked.length, 2);
  clock.advance(2 * 86_400_000);
  assert.equal(await ask(), "stale 30 1");
  await settled();
  assert.equal(asked.length, 3);
  clock.advance(86_400_000);
  assert.equal(await ask(), "unknown 30 ");
  fails = false;
  clock.advance(61_000);
  assert.equal(await ask(), "good 100 1");
  assert.deepEqual([count("found"), count("failed")], [2, asked.length - 2]);
});

test("a name that was never resolved has no data, and is retried less and less often", async () => {
  const { ask, asked, clock } = setUp(async () => {
    throw new Error("no server");
  });
  const tries = async (): Promise<number> => {
    assert.equal(await ask(), "unknown 30 ");
    return asked.length;
  };
  assert.equal(await tries(), 1);
  assert.equal(await tries(), 1);
  clock.advance(2_000);
  assert.equal(await tries(), 2);
  clock.advance(2_000);
  assert.equal(await tries(), 2);
  clock.advance(2_000);
  assert.equal(await tries(), 3);
  for (let i = 0; i < 10; i++) {
    clock.advance(60_000);
    assert.equal(await tries(), 4 + i);
  }
});

test("no client waits longer than the limit, and no more clients than the limit wait", async () => {
  const { promise, resolve } = Promise.withResolvers<Resolution>();
  const { ask, asked } = setUp(() => promise, { waitMs: 40, waitersMax: 3 });
  assert.deepEqual(await Promise.all([ask(), ask(), ask(), ask(), ask()]), Array(5).fill("unknown 30 "));
  resolve(FOUND);
  await settled();
  assert.equal(await ask(), "good 100 1");
  assert.equal(asked.length, 1);
});

test("a client that waits too long gets the last good answer", async () => {
  let answer = Promise.resolve(FOUND);
  const { ask, clock } = setUp(() => answer, { waitMs: 20 });
  await ask();
  answer = new Promise(() => {});
  clock.advance(101_000);
  assert.equal(await ask(), "stale 30 1");
});

test("cached TTLs have limits, negative ones have lower limits, and a TTL of 0 does not cause constant look-ups", async () => {
  for (const [found, ttl, keepMs] of [
    [{ ...FOUND, ttl: 0 }, 0, 4_000],
    [{ ...FOUND, ttl: 2 ** 31 }, 86_400, 69_120_000],
    [{ rdatas: [], ttl: 86_400 }, 300, 240_000],
    [{ rdatas: [], ttl: 0 }, 0, 4_000],
  ] as const) {
    const { ask, names } = setUp(async () => found);
    await ask();
    const set = names.find(NAME, TYPE.A);
    assert.deepEqual([set?.ttl, set?.keepMs], [ttl, keepMs]);
  }
});

test("cached names and running look-ups have limits, and names are looked up in advance", async () => {
  let running = 0;
  let most = 0;
  const { names, asked, ask } = setUp(
    async () => {
      most = Math.max(most, ++running);
      await settled();
      running -= 1;
      return FOUND;
    },
    { entriesMax: 40, lookupsMax: 6, warmNamesMax: 30 },
  );
  const all = Array.from({ length: 100 }, (_, i) => parseAbsoluteName(`n${i}.elsewhere.example`));
  names.warm(all);
  for (let i = 0; i < 200 && asked.length < 60; i++) await settled();
  await settled();
  assert.deepEqual([asked.length, most], [60, 6]);
  assert.equal(names.find(all[29] as Buffer, TYPE.A)?.state, "good");
  assert.equal(names.find(all[0] as Buffer, TYPE.A), undefined);
  most = 0;
  assert.deepEqual(new Set(await Promise.all(all.map((name) => ask(name)))), new Set(["good 100 1", "unknown 30 "]));
  assert.equal(most, 6);
});
