import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { VISITOR_KEYS_CONTEXT } from "#snapshot/entries.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createNodes } from "./nodes.ts";
import { forgetVisitorKeys, KEY_LIFE_MS, renewVisitorKeys, visitorKeysEntry } from "./visitor-keys.ts";

storeTest("edges know each key before it is used and after it was, and none that a removed node knew", async ({ store }) => {
  let nowMs = 1_000_000;
  const clock = { ...systemClock, nowMs: () => nowMs };
  const sealer = createSealer(randomBytes(32));
  const keysAt = async (hours: number): Promise<readonly string[]> => {
    nowMs += hours * 3_600_000;
    await renewVisitorKeys({ store, sealer, clock });
    const { keys } = (await visitorKeysEntry(store.read)) ?? { keys: [] };
    return keys.map((key) => sealer.open(key, VISITOR_KEYS_CONTEXT).toString("hex"));
  };

  const first = await keysAt(0);
  assert.equal(first.length, 2);
  assert.equal(new Set(first).size, 2);
  assert.deepEqual(await keysAt(KEY_LIFE_MS / 3_600_000 - 1), first);
  const second = await keysAt(1);
  assert.deepEqual([second[0], second[2]], [first[1], first[0]]);
  const third = await keysAt(6);
  assert.deepEqual([third[0], third[2], third.length], [second[1], second[0], 3]);

  const nodes = createNodes({ store, clock });
  const { token } = await nodes.create("fra-1", ["edge"], 60_000);
  await nodes.join(token, "UNODE");
  assert.deepEqual(await keysAt(0), third);
  await nodes.remove("fra-1");
  const fresh = await keysAt(0);
  assert.equal(fresh.length, 2);
  assert.equal(new Set([...first, ...second, ...third, ...fresh]).size, 6);
  assert.deepEqual(await keysAt(0), fresh);

  await forgetVisitorKeys({ store });
  assert.equal(await visitorKeysEntry(store.read), null);
});
