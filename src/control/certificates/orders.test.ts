import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { insertOrder } from "#store/certificates/certificate-orders.ts";
import { insertZone } from "#store/zones/zones.ts";
import type { Store } from "#store/database/store.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createCertificateOrders } from "./orders.ts";

const PREFERRED = { zone: "local", custom_hostname: "local", certificate_pack: "local" };

/** An order of a new zone, in a new account. */
async function ordered(store: Store, authority: string): Promise<string> {
  const id = newId();
  await store.write(async ({ db }) => {
    await insertAccount(db, { id, name: id, type: "standard", settings: "{}", created_on: "" });
    await insertZone(db, {
      ...{ id, account_id: id, name: `${id}.example`, status: "active", type: "full", paused: 0, plan: "free", name_servers: "[]" },
      ...{ settings: "{}", serial: 1, record_count: 0, vanity_name_servers: "[]", proof: "none", verification_key: "", pair: "[]" },
      ...{ created_on: "", modified_on: "" },
    });
    await insertOrder(db, {
      ...{ id, owner_kind: "zone", owner_id: id, zone_id: id, hosts: "[]", method: "txt", requested: "", replaces: null, authority },
      ...{ status: "initializing", error: "", placed: null, private_key: null, tries: 0, due_ms: 0, lease_ms: 0, created_ms: 0 },
    });
  });
  return id;
}

storeTest("slow authorities, and orders that callers wait for, keep no place from orders at another authority", async ({ store }) => {
  const begun: string[] = [];
  const orders = createCertificateOrders({
    ...{ store, clock: fixedClock(1_000_000), preferred: PREFERRED },
    onError: () => undefined,
    workOn: (id, signal) =>
      new Promise((resolve) => {
        begun.push(id);
        signal.addEventListener("abort", () => resolve());
      }),
  });
  for (const authority of ["google", "ssl_com", "digicert"])
    for (let n = 0; n < 16; n++) {
      const id = await ordered(store, authority);
      if (n < 6) void orders.workFor({ owner_kind: "zone", owner_id: id });
    }
  await orders.turn();
  const other = await ordered(store, "lets_encrypt");
  assert.equal(await orders.turn(), 1);
  assert.equal(begun.at(-1), other);
  await orders.close();
});

storeTest("callers at the same time start at most 64 orders, each once, and none starts after the end", async ({ store }) => {
  const begun: string[] = [];
  let isClosed = false;
  const orders = createCertificateOrders({
    ...{ store, clock: fixedClock(1_000_000), preferred: PREFERRED },
    onError: () => undefined,
    workOn: async (id, signal) => {
      assert.equal(isClosed, false);
      begun.push(id);
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    },
  });
  const ids: string[] = [];
  for (let n = 0; n < 70; n++) ids.push(await ordered(store, "lets_encrypt"));
  const workFor = (owner_id: string) => orders.workFor({ owner_kind: "zone", owner_id });
  const calls = ids.flatMap((id, n) => (n < 65 ? [workFor(id), ...(n < 5 ? [workFor(id)] : [])] : []));
  await orders.turn();
  assert.ok(begun.length > 8 && begun.length <= 64, `${begun.length}`);
  const late = await ordered(store, "local");
  calls.push(workFor(late));
  await orders.close();
  isClosed = true;
  await Promise.all(calls);
  assert.equal(new Set(begun).size, begun.length);
});

storeTest("an order that a caller claims while the orders close does not start afterwards", async ({ store }) => {
  let [begun, isClosed] = [0, false];
  const orders = createCertificateOrders({
    ...{ store, clock: fixedClock(1_000_000), preferred: PREFERRED },
    onError: (error) => assert.fail(String(error)),
    workOn: async (_id, signal) => {
      assert.deepEqual([isClosed, signal.aborted], [false, true]);
      begun++;
    },
  });
  const call = orders.workFor({ owner_kind: "zone", owner_id: await ordered(store, "local") });
  await orders.close();
  isClosed = true;
  await call;
  assert.equal(begun, 1);
});
