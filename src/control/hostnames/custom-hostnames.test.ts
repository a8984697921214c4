import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { MOVED_RETENTION_MS } from "#model/hostnames/custom-hostname-states.ts";
import { ACTIVE_RECHECK_MS } from "./hostname-checks.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { dueHostnames } from "#store/hostnames/custom-hostnames.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { alertsTold, wantAlerts } from "../../../test/support/alerts.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

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
  return { control, clock, call, account_id, saas, customer, point, zoneOf };
}

storeTest(
  "SPEC 3.2, SPEC 8.5: a hostname that points to the zone is active at once, follows its DNS, and is deleted 7 days after it moved",
  async ({ store }) => {
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
  },
);

storeTest("checks of custom hostnames take turns: many of one account do not delay another account's", async ({ store }) => {
  const { control, clock, call, saas } = await world(store);
  const other = newId();
  await store.write(({ db }) =>
    insertAccount(db, { id: other, name: "other", type: "standard", settings: "{}", created_on: "2026-03-01T00:00:00.000000Z" }),
  );
  for (let n = 0; n < 8; n++) await control.customHostnames.create(call(), saas, { hostname: `shop${n}.elsewhere.test`, ssl: DV });
  clock.advance(1_000);
  const { id, name } = await control.zones.create(call(), { name: "other.test", account: { id: other } });
  const theirs = { id, name, account_id: other, plan: "free" };
  const late = await control.customHostnames.create(call(), theirs, { hostname: "shop.elsewhere.test", ssl: DV });
  clock.advance(86_400_000);
  const due = await dueHostnames(store.scan, clock.nowMs(), 4);
  assert.deepEqual([due.length, due.includes(late.id)], [4, true]);
});

storeTest("SPEC 7, error 1016: a hostname shows at once that the fallback origin or its record is missing", async ({ store }) => {
  const { control, clock, call, saas, point } = await world(store);
  await point("shop", "origin.service.test");
  await point("own", "origin.service.test");
  const { id } = await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test" });
  const own = await control.customHostnames.create(call(), saas, {
    hostname: "own.customer.test",
    custom_origin_server: "origin.service.test",
  });
  const errors = async () => (await control.customHostnames.get(saas, id)).verification_errors;
  await control.fallbackOrigins.remove(call(), saas);
  assert.deepEqual(await errors(), ["Zone does not have a fallback origin set."]);
  for (let check = 0; check < 3; check++) {
    clock.advance(ACTIVE_RECHECK_MS);
    await control.hostnameChecks.checkDue(call(), 10);
  }
  const { status, verification_errors } = await control.customHostnames.get(saas, id);
  assert.deepEqual([status, verification_errors], ["active", ["Zone does not have a fallback origin set."]]);
  await control.fallbackOrigins.put(call(), saas, { origin: "absent.service.test" });
  assert.deepEqual(await errors(), ["The fallback origin of the zone has no proxied A, AAAA or CNAME record."]);
  const { items } = await control.customHostnames.list(saas, {}, { page: 1, per_page: 5 });
  const byName = Object.fromEntries(items.map((item) => [item.hostname, item.verification_errors]));
  assert.deepEqual(byName, { "shop.customer.test": await errors(), "own.customer.test": own.verification_errors });
  await control.fallbackOrigins.put(call(), saas, { origin: "origin.service.test" });
  assert.equal(await errors(), undefined);
});

storeTest("policies alert about a hostname's certificate in the zones that they name", async ({ store }) => {
  const { control, call, account_id, saas, customer, point } = await world(store);
  await wantAlerts({ control, call, account_id }, ["custom_ssl_certificate_event_type", "universal_ssl_event_type"], { zones: [saas.id] });
  await wantAlerts({ control, call, account_id }, ["custom_ssl_certificate_event_type"], { zones: [customer.id] });
  await point("shop", "origin.service.test");
  await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test", ssl: DV });
  assert.deepEqual(await alertsTold(store, account_id), [
    ["custom_ssl_certificate_event_type", "Certificate of shop.customer.test issued"],
  ]);
});

storeTest("SPEC 7.7: a held zone blocks hostnames until its owner releases it and the hostname is checked again", async ({ store }) => {
  const { control, clock, call, saas, customer, point } = await world(store);
  await point("shop", "origin.service.test");
  const hold = async (includeSubdomains: boolean) => control.zoneHolds.create(call(), customer.id, includeSubdomains);
  assert.deepEqual(await hold(true), { hold: true, hold_after: "", include_subdomains: true });
  const made = await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test", ssl: DV });
  assert.equal(made.status, "blocked");
  assert.deepEqual(made.verification_errors, [
    "The hostname is associated with a held zone. Please contact the owner of this domain to have the hold removed.",
  ]);
  clock.advance(86_400_000);
  await control.zoneHolds.release(call(), customer.id, undefined);
  await control.hostnameChecks.checkDue(call(), 10);
  assert.equal((await control.customHostnames.get(saas, made.id)).status, "blocked");
  assert.equal((await control.customHostnames.edit(call(), saas, made.id, { ssl: DV })).status, "active");

  // A hold that comes later leaves what is active, and one without subdomains leaves all.
  await hold(true);
  clock.advance(86_400_000);
  await control.hostnameChecks.checkDue(call(), 10);
  assert.equal((await control.customHostnames.get(saas, made.id)).status, "active");
  await hold(false);
  await point("other", "origin.service.test");
  assert.equal((await control.customHostnames.create(call(), saas, { hostname: "other.customer.test" })).status, "active");
});

storeTest("changed TLS settings keep the certificate, and changed names or another authority order a new one", async ({ store }) => {
  const { control, call, saas, point } = await world(store);
  await point("shop", "origin.service.test");
  const made = await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test", ssl: DV });
  const edit = async (ssl: object) => (await control.customHostnames.edit(call(), saas, made.id, { ssl })).ssl;
  const other = await edit({ settings: { min_tls_version: "1.3", http2: "off" } });
  assert.deepEqual([other?.settings, other?.status], [{ min_tls_version: "1.3", http2: "off" }, "active"]);
  assert.equal(other?.serial_number, made.ssl?.serial_number);
  const again = await edit({ ...DV, certificate_authority: "" });
  assert.deepEqual([again?.settings, again?.status], [other?.settings, "active"]);
  assert.equal(again?.serial_number, made.ssl?.serial_number, "it is what is asked for");
  const wider = await edit({ ...DV, wildcard: true });
  assert.deepEqual(wider?.hosts, ["shop.customer.test", "*.shop.customer.test"]);
  assert.notEqual(wider?.serial_number, made.ssl?.serial_number);
});

storeTest("a hold that is paused for a time returns by itself", async ({ store }) => {
  const { control, clock, call, customer } = await world(store);
  const { zoneHolds } = control;
  assert.deepEqual(await zoneHolds.get(customer.id), { hold: false, hold_after: "", include_subdomains: false });
  await zoneHolds.create(call(), customer.id, true);
  const off = await zoneHolds.release(call(), customer.id, "2026-03-02T00:00:00Z");
  assert.deepEqual(off, { hold: false, hold_after: "2026-03-02T00:00:00Z", include_subdomains: true });
  clock.advance(86_400_000);
  assert.deepEqual(await zoneHolds.get(customer.id), { hold: true, hold_after: "", include_subdomains: true });
  assert.equal((await zoneHolds.ofName(customer.id, "shop.customer.test")).hold, true);
  assert.equal((await zoneHolds.edit(call(), customer.id, { include_subdomains: false })).hold, true);
  assert.equal((await zoneHolds.ofName(customer.id, "shop.customer.test")).hold, false);
  await assert.rejects(zoneHolds.ofName(customer.id, "elsewhere.test"), failing(10404));
  await assert.rejects(zoneHolds.edit(call(), customer.id, { hold_after: "tomorrow" }), failing(10400));
  assert.equal((await zoneHolds.edit(call(), customer.id, { hold_after: "2026-03-09T00:00:00Z" })).hold, false);
  assert.equal((await zoneHolds.edit(call(), customer.id, { hold_after: "" })).hold, true);
  await zoneHolds.release(call(), customer.id, undefined);
  assert.equal((await zoneHolds.get(customer.id)).hold, false);
});

storeTest(
  "SPEC 7.9, SPEC 8.1, SPEC 8.2: an account gets fifteen certificates a minute, then none for thirty seconds; failures do not count",
  async ({ store }) => {
    const { control, clock, call, saas } = await world(store);
    const create = (hostname: string, ssl: typeof DV | null = DV) =>
      control.customHostnames.create(call(), saas, { hostname: `${hostname}.service.test`, ssl });
    for (let i = 0; i < 14; i++) await create(`a${i}`);
    for (let i = 0; i < 5; i++) await assert.rejects(create("a0"), failing(1406));
    for (let i = 0; i < 5; i++) await assert.rejects(create("-"), failing(1407));
    for (let i = 0; i < 5; i++) await create(`plain${i}`, null);
    await create("a14");
    const locked = (error: unknown): boolean => {
      assert.ok(error instanceof PlatformError);
      assert.deepEqual([error.code, error.status, error.headers["retry-after"]], [10429, 429, "30"]);
      return true;
    };
    await assert.rejects(create("a15"), locked);
    clock.advance(10_000);
    await assert.rejects(create("a15"), (error: unknown) => error instanceof PlatformError && error.headers["retry-after"] === "20");
    await create("plain5", null);
    clock.advance(20_000);
    assert.equal((await create("a15")).hostname, "a15.service.test");
    clock.advance(60_000);
    for (let i = 20; i < 35; i++) await create(`a${i}`);
    await assert.rejects(create("a35"), locked);
  },
);

storeTest("the hostname that was validated last owns the name", async ({ store }) => {
  const { control, call, saas, point, zoneOf } = await world(store);
  const rival = await zoneOf("rival.test");
  await control.dnsRecords.create(call(), rival, { type: "A", name: "origin", content: "192.0.2.2", proxied: true });
  await control.fallbackOrigins.put(call(), rival, { origin: "origin.rival.test" });
  await point("shop", "alias.service.test");
  const first = await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test", ssl: DV });
  const second = await control.customHostnames.create(call(), rival, { hostname: "shop.customer.test", ssl: DV });
  assert.deepEqual([first.status, second.status], ["active", "pending"]);
  await control.dnsRecords.create(call(), rival, {
    type: "TXT",
    name: "unrelated",
    content: `"${second.ownership_verification?.value}"`,
  });
  const customer = (await zoneOfName(control, call, "customer.test"))!;
  await control.dnsRecords.create(call(), customer, {
    type: "TXT",
    name: "_cf-custom-hostname.shop",
    content: `"${second.ownership_verification?.value}"`,
  });
  // Both lie in the zone that has changed: only the one whose token stands there takes the name from the other.
  await control.hostnameChecks.checkDue(call(), 10);
  assert.equal((await control.customHostnames.get(rival, second.id)).status, "active");
  assert.equal((await control.customHostnames.get(saas, first.id)).status, "moved");
});

const zoneOfName = async (
  control: Awaited<ReturnType<typeof world>>["control"],
  call: Awaited<ReturnType<typeof world>>["call"],
  name: string,
) =>
  (await control.zones.list(call(), {}, { page: 1, per_page: 50 })).items
    .filter((zone) => zone.name === name)
    .map((zone) => ({ id: zone.id, name, account_id: zone.account.id, plan: "free" }))[0];

storeTest("a hostname needs its required values, and each error has its code", async ({ store }) => {
  const { control, call, saas } = await world(store);
  const create = (body: object) => control.customHostnames.create(call(), saas, body);
  const long = `${"a".repeat(60)}.customer.test`;
  const cases: readonly [number, object][] = [
    [1407, {}],
    [1407, { hostname: "" }],
    [1407, { hostname: 5 }],
    [1407, { hostname: "192.0.2.1" }],
    [1407, { hostname: "2001:db8::1" }],
    [1407, { hostname: "a b.customer.test" }],
    [1407, { hostname: "*.customer.test" }],
    [1407, { hostname: `${"a.".repeat(130)}test` }],
    [1408, { hostname: "bücher.test" }],
    [1409, { hostname: "shop.localhost" }],
    [1409, { hostname: "shop.invalid" }],
    [1410, { hostname: "co.uk" }],
    [1410, { hostname: "customer" }],
    [1411, { hostname: "www.example.com" }],
    [1401, { hostname: "a.customer.test", custom_metadata: "text" }],
    [1401, { hostname: "a.customer.test", custom_metadata: { a: { b: 1 } } }],
    [1412, { hostname: "a.customer.test", custom_metadata: { a: "b" }, ssl: { ...DV, wildcard: true } }],
    [1415, { hostname: "a.customer.test", custom_origin_server: "192.0.2.1" }],
    [1416, { hostname: "a.customer.test", custom_origin_server: "ü.service.test" }],
    [1417, { hostname: "a.customer.test", custom_origin_server: "origin.localhost" }],
    [1418, { hostname: "a.customer.test", custom_origin_server: "com" }],
    [1419, { hostname: "a.customer.test", custom_origin_server: "www.example.org" }],
    [1420, { hostname: "a.customer.test", custom_origin_server: "*.service.test" }],
    [1421, { hostname: "a.customer.test", custom_origin_server: "absent.service.test" }],
    [1421, { hostname: "a.customer.test", custom_origin_server: "origin.elsewhere.test" }],
    [1422, { hostname: "a.customer.test", ssl: { ...DV, settings: { http2: "yes" } } }],
    [1423, { hostname: "a.customer.test", ssl: { ...DV, settings: { tls_1_2_only: 1 } } }],
    [1424, { hostname: "a.customer.test", ssl: { ...DV, settings: { tls_1_3: true } } }],
    [1425, { hostname: "a.customer.test", ssl: { ...DV, settings: { min_tls_version: "1.4" } } }],
    [1426, { hostname: "a.customer.test", ssl: { custom_certificate: "no", custom_key: "no" } }],
    [1428, { hostname: "a.customer.test", ssl: { custom_key: "no" } }],
    [1431, { hostname: "a.customer.test", ssl: { ...DV, custom_csr_id: "7b163417-1d2b-4c84-a38a-2fb7a0cd7752" } }],
    [1432, { hostname: "a.customer.test", ssl: { method: "cname", type: "dv" } }],
    [1433, { hostname: "a.customer.test", ssl: { method: "txt", type: "ev" } }],
    [1434, { hostname: "a.customer.test", ssl: { ...DV, wildcard: "yes" } }],
    [1434, { hostname: "a.customer.test", ssl: { ...DV, cloudflare_branding: "yes" } }],
    [1440, { hostname: "a.customer.test", ssl: { method: "txt" } }],
    [1440, { hostname: "a.customer.test", ssl: { type: "dv" } }],
    [1440, { hostname: "a.customer.test", ssl: {} }],
    [1441, { hostname: "a.customer.test", ssl: { custom_cert_bundle: [] } }],
    [1449, { hostname: "a.customer.test", ssl: { ...DV, bundle_method: "best" } }],
    [1459, { hostname: "a.customer.test", ssl: { ...DV, certificate_authority: "mine" } }],
    // SPEC 7.8 and SPEC 8.4.
    [1469, { hostname: long }],
    [1469, { hostname: long, ssl: { ...DV, cloudflare_branding: false } }],
  ];
  for (const [code, body] of cases) await assert.rejects(create(body), failing(code), `${code} ${JSON.stringify(body)}`);
  await assert.rejects(create({ hostname: "*.customer.test" }), { message: /set ssl\.wildcard/ });
  assert.equal((await control.customHostnames.quota(saas)).used, 0);
  for (const [index, branding] of [{ svc_branding: true }, { cloudflare_branding: true }].entries()) {
    const made = await create({ hostname: `b${index}.${long}`, ssl: DV, ...branding });
    assert.equal(made.hostname, `b${index}.${long}`);
    await create({ hostname: `c${index}.${long}`, ssl: { ...DV, ...branding } });
    // Without it, the name would become the Common Name.
    for (const off of [{ svc_branding: false }, { ssl: { ...DV, cloudflare_branding: false } }])
      await assert.rejects(control.customHostnames.edit(call(), saas, made.id, off), failing(1469));
  }
  assert.deepEqual(await control.customHostnames.quota(saas), { allocated: 50_000, used: 4, exceeded: false, hard_cap: 50_000 });
});

storeTest("only own custom hostnames can be purged, and other accounts cannot create zones of held names", async ({ store }) => {
  const { control, call, saas, customer } = await world(store);
  await control.customHostnames.create(call(), saas, { hostname: "shop.customer.test" });
  await control.customHostnames.create(call(), saas, { hostname: "wild.test", ssl: { ...DV, wildcard: true } });
  const purge = (...hosts: string[]) => control.cachePurges.purge(call(), saas, { hosts });
  await purge("shop.customer.test", "www.service.test", "any.wild.test", "wild.test");
  await control.cachePurges.purge(call(), saas, { files: ["https://shop.customer.test/a"] });
  for (const host of ["below.shop.customer.test", "customer.test"]) await assert.rejects(purge(host), { errorName: "purge_invalid" });

  await control.zoneHolds.create(call(), customer.id, true);
  const other = { id: newId(), name: "other", type: "standard", settings: "{}", created_on: "2026-01-01T00:00:00.000000Z" };
  await store.write(({ db }) => insertAccount(db, other));
  const make = (id: string) => control.zones.create(call(), { name: "below.customer.test", account: { id } });
  await assert.rejects(make(other.id), failing(10435));
  await make(saas.account_id);
});
