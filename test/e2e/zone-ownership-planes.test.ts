import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, beforeEach, describe, test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { createGatewayRoute } from "#edge/origin/gateway-route.ts";
import { createZones } from "#edge/zones/zones.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { CertificateEntry, CustomHostnameEntry, Op, ZoneEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { FLAG, OPCODE, TYPE } from "#wire/dns/codes.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { askUdp, queryFor } from "../support/dns-client.ts";
import { EDGE_ADDRESS, OF_A, OF_B, OUTSIDE, startTwoPlanes, type TwoPlanes } from "../support/two-planes.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../support/zone-keys.ts";

// Effects of account B's entries on account A's sites in nameserver and edge: the numbered scenarios of zone ownership.

const A = "a".repeat(32);
const B = "b".repeat(32);
const NAME_SERVERS = ["ns1.provider.example", "ns2.provider.example"];

const ofA = (id: string, name: string, change: Partial<ZoneEntry> = {}): readonly Op[] => [
  zoneOp(id, name, { account_id: A, proof: "delegation", name_servers: NAME_SERVERS, ...change }),
  serialOp(id, 1),
];
const ofB = (id: string, name: string, change: Partial<ZoneEntry> = {}): readonly Op[] => [
  zoneOp(id, name, { account_id: B, proof: "none", status: "pending", name_servers: ["ns3.provider.example"], ...change }),
  serialOp(id, 1),
];
/** State of B's zone without a proof: it waits, or, if zones are active at once, it is active for outside queries. */
const CLAIMS = [
  ["pending", { status: "pending" }],
  ["active and not proved", { status: "active" }],
] as const satisfies readonly (readonly [string, Partial<ZoneEntry>])[];
const proxied = { proxied: true } as const;
const hostnameOp = (id: string, zone_id: string, hostname: string, change: Partial<CustomHostnameEntry> = {}): Op => ({
  kind: "custom_hostname",
  id,
  value: { zone_id, hostname, wildcard: false, active: true, token: `token of ${zone_id}`, origin: `origin.${zone_id}.test`, ...change },
});
const removed = (op: Op): Op => ({ ...op, value: null }) as Op;

let planes: TwoPlanes;
let issue: (zoneId: string, ...hosts: readonly string[]) => Promise<Op>;

before(async () => {
  planes = await startTwoPlanes(
    [],
    [
      zoneOp("world", "p.test"),
      serialOp("world", 1),
      recordOp("world", "app.p.test", "A", OUTSIDE),
      recordOp("world", "mail.p.test", "A", OUTSIDE),
      zoneOp("world-2", "v.internal"),
      recordOp("world-2", "www.v.internal", "A", OUTSIDE),
    ],
  );
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  let made = 0;
  issue = async (zone_id, ...hosts) => {
    const issued = await ca.issue(hosts);
    const id = `certificate-${++made}`;
    const private_key = planes.edge.sealer.seal(issued.privateKey, `certificate:${id}`);
    const value: CertificateEntry = { zone_id, hosts, chain: issued.chain, private_key, not_after: issued.notAfter };
    return { kind: "certificate", id, value };
  };
});
after(() => planes.close());
beforeEach(() => planes.replace([]));

/** Everything of A's that somebody can see, and whether B's ops change anything of it. */
async function unchanged(look: () => Promise<unknown>, ...ops: readonly Op[]): Promise<void> {
  const before = await look();
  planes.apply(...ops);
  assert.deepEqual(await look(), before);
}

for (const [state, claim] of CLAIMS)
  describe(`B's zone is ${state}`, () => {
    test("1: a zone at the target of A's alias changes neither A's site nor its DNS answers", async () => {
      planes.replace([
        ...ofA("a", "a.test"),
        recordOp("a", "www.a.test", "CNAME", "app.p.test", proxied),
        recordOp("a", "flat.a.test", "CNAME", "app.p.test", { settings: { flatten_cname: true } }),
        recordOp("a", "plain.a.test", "CNAME", "app.p.test"),
        recordOp("a", "under.a.test", "DNAME", "p.test"),
      ]);
      const look = async () => [
        await planes.get("www.a.test"),
        await planes.ask("flat.a.test", "A"),
        await planes.ask("plain.a.test", "A"),
        await planes.ask("app.under.a.test", "A"),
      ];
      await unchanged(look, ...ofB("b", "p.test", claim), recordOp("b", "app.p.test", "A", OF_B));
      assert.deepEqual(await planes.get("www.a.test"), `200 ${OUTSIDE} for www.a.test`);
      assert.deepEqual(await planes.ask("flat.a.test", "A"), ["NOERROR", `an flat.a.test A ${OUTSIDE}`]);
      assert.deepEqual(await planes.ask("plain.a.test", "A"), ["NOERROR", "an plain.a.test CNAME app.p.test."]);
    });

    test("2: a signed apex never answers with B's address under A's signature", async () => {
      planes.replace([...ofA("a", "a.test"), dnssecOp("a", [zoneKey("key-a")]), recordOp("a", "a.test", "CNAME", "app.p.test")]);
      await unchanged(() => planes.ask("a.test", "A", true), ...ofB("b", "p.test", claim), recordOp("b", "app.p.test", "A", OF_B));
      assert.deepEqual(await planes.ask("a.test", "A", true), ["NOERROR", `an a.test A ${OUTSIDE}`]);
    });

    test("3: B's addresses appear neither beside A's MX nor beside other zones' name servers", async () => {
      planes.replace([
        ...ofA("a", "a.test"),
        recordOp("a", "a.test", "MX", "10 mail.p.test"),
        recordOp("a", "sub.a.test", "NS", "ns.p.test"),
      ]);
      const look = async () => [await planes.ask("a.test", "MX"), await planes.ask("a.test", "NS"), await planes.ask("x.sub.a.test", "A")];
      await unchanged(
        look,
        ...[...ofB("b", "p.test", claim), recordOp("b", "mail.p.test", "A", OF_B), recordOp("b", "ns.p.test", "A", OF_B)],
        ...[...ofB("b2", "provider.example", claim), recordOp("b2", "ns1.provider.example", "A", OF_B)],
      );
    });

    test("20: A's wildcard hostname keeps the names below it", async () => {
      planes.replace([
        ...ofA("a", "a.test"),
        recordOp("a", "origin.a.test", "A", OF_A, proxied),
        hostnameOp("h", "a", "w.test", { wildcard: true }),
        await issue("a", "w.test", "*.w.test"),
      ]);
      const look = async () => [await planes.get("x.w.test"), await planes.certificateFor("x.w.test")];
      const other = await issue("b", "x.w.test", "*.w.test");
      await unchanged(look, ...ofB("b", "w.test", claim), recordOp("b", "x.w.test", "A", OF_B, proxied), other);
      assert.equal(await planes.get("x.w.test"), `200 ${OF_A} for x.w.test`);
    });

    test("30: a zone at or above a gateway's hostname does not take it over", async () => {
      planes.replace([
        ...ofA("a", "v.test"),
        await issue("a", "ai.v.test"),
        { kind: "gateway_domain", id: "ai.v.test", value: { account_id: A, gateway_id: "g", zone_id: "a", min_tls: "1.2" } },
      ]);
      const originOf = () => gatewayAnswer("ai.v.test");
      const before = await originOf();
      assert.match(before, /^200 127\.0\.0\.1 for ai\.v\.test/);
      await unchanged(originOf, ...ofB("b", "test", claim));
      // A visitor of the host itself finds an active zone, which control refuses below another's; the gateway is its account's even then.
      if (claim.status === "pending") return unchanged(originOf, ...ofB("b2", "ai.v.test", claim));
      const replica = createMemoryReplica([
        ...[...ofA("a", "v.test"), ...ofB("b2", "ai.v.test", claim)],
        { kind: "gateway_domain", id: "ai.v.test", value: { account_id: A, gateway_id: "g", zone_id: "a", min_tls: "1.2" } },
      ]);
      const route = createGatewayRoute({ replica, zones: createZones(replica, () => undefined), port: 1 });
      assert.ok(route.originOf({ host: "ai.v.test", tls: { version: "TLSv1.3", cipher: "" } }));
    });
  });

/** Over TLS, since keys travel no other way. */
function gatewayAnswer(host: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port: planes.edge.https, servername: host, headers: { host }, rejectUnauthorized: false, agent: false },
      (res) => {
        let body = "";
        res.setEncoding("utf8").on("data", (text: string) => (body += text));
        res.on("end", () => resolve(`${res.statusCode} ${body}`));
      },
    );
    asked.on("error", (error) => resolve(error.message)).end();
  });
}

test("4: once B has proved the name, A's alias resolves to B's records", async () => {
  planes.replace([...ofA("a", "a.test"), recordOp("a", "www.a.test", "CNAME", "app.p.test", proxied)]);
  planes.apply(...ofB("b", "p.test", { status: "active", proof: "delegation" }), recordOp("b", "app.p.test", "A", OF_B));
  assert.equal(await planes.get("www.a.test"), `200 ${OF_B} for www.a.test`);
});

test("11: a pending zone below A's zone does not change A's name", async () => {
  planes.replace([...ofA("a", "v.internal"), recordOp("a", "www.v.internal", "A", OF_A, proxied), await issue("a", "www.v.internal")]);
  const look = async () => [
    await planes.get("www.v.internal"),
    await planes.certificateFor("www.v.internal"),
    ...(await Promise.all(["A", "NS", "SOA", "TXT", "DS"].map((type) => planes.ask("www.v.internal", type)))),
  ];
  await unchanged(
    look,
    ...ofB("b", "www.v.internal"),
    recordOp("b", "www.v.internal", "A", OF_B, proxied),
    await issue("b", "www.v.internal"),
  );
});

test("13: a moved zone of B's returns A's name, and without another owner its DNS is served and its edge is not", async () => {
  planes.replace([
    ...[...ofA("a", "v.internal"), recordOp("a", "www.v.internal", "A", OF_A, proxied)],
    ...[...ofB("b", "www.v.internal", { status: "active", proof: "consent" }), recordOp("b", "www.v.internal", "A", OF_B, proxied)],
    ...[...ofB("b2", "b.test", { status: "moved", proof: "delegation" }), recordOp("b2", "www.b.test", "A", OF_B, proxied)],
    await issue("b2", "www.b.test"),
  ]);
  assert.equal(await planes.get("www.v.internal"), `200 ${OF_B} for www.v.internal`);
  planes.apply(...ofB("b", "www.v.internal", { status: "moved", proof: "consent" }));
  assert.equal(await planes.get("www.v.internal"), `200 ${OF_A} for www.v.internal`);
  assert.deepEqual(await planes.ask("www.v.internal", "SOA"), [
    "NOERROR",
    "ns v.internal SOA ns1.v.internal. dns.v.internal. 1 10000 2400 604800 1800",
  ]);
  assert.deepEqual(await planes.ask("www.b.test", "A"), ["NOERROR", `an www.b.test A ${EDGE_ADDRESS}`]);
  assert.equal(await planes.get("www.b.test"), "530 Error 1016");
  assert.equal(await planes.certificateFor("www.b.test"), "ERR_SSL_TLSV1_UNRECOGNIZED_NAME");
});

test("14: a zone above A's zone does not affect it, proved or not", async () => {
  planes.replace([...ofA("a", "deep.corp.test"), recordOp("a", "deep.corp.test", "A", OF_A, proxied)]);
  const look = async () => [
    await planes.get("deep.corp.test"),
    ...(await Promise.all(["A", "NS", "SOA", "DS"].map((type) => planes.ask("deep.corp.test", type, true)))),
  ];
  const above = (change: Partial<ZoneEntry>): readonly Op[] => [
    ...ofB("b", "corp.test", { status: "active", ...change }),
    recordOp("b", "deep.corp.test", "A", OF_B, proxied),
    recordOp("b", "*.corp.test", "A", OF_B, proxied),
  ];
  await unchanged(look, ...above({ proof: "operator" }));
  const ds = recordOp("b", "deep.corp.test", "DS", `1 13 2 ${"00".repeat(32)}`);
  await unchanged(look, ...above({ proof: "none" }), recordOp("b", "deep.corp.test", "NS", "ns.b.test"), ds);
  await unchanged(look, dnssecOp("b", [zoneKey("key-of-corp")]));
});

test("15: a zone of B's below a signed zone does not get a DS from A's zone", async () => {
  planes.replace([...ofA("a", "v.test"), dnssecOp("a", [zoneKey("key-v")]), recordOp("a", "www.v.test", "A", OF_A)]);
  const look = () => Promise.all(["x.v.test", "www.v.test"].map((name) => planes.ask(name, "DS", true)));
  for (const [, claim] of CLAIMS) await unchanged(look, ...ofB("b", "x.v.test", claim), ...ofB("b2", "www.v.test", claim));
});

test("16: a name that A has delegated stays a referral", async () => {
  planes.replace([...ofA("a", "v.test"), recordOp("a", "sub.v.test", "NS", "ns.sub.v.test"), recordOp("a", "ns.sub.v.test", "A", OUTSIDE)]);
  const look = () => Promise.all(["sub.v.test", "www.sub.v.test"].map((name) => planes.ask(name, "A")));
  await unchanged(look, ...ofB("b", "sub.v.test"), recordOp("b", "www.sub.v.test", "A", OF_B));
  assert.match((await look())[0]?.join() ?? "", /ns sub\.v\.test NS ns\.sub\.v\.test/);
});

test("21: once B has proved the name of A's wildcard hostname, B owns it, with or without a record", async () => {
  planes.replace([
    ...ofA("a", "a.test"),
    recordOp("a", "origin.a.test", "A", OF_A, proxied),
    hostnameOp("h", "a", "w.test", { wildcard: true }),
    ...ofB("b", "w.test", { status: "active", proof: "delegation" }),
  ]);
  assert.equal(await planes.get("x.w.test"), "530 Error 1016");
});

test("22: a pending hostname shows neither its certificate nor its token under A's name", async () => {
  const id = "0b5a9d9c-3a52-4f0e-9f5d-0f3f5b0c2a10";
  const own = await issue("a", "*.a.test", "a.test");
  planes.replace([...ofA("a", "a.test"), recordOp("a", "www.a.test", "A", OF_A, proxied), own]);
  const paths = ["/", `/.well-known/svc-custom-hostname-challenge/${id}`];
  const look = async () => [
    await planes.certificateFor("www.a.test"),
    await planes.certificateFor("a.test"),
    ...(await Promise.all(paths.map((path) => planes.get("www.a.test", path)))),
  ];
  const zones = [ofB("b", "b.test", { status: "active", proof: "delegation" }), ofB("b", "b.test")];
  for (const zone of zones)
    await unchanged(
      look,
      ...zone,
      hostnameOp(id, "b", "www.a.test", { active: false }),
      await issue("b", "www.a.test", "a.test", "*.a.test"),
    );
  await unchanged(look, hostnameOp(id, "b", "www.a.test", { active: true }));
});

test("27: another account's proxied name cannot be an origin: not by an alias, not through a third name and not by a rule", async () => {
  planes.replace([
    ...[...ofA("a", "a.test"), recordOp("a", "www.a.test", "A", OF_A, proxied), recordOp("a", "open.a.test", "A", OF_A)],
    recordOp("a", "loop.a.test", "CNAME", "www.a.test", proxied),
    ...ofB("b", "b.test", { status: "active", proof: "delegation" }),
    recordOp("b", "alias.b.test", "CNAME", "www.a.test", proxied),
    recordOp("b", "twice.b.test", "CNAME", "alias.b.test", proxied),
    recordOp("b", "open.b.test", "CNAME", "open.a.test", proxied),
    recordOp("b", "ruled.b.test", "A", OF_B, proxied),
    {
      kind: "ruleset",
      id: "route",
      value: {
        ...{ level: "zone", owner_id: "b", kind: "zone", phase: "http_request_origin", name: "", version: "1" },
        rules: [
          {
            ...{ id: "r", ref: "r", version: "1", description: "", enabled: true },
            ...{ action: "route", expression: 'http.host eq "ruled.b.test"', action_parameters: { origin: { host: "www.a.test" } } },
          },
        ],
      },
    },
  ]);
  for (const host of ["alias", "twice", "ruled"]) assert.equal(await planes.get(`${host}.b.test`), "409 Error 1014", host);
  assert.equal(await planes.get("open.b.test"), `200 ${OF_A} for open.b.test`, "what is in the DNS is for everybody");
  assert.equal(await planes.get("loop.a.test"), `200 ${OF_A} for loop.a.test`, "an account's own names are its own");
  planes.apply(...ofA("a", "a.test", { proof: "none" }));
  assert.equal(
    await planes.get("alias.b.test"),
    "530 Error 1016",
    "a zone without proof is not asked, and the world does not know the name",
  );
});

test("31: a NOTIFY reaches only zones whose primary sent it, by key and address", async () => {
  const side = (ip: string) => ({ peers: [{ ip, port: 53, tsig: null }], acl: [] });
  planes.replace([
    ...ofA("a", "s.test", { type: "secondary" }),
    recordOp("a", "www.s.test", "A", OF_A),
    { kind: "transfer", id: "a", value: { outgoing: null, incoming: side("192.0.2.1") } },
  ]);
  const notify = queryFor("s.test", TYPE.SOA, 7);
  notify.writeUInt16BE((OPCODE.NOTIFY << 11) | FLAG.AA, 2);
  const rcodeOf = async (): Promise<number> => (await askUdp(planes.dnsPort, [notify]))[0]!.readUInt16BE(2) & 0xf;
  const stranger = await rcodeOf();
  planes.notified.length = 0;
  const look = async () => [await planes.ask("www.s.test", "A"), await planes.ask("s.test", "SOA")];
  await unchanged(look, ...[...ofB("b", "s.test", { type: "secondary" }), recordOp("b", "www.s.test", "A", OF_B)], {
    kind: "transfer",
    id: "b",
    value: { outgoing: side("127.0.0.1"), incoming: side("192.0.2.9") },
  });
  assert.equal(await rcodeOf(), stranger, "to others B's zone is not there");
  planes.apply({ kind: "transfer", id: "b", value: { outgoing: side("127.0.0.1"), incoming: side("127.0.0.1") } });
  assert.equal(await rcodeOf(), 0);
  assert.deepEqual(planes.notified, ["b"], "B's primary speaks for B's zone alone");
  await unchanged(look);
});

test("35: a pending zone answers only SOA and NS of its apex, and the oldest of several answers", async () => {
  const since = (second: number) => ({ created_on: `2026-01-01T00:00:0${second}.000000Z` });
  planes.apply(
    ...ofB("b", "p.de", since(2)),
    ...[recordOp("b", "p.de", "A", OF_B, proxied), recordOp("b", "www.p.de", "A", OF_B), recordOp("b", "p.de", "TXT", '"t"')],
    dnssecOp("b", [zoneKey("key-p")]),
    await issue("b", "p.de"),
  );
  const soa = "an p.de SOA ns1.p.de. dns.p.de. 1 10000 2400 604800 1800";
  const look = () => Promise.all(["SOA", "NS"].map((type) => planes.ask("p.de", type, true)));
  const before = [
    ["NOERROR", soa],
    ["NOERROR", "an p.de NS ns3.provider.example."],
  ];
  assert.deepEqual(await look(), before);
  for (const type of ["A", "TXT", "DNSKEY", "DS", "ANY", "MX"]) assert.deepEqual(await planes.ask("p.de", type), ["REFUSED"], type);
  for (const type of ["A", "SOA", "NS"]) assert.deepEqual(await planes.ask("www.p.de", type), ["REFUSED"], type);
  assert.equal(await planes.get("p.de"), "530 Error 1016");
  assert.equal(await planes.certificateFor("p.de"), "ERR_SSL_TLSV1_UNRECOGNIZED_NAME");
  const later = zoneOp("c", "p.de", {
    account_id: "c".repeat(32),
    proof: "none",
    status: "pending",
    name_servers: ["ns9.x.test"],
    ...since(3),
  });
  await unchanged(look, later);
  planes.apply(removed(ofB("b", "p.de")[0] as Op));
  assert.deepEqual(await planes.ask("p.de", "NS"), ["NOERROR", "an p.de NS ns9.x.test."]);
  planes.apply(zoneOp("above", "de", { account_id: A, proof: "operator" }), serialOp("above", 1));
  assert.match((await planes.ask("p.de", "NS")).join(), /^NXDOMAIN,ns de SOA/, "a zone that covers the name answers");
});

test("36: a zone is transferred to no secondary before it is proved", async () => {
  planes.replace([
    ...ofB("b", "p.de"),
    { kind: "transfer", id: "b", value: { outgoing: { peers: [{ ip: "127.0.0.1", port: 53, tsig: null }], acl: [] }, incoming: null } },
  ]);
  assert.deepEqual(await planes.ask("p.de", "AXFR"), ["REFUSED"]);
});

test("thousands of claims to a name do not slow its owner's answers", async () => {
  const replica = createMemoryReplica([...ofA("a", "a.test"), recordOp("a", "www.a.test", "A", OF_A)]);
  const nameserver = createNameserver({ replica, metrics: createMetrics(), config: nameserverConfig(), ...NAMESERVER_PARTS });
  const { udp } = await nameserver.listen();
  const ask = async () => (await askUdp(udp, [queryFor("www.a.test", TYPE.A, 3)]))[0];
  const before = await ask();
  for (let at = 0; at < 5_000; at++) replica.apply(ofB(`b${at}`, "a.test", { account_id: `b${at}` }));
  assert.deepEqual(await ask(), before);
  for (let at = 0; at < 5_000; at++) replica.apply(ofB(`b${at}`, "a.test").map(removed));
  assert.deepEqual(await ask(), before);
  await nameserver.close(100);
});
