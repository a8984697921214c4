import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createIssuanceLimit } from "./issuance-limit.ts";

const ROUNDS = 40;

storeTest("SPEC 8.1: concurrent requests at two nodes are all counted", async ({ store, open }) => {
  const account_id = newId();
  await store.write(({ db }) => insertAccount(db, { id: account_id, name: "one", type: "standard", settings: "{}", created_on: "" }));
  const clock = fixedClock("2026-05-06T12:00:00Z");
  const nodes = [store, await open()].map((one) => ({ store: one, limit: createIssuanceLimit({ store: one, clock, perMinuteMax: 100 }) }));
  const order = ({ store: node, limit }: (typeof nodes)[number]) => node.write((unit) => limit.take(unit, account_id));
  for (let round = 0; round < ROUNDS; round++) await Promise.all(nodes.map(order));
  const { taken } = await store.read.selectFrom("hostname_issuances").select("taken").executeTakeFirstOrThrow();
  assert.equal(taken, ROUNDS * nodes.length);
  const times = await store.read.selectFrom("hostname_issuance_times").selectAll().execute();
  assert.deepEqual(
    times.map((row) => row.taken),
    [taken],
    "those of one moment share a row",
  );
});

storeTest("SPEC 8.1 and SPEC 8.2: exceeding the rate locks the account for 30 seconds on every node", async ({ store, open }) => {
  const account_id = newId();
  await store.write(({ db }) => insertAccount(db, { id: account_id, name: "one", type: "standard", settings: "{}", created_on: "" }));
  const clock = fixedClock("2026-05-06T12:00:00Z");
  const other = await open();
  const at = (one: typeof store) => {
    const limit = createIssuanceLimit({ store: one, clock, perMinuteMax: 15 });
    return () => limit.watch(account_id, () => one.write((unit) => limit.take(unit, account_id)));
  };
  const [first, second] = [at(store), at(other)];
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => [first(), second()]).flat());
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 15);
  await assert.rejects(second(), { code: 10429 });
  clock.advance(30_000);
  await first();
});

storeTest("SPEC 8.1: the minute slides, and counting a certificate reads a constant number of rows", async ({ store }) => {
  const account_id = newId();
  await store.write(({ db }) => insertAccount(db, { id: account_id, name: "one", type: "standard", settings: "{}", created_on: "" }));
  const clock = fixedClock("2026-05-06T12:00:00Z");
  const limit = createIssuanceLimit({ store, clock, perMinuteMax: 50 });
  const take = () => limit.watch(account_id, () => store.write((unit) => limit.take(unit, account_id)));
  const count = async () =>
    (await store.read.selectFrom("hostname_issuance_times").select("taken").execute()).reduce((sum, { taken }) => sum + taken, 0);
  for (let taken = 0; taken < 120; taken++) {
    await take();
    clock.advance(1_250);
  }
  assert.equal(await count(), 48, "those of the last minute");
  clock.advance(-3_600_000);
  await take();
  assert.equal(await count(), 1, "what a clock said that has been set back counts no more");
});
