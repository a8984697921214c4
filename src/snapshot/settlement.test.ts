import assert from "node:assert/strict";
import { test } from "node:test";
import { settled as turns } from "../../test/support/eventually.ts";
import { createSettlement, type Follower } from "./settlement.ts";

test("a late follower is named at once, and waited for by who is patient", async () => {
  const follower: Follower = { name: "node fra-1", acked: 1, pending: [], late: false };
  const settlement = createSettlement(new Set([follower]));
  assert.deepEqual(await settlement.settled(2, 5), { behind: ["node fra-1"] });
  assert.equal(follower.late, true);
  assert.deepEqual(await settlement.settled(3, 60_000), { behind: ["node fra-1"] });
  const patient = settlement.settled(3, 60_000, true);
  follower.acked = 3;
  settlement.check();
  assert.deepEqual(await patient, { behind: [] });
  settlement.close();
});

test("a revision that is not published yet is waited for although nobody follows yet", async () => {
  let published = 1;
  const settlement = createSettlement(new Set(), () => published);
  assert.deepEqual(await settlement.settled(1, 60_000), { behind: [] });
  let isSettled = false;
  const waiting = settlement.settled(2, 60_000).then((result) => {
    isSettled = true;
    return result;
  });
  settlement.check();
  await turns();
  assert.equal(isSettled, false);
  published = 2;
  settlement.check();
  assert.deepEqual(await waiting, { behind: [] });
});

test("once publication is late, only those who are patient wait for it, until it has caught up", async () => {
  let published = 1;
  const settlement = createSettlement(new Set(), () => published);
  await settlement.settled(2, 5);
  await settlement.settled(3, 60_000);
  const patient = settlement.settled(3, 60_000, true);
  published = 3;
  settlement.check();
  assert.deepEqual(await patient, { behind: [] });
  const later = settlement.settled(4, 60_000);
  assert.equal(await Promise.race([later.then(() => "settled"), turns().then(() => "waits")]), "waits");
  published = 4;
  settlement.check();
  assert.deepEqual(await later, { behind: [] });
});
