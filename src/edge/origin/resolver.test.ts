import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { EDGE_LIMITS, type ResolverLimits } from "#edge/config.ts";
import type { LookedUp } from "./dns-client.ts";
import { createResolver } from "./resolver.ts";

const found = (ttlSeconds: number, ...addresses: string[]): LookedUp => ({ addresses, ttlSeconds });
const NOTHING = found(0);
const FAILS = null;

/** A resolver whose look-ups a test answers one by one, in order. */
function resolver(limits: Partial<ResolverLimits> = {}) {
  const clock = fixedClock(1_000);
  const asked: { readonly name: string; answer(outcome: LookedUp | null): void }[] = [];
  const resolve = createResolver({
    clock,
    metrics: createMetrics(),
    limits: { ...EDGE_LIMITS.resolver, ...limits },
    lookUp: (name) =>
      new Promise((done, fail) => asked.push({ name, answer: (outcome) => (outcome === null ? fail(new Error("no")) : done(outcome)) })),
  });
  /** Resolves a name; its look-up, if one starts, ends with `outcome`. */
  const ask = async (outcome: LookedUp | null = FAILS, name = "a.example") => {
    const before = asked.length;
    const addresses = resolve(name);
    await turn();
    const hasAsked = asked.length > before;
    if (hasAsked) asked.at(-1)!.answer(outcome);
    const late = await addresses;
    await turn();
    return { addresses: late, hasAsked, atOnce: !(addresses instanceof Promise) };
  };
  return { resolve, ask, asked, pass: clock.advance };
}

const turn = () => new Promise((done) => setImmediate(done));

test("the resolver caches an answer for its TTL, returns it at once, and refreshes it before it expires", async () => {
  const { ask, pass } = resolver();
  assert.deepEqual(await ask(found(60, "192.0.2.1")), { addresses: ["192.0.2.1"], hasAsked: true, atOnce: false });
  pass(47_000);
  assert.deepEqual(await ask(), { addresses: ["192.0.2.1"], hasAsked: false, atOnce: true });
  pass(1_000);
  assert.deepEqual(await ask(found(60, "192.0.2.2")), { addresses: ["192.0.2.1"], hasAsked: true, atOnce: true });
  assert.deepEqual(await ask(), { addresses: ["192.0.2.2"], hasAsked: false, atOnce: true });
  pass(60_000);
  assert.deepEqual(await ask(found(60, "192.0.2.3")), { addresses: ["192.0.2.3"], hasAsked: true, atOnce: false });
});

test("the resolver keeps very short and very long TTLs within bounds", async () => {
  const { ask, pass } = resolver({ lifeMinMs: 5_000, lifeMaxMs: 300_000, refreshAfter: 1 });
  await ask(found(0, "192.0.2.1"));
  pass(4_999);
  assert.equal((await ask()).hasAsked, false);
  pass(1);
  await ask(found(86_400, "192.0.2.1"));
  pass(299_999);
  assert.equal((await ask()).hasAsked, false);
  pass(1);
  assert.equal((await ask()).hasAsked, true);
});

test("while look-ups fail, the resolver returns the last good answer for a day and retries less and less often", async () => {
  const { ask, pass } = resolver();
  await ask(found(60, "192.0.2.1"));
  pass(60_000);
  assert.deepEqual(await ask(FAILS), { addresses: ["192.0.2.1"], hasAsked: true, atOnce: false });
  assert.deepEqual(await ask(), { addresses: ["192.0.2.1"], hasAsked: false, atOnce: true });
  pass(1_000);
  assert.deepEqual(await ask(FAILS), { addresses: ["192.0.2.1"], hasAsked: true, atOnce: true }, "nobody waits for it again");
  pass(1_999);
  assert.equal((await ask()).hasAsked, false);
  pass(86_400_000);
  assert.deepEqual(await ask(FAILS), { addresses: [], hasAsked: true, atOnce: false });
  pass(60_000);
  assert.deepEqual((await ask(found(60, "192.0.2.2"))).addresses, ["192.0.2.2"]);
});

test("an answer without addresses replaces a good one, and is cached briefly", async () => {
  const { ask, pass } = resolver();
  await ask(found(60, "192.0.2.1"));
  pass(60_000);
  assert.deepEqual((await ask(NOTHING)).addresses, []);
  pass(3_999);
  assert.equal((await ask()).hasAsked, false);
  pass(1_001);
  assert.deepEqual((await ask(found(60, "192.0.2.2"))).addresses, ["192.0.2.2"]);
});

test("requests for one name share a look-up, few look-ups run at a time, and requests beyond the queue fail at once", async () => {
  const { resolve, asked } = resolver({ lookupsMax: 2, queuedLookupsMax: 1 });
  const all = ["a", "a", "b", "c", "d"].map((name) => resolve(name));
  await turn();
  assert.deepEqual(
    asked.map(({ name }) => name),
    ["a", "b"],
  );
  assert.deepEqual(await all[4], [], "there was no place in the queue");
  asked[0]!.answer(found(60, "192.0.2.1"));
  assert.deepEqual(await Promise.all([all[0], all[1]]), [["192.0.2.1"], ["192.0.2.1"]]);
  await turn();
  assert.deepEqual(asked.at(-1)!.name, "c");
});

test("the resolver caches a bounded number of names", async () => {
  const { ask } = resolver({ namesMax: 2 });
  for (const name of ["a", "b", "c"]) await ask(found(60, "192.0.2.1"), name);
  assert.equal((await ask(FAILS, "c")).hasAsked, false);
  assert.equal((await ask(FAILS, "a")).hasAsked, true);
});
