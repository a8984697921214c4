import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { MOVED_RETENTION_MS } from "#model/custom-hostname-states.ts";
import type { Store } from "#store/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";

const failing = (code: number) => (error: unknown) => error instanceof PlatformError && error.code === code;
const DV = { method: "txt", type: "dv" } as const;

/** A service's zone with its origin, and the zone of a customer of the service. */
async function world(store: Store) {
  const clock = fixedClock("2026-03-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const zoneOf = async (name: string) => {
    const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
    return { id, name, account_id, plan: "free" };
  };
  const saas = await zoneOf("service.test");
  const customer = await zoneOf("customer.test");
  await control.dnsRecords.create(call(), saas, { type: "A", name: "origin", content: "192.0.2.1", proxied: true });
  await control.fallbackOrigins.put(call(), saas, { origin: "origin.service.test" });
  const point = (name: string, target: string) => control.dnsRecords.create(call(), customer, { type: "CNAME", name, content: target });
  return { control, clock, call, saas, customer, point, zoneOf };
}

storeTest("SPEC 3.2 a hostname that points to the zone is active at once, moves with its DNS, and goes after 7 days", async ({ store }) => {
  const { control, clock, call, saas, customer, point } = await world(store);
  const record = await point("shop", "origin.service.test");
  const made = await control.customHostnames.create(call(), saas, { hostname: "Shop.customer.test", ssl: DV });
  assert.deepEqual(
    [made.hostname, made.status, made.ssl?.status, made.ssl?.hosts],
    ["shop.customer.test", "active", "active", ["shop.customer.test"]],
  );
  assert.equal(made.verification_errors, undefined);

  await control.dnsRecords.delete(call(), customer, record.id);
  assert.equal(await control.hostnameChecks.checkDue(call(), 10), 1);
  const moved = await control.customHostnames.get(saas, made.id);
  assert.equal(moved.status, "moved");
  assert.deepEqual(moved.verification_errors?.[0], "custom hostname does not CNAME to this zone.");

  await point("shop", "origin.service.test");
  await control.hostnameChecks.checkDue(call(), 10);
  assert.equal((await control.customHostnames.get(saas, made.id)).status, "moved", "only a PATCH brings it back");
  assert.equal((await control.customHostnames.edit(call(), saas, made.id, { ssl: DV })).status, "active");

  const [again] = (await control.dnsRecords.list(customer, { name: "shop.customer.test" }, { page: 1, per_page: 5 })).items;
  await control.dnsRecords.delete(call(), customer, again!.id);
  await control.hostnameChecks.checkDue(call(), 10);
  clock.advance(MOVED_RETENTION_MS - 1);
  await control.hostnameChecks.checkDue(call(), 10);
  assert.equal((await control.customHostnames.get(saas, made.id)).status, "moved");
  clock.advance(1);
  await control.hostnameChecks.checkDue(call(), 10);
  await assert.rejects(control.customHostnames.get(saas, made.id), failing(1436));
});
