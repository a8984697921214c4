import assert from "node:assert/strict";
import { createLocalCa, createRoot, type RootPair } from "#acme/local-ca.ts";
import { fixedClock } from "#kernel/clock.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { orderFromRow, putRenewal, renewalOf } from "#store/certificates/certificate-orders.ts";
import type { Store } from "#store/database/store.ts";
import { loadX509 } from "#wire/x509/library.ts";
import { openIssuer, serverCertificate } from "#wire/x509/server-certificate.ts";
import { controlOver } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { storeTest } from "../support/store.ts";
import { type StubAnswer, startStubAuthority, type StubAuthority } from "../support/stub-authority.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NAME = "service.test";

async function world(store: Store, t: { readonly stubs: readonly StubAuthority[]; readonly attemptMsMax?: number }) {
  const clock = fixedClock("2026-11-22T12:00:00Z");
  const [first, second = first] = t.stubs as [StubAuthority, StubAuthority?];
  const acme = { directories: { lets_encrypt: first.directoryUrl, google: second.directoryUrl }, bindings: {}, email: "", roots: "" };
  const { attemptMsMax = 180_000 } = t;
  const ordering = { zones: ["lets_encrypt", "google"], hostnames: ["local"], acme, attemptMsMax } as const;
  const { control, account_id, call } = await controlOver(store, { clock, ordering });
  const { id } = await control.zones.create(call(), { name: NAME, account: { id: account_id } });
  const order = () => orderFromRow(store.read, { owner_kind: "zone", owner_id: id });
  const work = async (): Promise<void> => {
    clock.advance(Math.max(((await order())?.due_ms ?? 0) - clock.nowMs(), 0));
    await control.certificateOrdering.orders.turn();
    await eventually(async () => ((await order())?.lease_ms ?? 0) === 0);
  };
  return { control, clock, zoneId: id, order, work };
}

/** Takes orders for the zone, whose names are proved already; `certificate` is the answer at the end. */
function takeOrders(stub: StubAuthority, certificate: (csr: string) => Promise<StubAnswer>): void {
  const [order, at] = [
    { authorizations: [`${stub.url}/authz/1`, `${stub.url}/authz/2`], finalize: `${stub.url}/finalize` },
    `${stub.url}/order/1`,
  ];
  let answer: StubAnswer | null = null;
  stub.answers.set("POST /order", () => ((answer = null), { status: 201, headers: { location: at }, body: { status: "ready", ...order } }));
  for (const [n, wildcard] of [false, true].entries())
    stub.answers.set(`POST /authz/${n + 1}`, {
      body: { status: "valid", identifier: { type: "dns", value: NAME }, wildcard, challenges: [] },
    });
  stub.answers.set("POST /finalize", ({ payload }) => {
    void certificate(String(payload["csr"])).then((made) => (answer = made));
    return { body: { status: "processing", ...order } };
  });
  stub.answers.set("POST /order/1", () => ({
    body: answer === null ? { status: "ready", ...order } : { status: "valid", certificate: `${stub.url}/certificate`, ...order },
  }));
  stub.answers.set("POST /certificate", () => answer);
}

/** Issues for the key of a request what the test says. */
async function issue(root: RootPair, csr: string, hosts: readonly string[], startMs: number, endMs: number): Promise<string> {
  const x509 = await loadX509();
  const request = new x509.Pkcs10CertificateRequest(Buffer.from(csr, "base64url"));
  const publicKey = await request.publicKey.export();
  const issuer = openIssuer(root.certificate, root.privateKey);
  const valid = { notBefore: new Date(startMs), notAfter: new Date(endMs) };
  return serverCertificate({ hosts, commonName: null, serialNumber: Buffer.of(1, 2, 3), ...valid, publicKey }, issuer);
}

storeTest("a certificate of a hostile authority that is wrong in any way does not replace the one that visitors get", async ({ store }) => {
  const stub = await startStubAuthority();
  const { control, clock, zoneId, order, work } = await world(store, { stubs: [stub] });
  try {
    const [root, other] = [await createRoot(clock), await createRoot(clock)];
    const now = clock.nowMs();
    const names = [NAME, `*.${NAME}`];
    const good = (csr: string): Promise<string> => issue(root, csr, names, now - HOUR_MS, clock.nowMs() + 90 * DAY_MS);
    const wrong: readonly [string, (csr: string) => Promise<string>][] = [
      ["another key", async () => (await createLocalCa({ root, clock }).issue(names)).chain],
      ["one name of two", (csr) => issue(root, csr, [NAME], now - HOUR_MS, now + 90 * DAY_MS)],
      ["another's name", (csr) => issue(root, csr, ["victim.test", "*.victim.test"], now - HOUR_MS, now + 90 * DAY_MS)],
      ["expired", (csr) => issue(root, csr, names, now - 9 * DAY_MS, now - DAY_MS)],
      ["not valid yet", (csr) => issue(root, csr, names, clock.nowMs() + 2 * DAY_MS, clock.nowMs() + 90 * DAY_MS)],
      ["behind another certificate", async (csr) => other.certificate + (await good(csr))],
      ["a long chain", async (csr) => (await good(csr)) + root.certificate.repeat(11)],
      ["a large chain", async (csr) => (await good(csr)) + root.certificate.repeat(200)],
      ["ten megabytes", async (csr) => (await good(csr)) + "x".repeat(10_000_000)],
      ["a megabyte of text", async (csr) => (await good(csr)) + "x".repeat(900_000)],
      ["no certificate", async () => "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
      ["nothing", async () => ""],
    ];
    const serving = async (): Promise<string> => (await certificatesOfZone(store.read, zoneId)).map(({ chain }) => chain).join();
    const before = await serving();
    for (const [what, chain] of wrong) {
      takeOrders(stub, async (csr) => ({ body: await chain(csr) }));
      await work();
      await work();
      assert.ok((await serving()) === before, what);
      assert.ok(((await order())?.due_ms ?? 0) > clock.nowMs(), `${what}: tried again later`);
    }
    const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    takeOrders(stub, async (csr) => ({ body: `junk ${key}${await good(csr)}junk\u0000${key}${root.certificate}${other.certificate}` }));
    for (let turns = 0; turns < 6 && (await order()) !== undefined; turns++) await work();
    assert.equal(await order(), undefined);
    const chain = await serving();
    assert.equal(chain.match(/BEGIN CERTIFICATE/g)?.length, 2, "the leaf and its issuer, and not what follows");
    assert.doesNotMatch(chain, /junk|PRIVATE/);
  } finally {
    await control.certificateOrdering.close();
    await stub.stop();
  }
});

storeTest("an order that an authority processes for ever is looked at ever more rarely, and has an end", async ({ store }) => {
  const stub = await startStubAuthority();
  const { control, clock, order, work } = await world(store, { stubs: [stub] });
  try {
    takeOrders(stub, async () => null as never);
    stub.answers.set("POST /order/1", () => {
      clock.advance(61_000);
      const rest = { authorizations: [`${stub.url}/authz/1`], finalize: `${stub.url}/finalize` };
      return { headers: { "retry-after": "999999999" }, body: { status: "processing", ...rest } };
    });
    for (let turns = 0; turns < 5; turns++) await work();
    const row = await order();
    assert.ok((row?.tries ?? 0) >= 3, "each attempt counts");
    assert.ok((row?.due_ms ?? 0) - clock.nowMs() >= 60_000);
  } finally {
    await control.certificateOrdering.close();
    await stub.stop();
  }
});

storeTest("an attempt at an authority that answers too slowly ends, and counts as one", async ({ store }) => {
  const stub = await startStubAuthority();
  const { control, clock, order, work } = await world(store, { stubs: [stub], attemptMsMax: 500 });
  try {
    stub.answers.set("POST /order", null);
    await work();
    const row = await order();
    assert.match(row?.error ?? "", /answered too slowly/);
    assert.equal(row?.tries, 1);
    assert.ok((row?.due_ms ?? 0) > clock.nowMs());
  } finally {
    await control.certificateOrdering.close();
    await stub.stop();
  }
});

storeTest("advice of a hostile authority delays neither the work of others nor a renewal beyond its certificate", async ({ store }) => {
  const stubs = [await startStubAuthority(), await startStubAuthority()] as const;
  const { control, clock, zoneId } = await world(store, { stubs });
  try {
    const nowMs = clock.nowMs();
    const renewal = (owner_kind: "zone" | "custom_hostname", authority: string, renewal_id: string) => ({
      ...{ owner_kind, owner_id: renewal_id, zone_id: zoneId, hosts: `["${NAME}"]`, method: "txt" as const, requested: "", authority },
      ...{ renewal_id, renew_ms: nowMs + 60 * DAY_MS, advice_ms: nowMs, latest_ms: nowMs + 80 * DAY_MS },
    });
    await store.write(async ({ db }) => {
      for (let n = 0; n < 5; n++) await putRenewal(db, { ...renewal("zone", "lets_encrypt", `slow${n}.a`), advice_ms: nowMs - 1 });
      await putRenewal(db, renewal("custom_hostname", "google", "far.a"));
      await putRenewal(db, { ...renewal("custom_hostname", "google", "old.a"), latest_ms: null });
    });
    stubs[0].answers.set("GET /renewal/slow0.a", null);
    const window = { start: "9998-01-01T00:00:00Z", end: "9999-01-01T00:00:00Z" };
    for (const id of ["far.a", "old.a"]) stubs[1].answers.set(`GET /renewal/${id}`, { body: { suggestedWindow: window } });
    for (let turns = 0; turns < 2; turns++) {
      await control.certificateOrdering.takeAdvice(10, AbortSignal.timeout(1_000));
      clock.advance(7 * HOUR_MS);
    }
    // The slow one is asked again before the others' turn in a run; each run has its time, and the next one its own.
    stubs[0].answers.set("GET /renewal/slow0.a", { status: 500, body: "" });
    await control.certificateOrdering.takeAdvice(10, AbortSignal.timeout(60_000));
    const renewMs = async (id: string) => (await renewalOf(store.read, { owner_kind: "custom_hostname", owner_id: id }))?.renew_ms;
    assert.equal(await renewMs("far.a"), nowMs + 80 * DAY_MS);
    assert.equal(await renewMs("old.a"), nowMs + 60 * DAY_MS);
    assert.equal(stubs[0].requests.filter(({ path }) => path.startsWith("/renewal/slow")).length, 3, "one for each run");
  } finally {
    await control.certificateOrdering.close();
    for (const stub of stubs) await stub.stop();
  }
});
