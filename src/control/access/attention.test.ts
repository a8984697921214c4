import assert from "node:assert/strict";
import type { Call } from "#control/call.ts";
import { fixedClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";

const NOW = "2026-03-01T00:00:00Z";
const DAY_MS = 86_400_000;

/** Of one zone: each thing that can fail, and beside it the same thing when it works. */
async function plant(store: Store, accountId: string, zoneId: string, name: string): Promise<void> {
  const nowMs = Date.parse(NOW);
  await store.write(async ({ db }) => {
    const order = {
      owner_kind: "zone",
      zone_id: zoneId,
      hosts: `["${name}","*.${name}"]`,
      method: "txt",
      requested: "",
      authority: "",
    } as const;
    const idle = { status: "pending", placed: null, private_key: null, replaces: null, tries: 1, due_ms: 0, lease_ms: 0, created_ms: 0 };
    await db
      .insertInto("certificate_orders")
      .values([
        { ...order, ...idle, id: newId(), owner_id: zoneId, error: "the authority refused" },
        { ...order, ...idle, id: newId(), owner_id: newId(), error: "" },
        { ...order, ...idle, id: newId(), owner_id: newId(), owner_kind: "custom_hostname", error: "of a hostname" },
      ])
      .execute();
    const uploaded = (not_after: string) => ({
      ...{
        id: newId(),
        zone_id: zoneId,
        type: "sni_custom",
        bundle_method: "force",
        priority: 0,
        hosts: `["up.${name}"]`,
        served_hosts: "[]",
      },
      ...{
        chain: "",
        private_key: "",
        fingerprint: newId(),
        issuer: "",
        signature: "",
        not_before: NOW,
        not_after,
        uploaded_on: NOW,
        modified_on: NOW,
      },
    });
    await db
      .insertInto("custom_certificates")
      .values([uploaded("2026-03-10T00:00:00Z"), uploaded("2026-03-20T00:00:00Z")])
      .execute();
    await db
      .insertInto("incoming_transfer_states")
      .values({
        ...{ zone_id: zoneId, next_check_ms: 0, forced: 0, failures: 3, checked_ms: nowMs, confirmed_ms: null, transferred_ms: null },
        ...{ method: null, peer_id: null, last_error: "the primary refused" },
      })
      .execute();
    const delivery = (policy_id: string, status: string, created_ms: number) => ({
      ...{ id: newId(), account_id: accountId, policy_id, alert_type: "zone_moved", name: `policy of ${name}`, description: "", body: "" },
      ...{ mechanism_type: "webhook", mechanism: "", status, attempts: 3, due_ms: 0, created_ms, sent_on: null, error: "HTTP 500" },
    });
    await db
      .insertInto("notification_deliveries")
      .values([
        delivery("a", "failed", nowMs - DAY_MS),
        delivery("a", "failed", nowMs - DAY_MS),
        delivery("b", "failed", nowMs - 3 * DAY_MS),
        delivery("c", "sent", nowMs - DAY_MS),
      ])
      .execute();
    const push = (dataset: string, enabled: number, last_complete: string | null, last_error: string | null) => ({
      ...{ account_id: accountId, dataset, enabled, destination: "", settings: "{}", since_ms: 0, last_complete, last_error },
      error_message: last_error === null ? null : "no route to host",
    });
    await db
      .insertInto("logpush_jobs")
      .values([
        { ...push("failing", 1, "2026-02-27T00:00:00Z", "2026-02-28T00:00:00Z"), id: Number.parseInt(newId().slice(0, 7), 16) },
        { ...push("recovered", 1, "2026-02-28T00:00:00Z", "2026-02-27T00:00:00Z"), id: Number.parseInt(newId().slice(0, 7), 16) },
        { ...push("off", 0, null, "2026-02-27T00:00:00Z"), id: Number.parseInt(newId().slice(0, 7), 16) },
      ])
      .execute();
    const called = (day: string, deprecation_id: string) => ({
      day,
      account_id: accountId,
      deprecation_id,
      token_id: newId(),
      route: "r",
      calls: 1,
    });
    await db
      .insertInto("deprecation_calls")
      .values([called("2026-02-20", "recent"), called("2026-02-21", "recent"), called("2026-01-01", "old")])
      .execute();
  });
}

storeTest("an account's list names each thing that fails, and nothing that works or belongs to another account", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { clock: fixedClock(NOW) });
  const other = newId();
  await store.write(({ db }) =>
    insertAccount(db, { id: other, name: "other", type: "standard", settings: "{}", created_on: NOW } as never),
  );
  assert.deepEqual(await control.attention.list(call(), account_id), []);
  const zone = await control.zones.create(call(), { name: "own.example", account: { id: account_id } });
  const foreign = await control.zones.create(call(), { name: "foreign.example", account: { id: other } });
  const hostname = await control.customHostnames.create(
    call(),
    { id: zone.id, account_id, name: "own.example" },
    {
      hostname: "app.customer.example",
      ssl: { method: "txt", type: "dv" },
    },
  );
  await plant(store, account_id, zone.id, "own.example");
  await plant(store, other, foreign.id, "foreign.example");
  await store.write(async ({ db }) => {
    await db.updateTable("custom_hostnames").set({ ssl_status: "validation_timed_out" }).where("id", "=", hostname.id).execute();
    await db.updateTable("zones").set({ status: "moved" }).where("id", "in", [zone.id, foreign.id]).execute();
  });
  const listed = await control.attention.list(call(), account_id);
  assert.deepEqual(
    listed.map(({ kind, objects, has_more }) => [kind, objects.map(({ zone_name, name, reason }) => [zone_name, name, reason]), has_more]),
    [
      ["zone_moved", [["own.example", "own.example", ""]], false],
      ["certificate_failing", [["own.example", "own.example, *.own.example", "the authority refused"]], false],
      ["certificate_expiring", [["own.example", "up.own.example", "2026-03-10T00:00:00Z"]], false],
      ["hostname_failing", [["own.example", "app.customer.example", "validation_timed_out"]], false],
      ["secondary_failing", [["own.example", "own.example", "the primary refused"]], false],
      ["log_push_failing", [[null, "failing", "no route to host"]], false],
      ["notification_failing", [[null, "policy of own.example", "HTTP 500"]], false],
      ["deprecated_calls", [[null, "recent", ""]], false],
    ],
  );
});

storeTest("a list names ten objects of a kind, and says whether there are more", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { clock: fixedClock(NOW) });
  for (let i = 0; i < 10; i++) await control.zones.create(call(), { name: `z${i}.example`, account: { id: account_id } });
  await store.write(({ db }) => db.updateTable("zones").set({ status: "pending" }).execute());
  const ofPending = async () =>
    (await control.attention.list(call(), account_id)).map(({ kind, objects, has_more }) => [kind, objects.length, has_more]);
  assert.deepEqual(await ofPending(), [["zone_pending", 10, false]]);
  await control.zones.create(call(), { name: "z10.example", account: { id: account_id } });
  await store.write(({ db }) => db.updateTable("zones").set({ status: "pending" }).execute());
  assert.deepEqual(await ofPending(), [["zone_pending", 10, true]]);
});

storeTest("a credential sees the problems of the zones that it may read, and of no others", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store, { clock: fixedClock(NOW) });
  const made = async (name: string): Promise<string> => {
    const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
    await plant(store, account_id, id, name);
    return id;
  };
  const [readable] = [await made("readable.example"), await made("hidden.example")];
  await store.write(({ db }) => db.updateTable("zones").set({ status: "moved" }).execute());
  const groups = { settings: new Set(["Account Settings Read"] as const), zone: new Set(["Zone Read"] as const) };
  const actor = {
    ...{ type: "token" as const, id: newId(), user_id: newId(), name: "", ip: "" },
    grants: [
      { effect: "allow", level: "account", id: account_id, groups: groups.settings },
      { effect: "allow", level: "zone", id: readable, account: account_id, groups: groups.zone },
    ],
    reach: new Map([[account_id, new Set([...groups.settings, ...groups.zone])]]),
  } as const;
  const namesFor = async (caller: Call) => {
    const listed = await control.attention.list(caller, account_id);
    return [...new Set(listed.flatMap(({ objects }) => objects.map(({ zone_name: name }) => name)))].filter((name) => name !== null).sort();
  };
  assert.deepEqual(await namesFor({ actor, request_id: "test", rev: null }), ["readable.example"]);
  assert.deepEqual(await namesFor(call()), ["hidden.example", "readable.example"]);
});
