import assert from "node:assert/strict";
import { insertAccount } from "#store/access/accounts.ts";
import { insertZone } from "#store/zones/zones.ts";
import { storeTest } from "../../../test/support/store.ts";
import { insertOrder } from "./certificate-orders.ts";
import { claimOrders } from "./order-claims.ts";

const PREFERRED = { zone: "google", custom_hostname: "google", certificate_pack: "google" };
const CLAIM = { nowMs: 1_000, leaseMs: 60_000, limit: 8, perAccount: 6, perAuthority: 8, preferred: PREFERRED };

const zone = (id: string, account_id: string) => ({
  ...{ id, account_id, name: `${id}.example`, status: "active", type: "full", paused: 0, plan: "free", name_servers: "[]" },
  ...{ settings: "{}", serial: 1, record_count: 0, vanity_name_servers: "[]", proof: "none", verification_key: "", pair: "[]" },
  ...{ created_on: "", modified_on: "" },
});
const order = (id: string, due_ms: number, replaces: string | null) => ({
  ...{ id, owner_kind: "zone" as const, owner_id: id, zone_id: id, hosts: "[]", method: "txt" as const, requested: "", replaces },
  ...{
    authority: "",
    status: "initializing" as const,
    error: "",
    placed: null,
    private_key: null,
    tries: 0,
    due_ms,
    lease_ms: 0,
    created_ms: 0,
  },
});

storeTest("an account with a thousand orders does not delay other accounts, and renewals go first", async ({ store }) => {
  await store.write(async ({ db }) => {
    for (const id of ["a", "b"]) await insertAccount(db, { id, name: id, type: "standard", settings: "{}", created_on: "" });
    for (let n = 0; n < 30; n++) {
      await insertZone(db, zone(`b${n}`, "b"));
      await insertOrder(db, order(`b${n}`, n, null));
    }
    for (const id of ["a1", "a2"]) await insertZone(db, zone(id, "a"));
    await insertOrder(db, order("a1", 900, "renewed"));
    await insertOrder(db, order("a2", 901, null));
  });
  const claim = async (): Promise<string[]> => (await store.write(({ db }) => claimOrders(db, CLAIM))).result.toSorted();
  assert.deepEqual(await claim(), ["a1", "a2", "b0", "b1", "b2", "b3", "b4", "b5"]);
  assert.deepEqual(await claim(), [], "six of one account are in hand");
});

storeTest("orders at an authority that is slow leave places for other authorities, whichever accounts they are of", async ({ store }) => {
  await store.write(async ({ db }) => {
    for (let n = 0; n < 20; n++) {
      await insertAccount(db, { id: `c${n}`, name: `c${n}`, type: "standard", settings: "{}", created_on: "" });
      await insertZone(db, zone(`z${n}`, `c${n}`));
      const authority = ["lets_encrypt", "", ""][n % 3]!;
      const requested = n % 3 === 1 ? "lets_encrypt" : "";
      const preferred = n === 17 ? { requested: "google" } : {};
      await insertOrder(db, { ...order(`z${n}`, n, null), authority, requested, ...preferred });
    }
  });
  const preferred = { ...PREFERRED, zone: "lets_encrypt" };
  const claim = async (): Promise<string[]> => {
    const { result } = await store.write(({ db }) => claimOrders(db, { ...CLAIM, limit: 12, preferred }));
    return result.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
  };
  assert.deepEqual(await claim(), ["z0", "z1", "z2", "z3", "z4", "z5", "z6", "z7", "z17"]);
  assert.deepEqual(await claim(), []);
});
