import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLocalCa, createRoot, type LocalCa } from "#acme/local-ca.ts";
import { type Actor, systemActor } from "#control/call.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { openStore } from "#store/database/open.ts";
import { eventually } from "../support/eventually.ts";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { fc } from "../support/property.ts";
import { startTwoAccounts, type TwoAccounts, type ZoneState } from "../support/two-account-planes.ts";
import { EDGE_ADDRESS, OF_A, OF_B, OUTSIDE } from "../support/two-planes.ts";

// For any data of account A, and any writes of account B: everything visible of A stays unchanged. Control, nameserver
// and edge are real, changes are sent as deltas, and an external nameserver serves external names.

const WORLD = ["p.test", "c.test", "w.test"];
const A_ZONES = ["a.test", "v.internal"];
/** Names that B may want: A's names, names above and below, A's targets, the installation's own. */
const WANTED = [
  ...["a.test", "www.a.test", "sub.a.test", "x.sub.a.test", "v.internal", "www.v.internal", "deep.v.internal"],
  ...["test", "internal", "p.test", "app.p.test", "c.test", "www.c.test", "w.test", "x.w.test", "dcv.a.test", "ai.a.test"],
  ...["b.test", "mail.p.test", "selvedge.internal", "ns1.selvedge.internal", "b2.test"],
];
const HOSTS = ["a.test", "www.a.test", "flat.a.test", "ai.a.test", "x.a.test", "www.v.internal", "www.c.test", "x.w.test", "y.x.w.test"];
const QUESTIONS = [...HOSTS.slice(0, 6), "mail.a.test", "sub.a.test", "x.sub.a.test", "under.a.test", "app.under.a.test", "v.internal"];
const TYPES = ["A", "NS", "SOA", "MX", "DS", "CNAME", "TXT"];

const plain = { noNullPrototype: true };
const label = fc.constantFrom("@", "www", "x", "sub", "mail", "app", "ns1", "*", "_svc-custom-hostname.www", "origin", "y.x");
/** A's targets; targets in B's proved zone are B's to change. */
const TARGETS = ["www.a.test", "app.p.test", "customers.a.test", "www.v.internal", "x.w.test"];

const recordsOf = (address: string, ...own: readonly string[]) => {
  const content = fc.constantFrom(...TARGETS, ...own);
  return fc.oneof(
    fc.record({ type: fc.constant("A"), name: label, content: fc.constant(address), proxied: fc.boolean() }, plain),
    fc.record({ type: fc.constant("CNAME"), name: label, content, proxied: fc.boolean() }, plain),
    fc.record({ type: fc.constant("NS"), name: label, content: fc.constantFrom("ns.p.test", "ns1.selvedge.internal") }, plain),
    fc.record({ type: fc.constant("MX"), name: label, content: fc.constant("mail.p.test"), priority: fc.constant(10) }, plain),
    fc.record({ type: fc.constant("TXT"), name: label, content: fc.constant('"whatever"') }, plain),
    fc.record({ type: fc.constant("DNAME"), name: label, content }, plain),
    fc.record({ type: fc.constant("CAA"), name: label, data: fc.constant({ flags: 0, tag: "issue", value: ";" }) }, plain),
  );
};

/** Kinds that many of the writes are of come often. */
const KINDS = [
  ...["record", "record", "record", "record", "hostname", "hostname", "uploaded", "edit", "fallback", "dnssec", "hold", "gateway"],
  ...["custom_certificate", "route", "pause", "secondary", "delete_zone", "settings"],
] as const;

const writesOf = (record: ReturnType<typeof recordsOf>) =>
  fc.record(
    {
      kind: fc.constantFrom(...KINDS),
      /** Index of one of the existing zones. */
      zone: fc.nat(30),
      name: fc.constantFrom(...WANTED, ...HOSTS),
      record,
      wildcard: fc.boolean(),
    },
    plain,
  );
const writesOfA = writesOf(recordsOf(OF_A));
const writesOfB = writesOf(recordsOf(OF_B, "s.b.test", "origin.b.test"));
type Write = typeof writesOfA extends fc.Arbitrary<infer T> ? T : never;

const claimArbitrary = fc.record({ name: fc.constantFrom(...WANTED), isActive: fc.boolean() }, plain);

/** B gets no further than this by itself: to wait, or to be active without a proof where nobody else's zone is above or at the name. */
const stateOf = (name: string, isActive: boolean): ZoneState => {
  const isOthers = A_ZONES.some((zone) => name === zone || name.endsWith(`.${zone}`));
  return { status: isActive && !isOthers ? "active" : "pending", proof: "none" };
};

/** Refusals of control are expected; any other error is a failure. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PlatformError) return undefined;
    throw error;
  }
}

const ACTOR: Actor = systemActor("two-accounts");

async function write(world: TwoAccounts, account: string, zone: PlannedZoneRef, ca: LocalCa, given: Write): Promise<void> {
  const { control, call } = world;
  const { name, record, wildcard } = given;
  const scope = { level: "zone", account_id: account, zone_id: zone.id, plan: "free", actor: ACTOR } as const;
  const routes = [{ action: "route", expression: "true", action_parameters: { origin: { host: name } } }];
  const uploaded = async () => {
    const { chain, privateKey } = await ca.issue([name, `*.${name}`]);
    return { certificate: chain, private_key: privateKey };
  };
  const kinds: Readonly<Record<Write["kind"], () => Promise<unknown>>> = {
    record: () => control.dnsRecords.create(call(), zone, record as never),
    hostname: () => control.customHostnames.create(call(), zone, { hostname: name, ssl: { method: "txt", type: "dv", wildcard } }),
    uploaded: async () => {
      const { certificate, private_key } = await uploaded();
      return control.customHostnames.create(call(), zone, {
        hostname: name,
        ssl: { custom_certificate: certificate, custom_key: private_key },
      });
    },
    edit: async () => {
      const { items } = await control.customHostnames.list(zone, {}, { page: 1, per_page: 50 });
      for (const { id } of items) await control.customHostnames.edit(call(), zone, id, { ssl: { method: "http", type: "dv" } });
    },
    fallback: () => control.fallbackOrigins.put(call(), zone, { origin: `origin.${zone.name}` }),
    dnssec: () => control.dnssec.edit(call(), zone, { status: "active" }),
    hold: () => control.zoneHolds.create(call(), zone.id, true),
    gateway: () => control.gatewayDomains.create(call(), account, "gw", { domain: name, zone_id: zone.id }),
    custom_certificate: async () => control.customCertificates.create(call(), zone, await uploaded()),
    route: () => control.rulesets.putEntryPoint(call(), scope, "http_request_origin", { rules: routes } as never),
    pause: () => control.zones.edit(call(), zone.id, { paused: wildcard }),
    secondary: () => control.zones.create(call(), { name, type: "secondary", account: { id: account } }),
    delete_zone: async () => (zone.name === "b.test" ? undefined : control.zones.delete(call(), zone.id)),
    settings: () => control.zoneSettings.edit(call(), zone.id, [{ id: "ssl", value: "flexible", pointer: "" }]),
  };
  await attempt(kinds[given.kind]);
}

/** A's data in each run, before its random writes. */
async function settle(world: TwoAccounts, proof: ZoneProof): Promise<readonly PlannedZoneRef[]> {
  const { control, call, a } = world;
  const state: ZoneState = { status: "active", proof };
  const site = await world.zone(a, "a.test", { status: "active", proof: "delegation" });
  const inner = await world.zone(a, "v.internal", state);
  const records: readonly (readonly [PlannedZoneRef, object])[] = [
    [site, { type: "CNAME", name: "www", content: "app.p.test", proxied: true }],
    [site, { type: "CNAME", name: "@", content: "app.p.test" }],
    [site, { type: "CNAME", name: "flat", content: "app.p.test", settings: { flatten_cname: true } }],
    [site, { type: "MX", name: "mail", content: "mail.p.test", priority: 10 }],
    [site, { type: "NS", name: "sub", content: "ns.elsewhere.example" }],
    [site, { type: "DNAME", name: "under", content: "p.test" }],
    [site, { type: "A", name: "origin", content: OF_A, proxied: true }],
    [inner, { type: "A", name: "www", content: OF_A, proxied: true }],
  ];
  for (const [zone, record] of records) await control.dnsRecords.create(call(), zone, record as never);
  await control.fallbackOrigins.put(call(), site, { origin: "origin.a.test" });
  await control.gateways.create(call(), a, { id: "gw", ...PLAIN_GATEWAY });
  await control.gatewayDomains.create(call(), a, "gw", { domain: "ai.a.test", zone_id: site.id });
  for (const [hostname, wildcard] of [
    ["www.c.test", false],
    ["w.test", true],
  ] as const) {
    const made = await control.customHostnames.create(call(), site, { hostname, ssl: { method: "txt", type: "dv", wildcard } });
    // On a busy machine a look takes longer than the answer waits.
    await eventually(async () => {
      await control.hostnameChecks.check(call(), made.id);
      return (await control.customHostnames.get(site, made.id)).status === "active";
    });
  }
  return [site, inner];
}

/** All that can be seen of A: by who asks, who visits and who lists. */
async function seen({ planes, control, a }: TwoAccounts, zones: readonly PlannedZoneRef[]): Promise<object> {
  const all = { page: 1, per_page: 1_000 } as const;
  const shown: Record<string, unknown> = {};
  for (const name of QUESTIONS)
    for (const type of TYPES) shown[`${name} ${type}`] = (await planes.ask(name, type, true)).filter((line) => !/ SOA /.test(line));
  planes.edge.requests.length = 0;
  for (const host of HOSTS) {
    shown[`GET ${host}`] = await planes.get(host);
    shown[`TLS ${host}`] = await planes.certificateFor(host);
  }
  shown["rows"] = planes.edge.requests.map(({ host, zone_id, status }) => [host, zone_id, status]);
  for (const zone of zones) {
    shown[`records of ${zone.name}`] = (await control.dnsRecords.list(zone, {}, all)).items;
    shown[`zone ${zone.name}`] = await attempt(() => control.zones.get(zone.id));
    const hostnames = (await control.customHostnames.list(zone, {}, { page: 1, per_page: 50 })).items;
    shown[`hostnames of ${zone.name}`] = hostnames.map(({ hostname, status, ssl }) => [
      hostname,
      status,
      ssl?.status,
      ssl?.["hosts" as never],
    ]);
  }
  shown["domains"] = (await control.gatewayDomains.list(a, "gw", {}, { page: 1, per_page: 50 })).items;
  return shown;
}

async function clear(world: TwoAccounts): Promise<void> {
  const { control, call, store } = world;
  for (const { id } of await store.read.selectFrom("zones").select("id").execute()) await control.zones.delete(call(), id);
  for (const account of [world.a, world.b])
    for (const { hostname } of (await attempt(() => control.gatewayDomains.list(account, "gw", {}, { page: 1, per_page: 50 })))?.items ??
      [])
      await control.gatewayDomains.delete(call(), account, "gw", hostname);
  await attempt(() => control.gateways.delete(call(), world.a, "gw"));
  await world.sync();
}

const directory = mkdtempSync(join(tmpdir(), "selvedge-two-accounts-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const RUNS = 12;

test("after random writes of A, random writes of B change no answer, page, certificate, row or list of A", async () => {
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  const world = await startTwoAccounts(store, WORLD);
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  world.elsewhere("app.p.test", "A", OUTSIDE);
  world.elsewhere("mail.p.test", "A", OUTSIDE);
  world.elsewhere("www.c.test", "CNAME", "customers.a.test.");
  world.elsewhere("w.test", "A", EDGE_ADDRESS);
  const { control, call, clock } = world;
  await control.gateways.create(call(), world.b, { id: "gw", ...PLAIN_GATEWAY });
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<ZoneProof>("delegation", "operator", "none"),
        fc.array(writesOfA, { maxLength: 6 }),
        fc.array(claimArbitrary, { minLength: 1, maxLength: 5 }),
        fc.array(writesOfB, { minLength: 5, maxLength: 25 }),
        async (proof, ofA, claims, ofB) => {
          const zones = await settle(world, proof);
          for (const one of ofA)
            if (!["delete_zone", "secondary", "hold"].includes(one.kind))
              await write(world, world.a, zones[one.zone % zones.length]!, ca, one);
          await world.sync();
          const before = await seen(world, zones);

          const theirs = [await world.zone(world.b, "b.test")];
          for (const { name, isActive } of claims) {
            const made = await attempt(() => world.zone(world.b, name, stateOf(name, isActive)));
            if (made) theirs.push(made);
          }
          for (const one of ofB) {
            const zone = theirs[one.zone % theirs.length]!;
            await write(world, world.b, zone, ca, one);
            // The API loads a zone before it writes to it: nothing is written to one that is gone.
            if (one.kind === "delete_zone" && zone.name !== "b.test") theirs.splice(theirs.indexOf(zone), 1);
          }
          for (const { id, name } of await store.read
            .selectFrom("zones")
            .select(["id", "name"])
            .where("account_id", "=", world.b)
            .where("name", "!=", "b.test")
            .execute())
            await world.setState(id, stateOf(name, theirs.length % 2 === 0));
          clock.advance(3_600_000);
          await control.hostnameChecks.checkDue(call(), 200);
          await world.sync();
          assert.deepEqual(await seen(world, zones), before);
          await clear(world);
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    );
  } finally {
    await world.close();
    await store.close();
  }
});
