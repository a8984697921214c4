import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type FixedClock, fixedClock, systemClock } from "#kernel/clock.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import type { Control } from "#control/control.ts";
import { type CertificateOrderRow, orderFromRow, renewalOf } from "#store/certificates/certificate-orders.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { freePort } from "../bench/program.ts";
import { controlOver } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { startPebble } from "../support/pebble.ts";
import { toolOrSkip } from "../support/tools.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const skip = ["pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Authority {
  readonly directoryUrl: string;
  readonly roots: string;
}

async function start(t: TestContext, authority: Authority, zones: readonly IssuerName[]) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-orders-"));
  // Pebble dates its certificates by the system's clock.
  const clock = fixedClock(systemClock.nowMs());
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock });
  const errors: unknown[] = [];
  const { directoryUrl, roots } = authority;
  const acme = { directories: { lets_encrypt: directoryUrl, google: directoryUrl }, bindings: {}, email: "", roots };
  const open = () =>
    controlOver(store, { clock, ordering: { zones, hostnames: zones, acme }, onOrderError: (error) => void errors.push(error) });
  const fixture = await open();
  const opened = [fixture];
  t.after(async () => {
    for (const { control } of opened) await control.certificateOrdering.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
    assert.deepEqual(errors, []);
  });
  const reopen = async () => {
    const next = await open();
    opened.push(next);
    await next.control.certificateOrdering.orders.resume();
    return next.control;
  };
  const { control, account_id, call } = fixture;
  const addZone = async (name: string) => {
    const { id } = await control.zones.create(call(), { name, account: { id: account_id } });
    return { id, name, account_id, plan: "enterprise" };
  };
  return { clock, store, control, call, addZone, reopen };
}

const order = (store: Store, zoneId: string) => orderFromRow(store.read, { owner_kind: "zone", owner_id: zoneId });
const issuers = async (store: Store, zoneId: string): Promise<string[]> =>
  (await certificatesOfZone(store.read, zoneId)).map(({ issuer }) => issuer);

/** Lets whatever is due go as far as it goes, and waits for its end. */
async function work(store: Store, { certificateOrdering: { orders } }: Control, zoneId: string): Promise<void> {
  await orders.turn();
  await eventually(async () => ((await order(store, zoneId))?.lease_ms ?? 0) === 0);
}

/** As many times as it takes on a busy machine, on which an authority may not answer in time; the clock goes on to when the order is due. */
async function workUntil(
  { clock, store }: { readonly clock: FixedClock; readonly store: Store },
  control: Control,
  zoneId: string,
  holds: (row: CertificateOrderRow | undefined) => boolean,
): Promise<void> {
  for (let turns = 0; turns < 40; turns++) {
    const row = await order(store, zoneId);
    if (holds(row)) return;
    clock.advance(Math.max((row?.due_ms ?? 0) - clock.nowMs(), 0));
    await work(store, control, zoneId);
  }
  assert.fail(`the order came no further than ${JSON.stringify(await order(store, zoneId))}`);
}

const isOver = (row: CertificateOrderRow | undefined): boolean => row === undefined;
const isPlaced = (row: CertificateOrderRow | undefined): boolean => typeof row?.placed === "string" && row.lease_ms === 0;

test("SPEC 9: an order goes to the preferred authority, and to another one only if CAA forbids the preferred one", { skip }, async (t) => {
  const pebble = await startPebble({ alwaysValid: true });
  t.after(() => pebble.stop());
  const { clock, store, control, call, addZone } = await start(t, pebble, ["google", "lets_encrypt"]);
  const caa = (value: string) => ({ type: "CAA", name: "@", ttl: 300, data: { flags: 0, tag: "issue", value } });
  const free = await addZone("free.example");
  const bound = await addZone("bound.example");
  await control.dnsRecords.create(call(), bound, caa("letsencrypt.org"));
  const closed = await addZone("closed.example");
  const { id: record } = await control.dnsRecords.create(call(), closed, caa("ca.example"));
  for (const { id } of [free, bound]) await workUntil({ clock, store }, control, id, isOver);
  await workUntil({ clock, store }, control, closed.id, (row) => row?.status === "pending_issuance" && row.lease_ms === 0);
  assert.deepEqual(await issuers(store, free.id), ["google"]);
  assert.deepEqual(await issuers(store, bound.id), ["lets_encrypt"]);
  assert.deepEqual(await issuers(store, closed.id), ["local"], "what was there goes on serving");
  const refused = await order(store, closed.id);
  assert.equal(refused?.status, "pending_issuance");
  assert.match(refused?.error ?? "", /^caa_error: CAA records of closed\.example do not let google issue for closed\.example/);
  assert.ok((refused?.due_ms ?? 0) > clock.nowMs(), "it is tried again later");

  await control.dnsRecords.delete(call(), closed, record);
  await workUntil({ clock, store }, control, closed.id, isOver);
  assert.deepEqual(await issuers(store, closed.id), ["google"]);
});

test("an order survives a crash between any two of its steps, and the next process finishes it", { skip }, async (t) => {
  const pebble = await startPebble({ alwaysValid: true });
  t.after(() => pebble.stop());
  const { clock, store, control, addZone, reopen } = await start(t, pebble, ["lets_encrypt"]);
  const zone = await addZone("resumed.example");
  await workUntil({ clock, store }, control, zone.id, isPlaced);
  const placed = await order(store, zone.id);
  assert.ok(placed?.placed, "the authority has it");
  const shown = (await rebuildSnapshot(store)).ops.filter(({ kind, id }) => kind === "record" && id.startsWith("acme-"));
  assert.equal(shown.length, 2, "a plane that starts now shows the proofs of both names");

  // The node with the lease is gone, and has not released it.
  await store.write(({ db }) =>
    db
      .updateTable("certificate_orders")
      .set({ lease_ms: clock.nowMs() + HOUR_MS })
      .execute(),
  );
  clock.advance(2_000);
  await control.certificateOrdering.orders.turn();
  assert.deepEqual(await issuers(store, zone.id), ["local"], "nobody else takes it");
  const next = await reopen();
  await workUntil({ clock, store }, next, zone.id, isOver);
  assert.deepEqual(await issuers(store, zone.id), ["lets_encrypt"]);
  assert.deepEqual(
    (await rebuildSnapshot(store)).ops.filter(({ id }) => id.startsWith("acme-")),
    [],
    "the proofs are gone",
  );
});

test(
  "control retries an unreachable authority with growing delays, and opens a new account and order at one that lost its data",
  { skip },
  async (t) => {
    const port = await freePort();
    const first = await startPebble({ alwaysValid: true, port });
    t.after(() => first.stop());
    const { clock, store, control, addZone } = await start(t, first, ["lets_encrypt"]);
    const zone = await addZone("patient.example");
    await workUntil({ clock, store }, control, zone.id, isPlaced);
    await first.stop();
    const dueIn = async (): Promise<number> => ((await order(store, zone.id))?.due_ms ?? 0) - clock.nowMs();
    for (let turns = 0; turns < 3; turns++) {
      clock.advance(Math.max(await dueIn(), 0));
      await work(store, control, zone.id);
    }
    const down = await order(store, zone.id);
    assert.match(down?.error ?? "", /^unavailable: 127\.0\.0\.1/);
    assert.ok(down?.placed, "the order may stand");

    const second = await startPebble({ alwaysValid: true, port, certificateOf: first });
    t.after(() => second.stop());
    await workUntil({ clock, store }, control, zone.id, isOver);
    assert.deepEqual(await issuers(store, zone.id), ["lets_encrypt"]);
  },
);

test("control renews certificates before they expire, and deletes the orders and proofs of a deleted zone", { skip }, async (t) => {
  const pebble = await startPebble({ alwaysValid: true });
  t.after(() => pebble.stop());
  const { clock, store, control, call, addZone } = await start(t, pebble, ["lets_encrypt"]);
  const zone = await addZone("renewed.example");
  await workUntil({ clock, store }, control, zone.id, isOver);
  const [before] = await certificatesOfZone(store.read, zone.id);
  const renewal = await renewalOf(store.read, { owner_kind: "zone", owner_id: zone.id });
  assert.equal(Math.round((Date.parse(before?.not_after ?? "") - (renewal?.renew_ms ?? 0)) / DAY_MS), 30);
  assert.equal(await control.certificateOrdering.renewDue(10), 0);
  clock.advance((renewal?.renew_ms ?? 0) - clock.nowMs());
  assert.equal(await control.certificateOrdering.renewDue(10), 1);
  assert.equal(await control.certificateOrdering.renewDue(10), 0, "once is enough");
  await workUntil({ clock, store }, control, zone.id, isPlaced);

  const rev = await store.revision();
  await control.zones.delete(call(), zone.id);
  const changes = (await store.changesSince(rev, 10))?.flatMap((set) => set.changes) ?? [];
  assert.equal(changes.filter(({ id, value }) => id.startsWith("acme-") && value === null).length, 2);
  assert.equal(await order(store, zone.id), undefined);
  assert.equal(await renewalOf(store.read, { owner_kind: "zone", owner_id: zone.id }), undefined);
});
