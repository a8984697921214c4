import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { orderFromRow, putRenewal, renewalOf, updateOrder } from "#store/certificates/certificate-orders.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../support/control.ts";
import { alertsTold, wantAlerts } from "../support/alerts.ts";
import type { CustomHostname } from "#model/hostnames/custom-hostname.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { storeTest } from "../support/store.ts";
import { problem, startStubAuthority, type StubAuthority } from "../support/stub-authority.ts";

const DAY_MS = 86_400_000;
const DV = { method: "http", type: "dv" } as const;

async function world(store: Store, stub: StubAuthority) {
  const clock = fixedClock("2026-11-22T12:00:00Z");
  const acme = { directories: { lets_encrypt: stub.directoryUrl }, bindings: {}, email: "", roots: "" };
  const ordering = { zones: ["local"], hostnames: ["lets_encrypt"], acme } as const;
  const { control, account_id, call } = await controlOver(store, { clock, ordering });
  const { id } = await control.zones.create(call(), { name: "service.test", account: { id: account_id } });
  const zone = { id, name: "service.test", account_id };
  const orderFor = (hostnameId: string) => orderFromRow(store.read, { owner_kind: "custom_hostname", owner_id: hostnameId });
  const work = async (hostnameId: string): Promise<void> => {
    clock.advance(Math.max(((await orderFor(hostnameId))?.due_ms ?? 0) - clock.nowMs(), 0));
    await control.certificateOrdering.orders.turn();
    await eventually(async () => ((await orderFor(hostnameId))?.lease_ms ?? 0) === 0);
  };
  return { control, clock, call, account_id, zone, orderFor, work };
}

/** Answers as an authority does that has taken the order and looks for a page. */
function takeOrders(stub: StubAuthority): void {
  const order = { status: "pending", authorizations: [`${stub.url}/authz/1`], finalize: `${stub.url}/finalize/1` };
  const challenge = { type: "http-01", url: `${stub.url}/challenge/1`, status: "pending", token: "token-of-the-stub-0123456789" };
  const identifier = { type: "dns", value: "shop.customer.test" };
  stub.answers.set("POST /order", { status: 201, headers: { location: `${stub.url}/order/1` }, body: order });
  stub.answers.set("POST /authz/1", { body: { status: "pending", identifier, challenges: [challenge] } });
}

storeTest("SPEC 7.6: a CAA refusal sets a hostname's status to caa_error until the order is tried again", async ({ store }) => {
  const stub = await startStubAuthority();
  const { control, clock, call, zone, work, orderFor } = await world(store, stub);
  try {
    stub.answers.set("POST /order", problem("caa", "CAA record for customer.test prevents issuance"));
    const made = await control.customHostnames.create(call(), zone, { hostname: "shop.customer.test", ssl: DV });
    await work(made.id);
    const shown = (holds: (hostname: CustomHostname) => boolean) => readUntil(() => control.customHostnames.get(zone, made.id), holds);
    const worked = (holds: (hostname: CustomHostname) => boolean) =>
      readUntil(() => work(made.id).then(() => control.customHostnames.get(zone, made.id)), holds);
    const refused = await shown(({ status }) => status === "caa_error");
    assert.equal(refused.ssl?.status, "pending_issuance");
    assert.match(refused.ssl?.validation_errors?.[0]?.message ?? "", /^caa_error: caa: CAA record for customer\.test prevents issuance/);

    stub.answers.set("POST /order", { ...problem("rateLimited", "too many orders"), status: 429, headers: { "retry-after": "86400" } });
    await worked(({ status, ssl }) => status === "pending" && ssl?.status === "pending_validation");
    const order = await orderFor(made.id);
    assert.ok((order?.due_ms ?? 0) - clock.nowMs() >= DAY_MS, "as long as the authority wants");

    takeOrders(stub);
    const placed = await worked(({ ssl }) => ssl?.validation_records?.length === 1);
    assert.equal(placed.ssl?.validation_errors, undefined);
    assert.match(placed.ssl?.validation_records?.[0]?.http_url ?? "", /\/token-of-the-stub-0123456789$/);
  } finally {
    await control.certificateOrdering.close();
    await stub.stop();
  }
});

storeTest("an order that fails three times in a row sends one alert, and a second one when control gives it up", async ({ store }) => {
  const stub = await startStubAuthority();
  const { control, call, account_id, zone, work, orderFor } = await world(store, stub);
  try {
    stub.answers.set("POST /order", problem("rejectedIdentifier", "not this name"));
    await wantAlerts({ control, call, account_id }, ["custom_ssl_certificate_event_type", "universal_ssl_event_type"]);
    const { id } = await control.customHostnames.create(call(), zone, { hostname: "shop.customer.test", ssl: DV });
    const tries = async (): Promise<number> => (await orderFor(id))?.tries ?? Infinity;
    while ((await tries()) < 2) await work(id);
    assert.deepEqual(await alertsTold(store, account_id), []);
    while ((await tries()) < 5) await work(id);
    const told = ["custom_ssl_certificate_event_type", "Certificate of shop.customer.test not issued"];
    assert.deepEqual(await alertsTold(store, account_id), [told]);
    const order = await orderFor(id);
    await store.write(({ db }) => updateOrder(db, order?.id ?? "", { tries: 118 }));
    while ((await tries()) < Infinity) await work(id);
    assert.deepEqual(await alertsTold(store, account_id), [told, told]);
  } finally {
    await control.certificateOrdering.close();
    await stub.stop();
  }
});

storeTest(
  "an order for a hostname that does not point here publishes no proof, and deleting the hostname deletes the order",
  async ({ store }) => {
    const stub = await startStubAuthority();
    const { control, call, zone, work, orderFor } = await world(store, stub);
    try {
      takeOrders(stub);
      const before = await store.revision();
      const made = await control.customHostnames.create(call(), zone, { hostname: "shop.customer.test", ssl: DV });
      for (let turns = 0; turns < 3; turns++) await work(made.id);
      assert.equal(stub.requests.filter(({ path }) => path === "/challenge/1").length, 0, "the authority is not asked to look in vain");
      const shown = (await store.changesSince(before, 100))?.flatMap((set) => set.changes).filter(({ kind }) => kind === "acme_challenge");
      assert.deepEqual(shown, []);
      await control.customHostnames.remove(call(), zone, made.id);
      assert.equal(await orderFor(made.id), undefined);
    } finally {
      await control.certificateOrdering.close();
      await stub.stop();
    }
  },
);

storeTest(
  "ARI advice moves a renewal into its window, and an authority that does not answer changes nothing (RFC 9773)",
  async ({ store }) => {
    const stub = await startStubAuthority();
    const { control, clock, call, zone, orderFor } = await world(store, stub);
    try {
      stub.answers.set("POST /order", problem("serverInternal", "not today"));
      const made = await control.customHostnames.create(call(), zone, { hostname: "shop.customer.test", ssl: DV });
      await control.customHostnames.remove(call(), zone, made.id);
      const owner = { owner_kind: "zone", owner_id: zone.id } as const;
      const nowMs = clock.nowMs();
      await store.write(({ db }) =>
        putRenewal(db, {
          ...{ ...owner, zone_id: zone.id, hosts: '["service.test"]', method: "txt", requested: "", authority: "lets_encrypt" },
          ...{ renewal_id: "key.serial", renew_ms: nowMs + 60 * DAY_MS, advice_ms: nowMs, latest_ms: null },
        }),
      );
      const advise = async (): Promise<number> => {
        await control.certificateOrdering.takeAdvice(10, AbortSignal.timeout(120_000));
        clock.advance(DAY_MS);
        return (await renewalOf(store.read, owner))?.renew_ms ?? 0;
      };
      assert.equal(await advise(), nowMs + 60 * DAY_MS);
      const window = { start: new Date(nowMs + 2 * DAY_MS).toISOString(), end: new Date(nowMs + 3 * DAY_MS).toISOString() };
      stub.answers.set("GET /renewal/key.serial", { body: { suggestedWindow: window } });
      const moved = await advise();
      assert.ok(moved >= nowMs + 2 * DAY_MS && moved <= nowMs + 3 * DAY_MS);
      clock.advance(2 * DAY_MS);
      assert.equal(await control.certificateOrdering.renewDue(10), 1);
      assert.equal((await orderFromRow(store.read, owner))?.replaces, "key.serial");
      assert.equal(await orderFor(made.id), undefined);
    } finally {
      await control.certificateOrdering.close();
      await stub.stop();
    }
  },
);
