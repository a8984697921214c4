import assert from "node:assert/strict";
import { test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { dnskeyRdata, dsDigest, keyTag } from "#wire/dns/dnssec-key.ts";
import { formatName, keyOf, nameOfKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { RECORD_TYPES, describe, recordTypeByCode } from "#wire/dns/record-types.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { answer } from "./answer.ts";
import type { AnswerSet } from "./answer-rrset.ts";
import { areDifferences, wholeZone } from "#nameserver/transfers/transfer-records.ts";
import type { ZoneVersion } from "#nameserver/zones/zone-journal.ts";
import type { RRsets } from "#nameserver/zones/rrset.ts";
import { createZones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [Buffer.from("20010db8000000000000000000000001", "hex")] };
const typeNumbers: Record<string, number> = {
  ANY: TYPE.ANY,
  ...Object.fromEntries(Object.values(RECORD_TYPES).map(({ name, code }) => [name, code])),
};

/** Answers as lines of text: `section name ttl type content`, with the flags first. */
function ask(ops: readonly Op[], name: string, type: string): string[] {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const found = answer(zones, EDGE, { name: parseAbsoluteName(name), type: typeNumbers[type] as number });
  const rcode = Object.entries(RCODE).find(([, code]) => code === found.rcode)?.[0];
  const lines = (section: string, sets: readonly AnswerSet[]): string[] =>
    sets.flatMap((set) =>
      set.rdatas.map((rdata) => {
        const row = recordTypeByCode(set.type);
        const shown = row ? describe(row.name, rdata) : { content: "…", priority: null };
        const text = shown.priority === null ? shown.content : `${shown.priority} ${shown.content}`;
        return `${section} ${formatName(set.name)} ${set.ttl} ${row?.name ?? set.type} ${text}`;
      }),
    );
  return [
    `${rcode}${found.authoritative ? " aa" : ""}`,
    ...lines("an", found.answers),
    ...lines("ns", found.authorities),
    ...lines("gl", found.glue),
    ...lines("ad", found.additionals),
  ];
}

const Z = "zone1";
const SOA = "ns example.com 1800 SOA ns1.example.com dns.example.com 7 10000 2400 604800 1800";

const BASE: readonly Op[] = [
  zoneOp(Z, "example.com"),
  serialOp(Z, 7),
  recordOp(Z, "example.com", "MX", "10 mail.example.com"),
  recordOp(Z, "example.com", "TXT", '"v=spf1 -all"'),
  recordOp(Z, "mail.example.com", "A", "192.0.2.25"),
  recordOp(Z, "mail.example.com", "AAAA", "2001:db8::25"),
  recordOp(Z, "ns1.example.com", "A", "192.0.2.53"),
  recordOp(Z, "two.example.com", "A", "192.0.2.1"),
  recordOp(Z, "two.example.com", "A", "192.0.2.2", { ttl: 120 }),
  recordOp(Z, "_sip._tcp.example.com", "SRV", "1 2 5060 mail.example.com"),
  recordOp(Z, "a.deep.ent.example.com", "A", "192.0.2.3"),
];

test("RFC 1034 §4.3.2: the nameserver answers with data, NODATA, NXDOMAIN or REFUSED", () => {
  assert.deepEqual(ask(BASE, "two.example.com", "A"), [
    "NOERROR aa",
    "an two.example.com 120 A 192.0.2.1",
    "an two.example.com 120 A 192.0.2.2",
  ]);
  assert.deepEqual(ask(BASE, "TWO.Example.COM", "A").slice(1, 2), ["an TWO.Example.COM 120 A 192.0.2.1"]);
  assert.deepEqual(ask(BASE, "two.example.com", "AAAA"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(BASE, "no.example.com", "A"), ["NXDOMAIN aa", SOA]);
  assert.deepEqual(ask(BASE, "example.net", "A"), ["REFUSED"]);
  assert.deepEqual(ask(BASE, "com", "A"), ["REFUSED"]);
  assert.deepEqual(ask(BASE, ".", "NS"), ["REFUSED"]);
  assert.deepEqual(ask(BASE, "xexample.com", "A"), ["REFUSED"]);
});

test("RFC 8020: names between a record and the apex exist", () => {
  assert.deepEqual(ask(BASE, "deep.ent.example.com", "A"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(BASE, "ent.example.com", "A"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(BASE, "other.ent.example.com", "A"), ["NXDOMAIN aa", SOA]);
});

test("SOA and NS at the apex come from the zone's settings, also without other records", () => {
  assert.deepEqual(ask(BASE, "example.com", "SOA"), [
    "NOERROR aa",
    "an example.com 3600 SOA ns1.example.com dns.example.com 7 10000 2400 604800 1800",
  ]);
  assert.deepEqual(ask(BASE, "example.com", "NS"), [
    "NOERROR aa",
    "an example.com 86400 NS ns1.example.com",
    "an example.com 86400 NS ns2.provider.example",
    "ad ns1.example.com 600 A 192.0.2.53",
  ]);
  const bare = [zoneOp(Z, "example.com")];
  assert.deepEqual(ask(bare, "example.com", "A")[0], "NOERROR aa");
  assert.deepEqual(ask(bare, "x.example.com", "A")[0], "NXDOMAIN aa");
  const apexNs = [...BASE, recordOp(Z, "example.com", "NS", "ns.elsewhere.example")];
  assert.deepEqual(ask(apexNs, "example.com", "NS"), ask(BASE, "example.com", "NS"));
  assert.deepEqual(ask(apexNs, "two.example.com", "A")[0], "NOERROR aa");
});

test("RFC 2308 §5: the negative TTL is the lesser of the SOA's TTL and its minimum", () => {
  const soa = { mname: "m.example", rname: "r.example", refresh: 1, retry: 2, expire: 3, ttl: 1800, min_ttl: 3600 };
  assert.deepEqual(ask([zoneOp(Z, "example.com", { soa })], "x.example.com", "A"), [
    "NXDOMAIN aa",
    "ns example.com 1800 SOA m.example r.example 0 1 2 3 3600",
  ]);
});

test("answers with MX, SRV and NS records add the addresses of targets in our zones", () => {
  const addresses = ["ad mail.example.com 600 A 192.0.2.25", "ad mail.example.com 600 AAAA 2001:db8::25"];
  assert.deepEqual(ask(BASE, "example.com", "MX"), ["NOERROR aa", "an example.com 600 MX 10 mail.example.com", ...addresses]);
  assert.deepEqual(ask(BASE, "_sip._tcp.example.com", "SRV"), [
    "NOERROR aa",
    "an _sip._tcp.example.com 600 SRV 1 2 5060 mail.example.com",
    ...addresses,
  ]);
  const foreign = [...BASE, recordOp(Z, "f.example.com", "MX", "1 mx.example.net")];
  assert.deepEqual(ask(foreign, "f.example.com", "MX"), ["NOERROR aa", "an f.example.com 600 MX 1 mx.example.net"]);
});

// The zone of RFC 4592 §2.2.1 and the questions that it answers there.
const WILD: readonly Op[] = [
  zoneOp(Z, "example"),
  recordOp(Z, "*.example", "TXT", '"this is a wildcard"'),
  recordOp(Z, "*.example", "MX", "10 host1.example"),
  recordOp(Z, "sub.*.example", "TXT", '"this is not a wildcard"'),
  recordOp(Z, "host1.example", "A", "192.0.2.1"),
  recordOp(Z, "_ssh._tcp.host1.example", "SRV", "0 0 22 host1.example"),
  recordOp(Z, "_ssh._tcp.host2.example", "SRV", "0 0 22 host2.example"),
  recordOp(Z, "subdel.example", "NS", "ns.example.com"),
];

test("RFC 4592 §2.2.1: a wildcard answers for the names of the RFC's example, and for no others", () => {
  const heads = (name: string, type: string): string[] => ask(WILD, name, type).map((line) => line.split(" ").slice(0, 5).join(" "));
  assert.deepEqual(heads("host3.example", "MX"), ["NOERROR aa", "an host3.example 600 MX 10", "ad host1.example 600 A 192.0.2.1"]);
  assert.equal(heads("host3.example", "A")[0], "NOERROR aa");
  assert.match(heads("host3.example", "A")[1] ?? "", /^ns example 1800 SOA/);
  assert.deepEqual(ask(WILD, "foo.bar.example", "TXT"), ["NOERROR aa", 'an foo.bar.example 600 TXT "this is a wildcard"']);
  assert.match(heads("host1.example", "MX")[1] ?? "", /^ns example 1800 SOA/);
  assert.match(heads("sub.*.example", "MX")[1] ?? "", /^ns example 1800 SOA/);
  assert.equal(heads("_telnet._tcp.host1.example", "SRV")[0], "NXDOMAIN aa");
  assert.deepEqual(ask(WILD, "host.subdel.example", "A"), ["NOERROR", "ns subdel.example 600 NS ns.example.com"]);
  // `ghost.*.example` has the closest encloser `*.example`, which has no wildcard below it.
  assert.equal(heads("ghost.*.example", "MX")[0], "NXDOMAIN aa");
  assert.deepEqual(ask(WILD, "*.example", "TXT"), ["NOERROR aa", 'an *.example 600 TXT "this is a wildcard"']);
});

test("a wildcard that exists only because of a name below it returns no data", () => {
  const ops = [zoneOp(Z, "example.com"), recordOp(Z, "x.*.example.com", "A", "192.0.2.1")];
  assert.equal(ask(ops, "any.example.com", "A")[0], "NOERROR aa");
});

const CUT: readonly Op[] = [
  ...BASE,
  recordOp(Z, "child.example.com", "NS", "ns.child.example.com"),
  recordOp(Z, "child.example.com", "NS", "mail.example.com"),
  recordOp(Z, "child.example.com", "NS", "ns.other.example"),
  recordOp(Z, "child.example.com", "DS", "1 13 9 abcd"),
  recordOp(Z, "child.example.com", "TXT", '"occluded"'),
  recordOp(Z, "ns.child.example.com", "A", "192.0.2.99"),
  recordOp(Z, "deeper.child.example.com", "NS", "ns.other.example"),
];

test("queries below a zone cut get a referral with glue, without the AA flag", () => {
  const referral = [
    "NOERROR",
    "ns child.example.com 600 NS ns.child.example.com",
    "ns child.example.com 600 NS mail.example.com",
    "ns child.example.com 600 NS ns.other.example",
    "gl ns.child.example.com 600 A 192.0.2.99",
    "ad mail.example.com 600 A 192.0.2.25",
    "ad mail.example.com 600 AAAA 2001:db8::25",
  ];
  for (const name of ["child.example.com", "www.child.example.com", "ns.child.example.com", "a.deeper.child.example.com"])
    assert.deepEqual(ask(CUT, name, "A"), referral, name);
  assert.deepEqual(ask(CUT, "child.example.com", "TXT"), referral);
  assert.deepEqual(ask(CUT, "child.example.com", "NS"), referral);
});

test("RFC 4035 §3.1.4.1: the parent zone answers queries for DS", () => {
  assert.deepEqual(ask(CUT, "child.example.com", "DS"), ["NOERROR aa", "an child.example.com 600 DS 1 13 9 abcd"]);
  const both = [...CUT, zoneOp("zone2", "child.example.com"), recordOp("zone2", "child.example.com", "TXT", '"child"')];
  assert.deepEqual(ask(both, "child.example.com", "DS"), ["NOERROR aa", "an child.example.com 600 DS 1 13 9 abcd"]);
  assert.deepEqual(ask(both, "child.example.com", "TXT"), ["NOERROR aa", 'an child.example.com 600 TXT "child"']);
  assert.deepEqual(ask(CUT, "example.com", "DS"), ["NOERROR aa", SOA]);
});

test("answers follow aliases through our zones (RFC 1034 §3.6.2), and have the RCODE of the last name (RFC 6604)", () => {
  const ops = [
    ...CUT,
    zoneOp("zone2", "example.net"),
    recordOp("zone2", "host.example.net", "A", "198.51.100.1"),
    recordOp(Z, "c1.example.com", "CNAME", "c2.example.com"),
    recordOp(Z, "c2.example.com", "CNAME", "host.example.net"),
    recordOp(Z, "gone.example.com", "CNAME", "nothing.example.com"),
    recordOp(Z, "away.example.com", "CNAME", "www.elsewhere.example"),
    recordOp(Z, "down.example.com", "CNAME", "www.child.example.com"),
    recordOp("zone2", "*.wild.example.net", "CNAME", "two.example.com"),
  ];
  const chain = ["an c1.example.com 600 CNAME c2.example.com", "an c2.example.com 600 CNAME host.example.net"];
  assert.deepEqual(ask(ops, "c1.example.com", "A"), ["NOERROR aa", ...chain, "an host.example.net 600 A 198.51.100.1"]);
  assert.deepEqual(ask(ops, "c1.example.com", "AAAA").slice(0, 3), ["NOERROR aa", ...chain]);
  assert.match(ask(ops, "c1.example.com", "AAAA")[3] ?? "", /^ns example.net 1800 SOA/);
  assert.deepEqual(ask(ops, "c1.example.com", "CNAME"), ["NOERROR aa", chain[0]]);
  assert.deepEqual(ask(ops, "gone.example.com", "A"), ["NXDOMAIN aa", "an gone.example.com 600 CNAME nothing.example.com", SOA]);
  assert.deepEqual(ask(ops, "away.example.com", "A"), ["NOERROR aa", "an away.example.com 600 CNAME www.elsewhere.example"]);
  assert.deepEqual(ask(ops, "down.example.com", "A").slice(0, 3), [
    "NOERROR aa",
    "an down.example.com 600 CNAME www.child.example.com",
    "ns child.example.com 600 NS ns.child.example.com",
  ]);
  assert.deepEqual(ask(ops, "q.wild.example.net", "A").slice(0, 2), ["NOERROR aa", "an q.wild.example.net 600 CNAME two.example.com"]);
});

test("loops and endless chains of aliases end", () => {
  const circle = [
    zoneOp(Z, "example.com"),
    recordOp(Z, "a.example.com", "CNAME", "b.example.com"),
    recordOp(Z, "b.example.com", "CNAME", "a.example.com"),
    recordOp(Z, "me.example.com", "CNAME", "me.example.com"),
  ];
  assert.deepEqual(ask(circle, "a.example.com", "A"), [
    "NOERROR aa",
    "an a.example.com 600 CNAME b.example.com",
    "an b.example.com 600 CNAME a.example.com",
  ]);
  assert.equal(ask(circle, "me.example.com", "A").length, 2);
  const endless = [zoneOp(Z, "example.com"), recordOp(Z, "*.example.com", "CNAME", "x.y.example.com")];
  assert.ok(ask(endless, "start.example.com", "A").length <= 18);
  const long = [
    zoneOp(Z, "example.com"),
    ...Array.from({ length: 40 }, (_, i) => recordOp(Z, `n${i}.example.com`, "CNAME", `n${i + 1}.example.com`)),
  ];
  assert.ok(ask(long, "n0.example.com", "A").length <= 18);
});

test("RFC 6672: a DNAME makes aliases of the names below it, but not of its own name", () => {
  const ops = [
    ...BASE,
    recordOp(Z, "old.example.com", "DNAME", "ent.example.com", { ttl: 120 }),
    recordOp(Z, "old.example.com", "TXT", '"moved"'),
    recordOp(Z, "hidden.old.example.com", "A", "192.0.2.99"),
    recordOp(Z, "far.example.com", "DNAME", `${"f".repeat(63)}.example.net`),
    recordOp(Z, "loop.example.com", "DNAME", "again.loop.example.com"),
  ];
  const dname = "an old.example.com 120 DNAME ent.example.com";
  assert.deepEqual(ask(ops, "a.deep.old.example.com", "A"), [
    "NOERROR aa",
    dname,
    "an a.deep.old.example.com 120 CNAME a.deep.ent.example.com",
    "an a.deep.ent.example.com 600 A 192.0.2.3",
  ]);
  // Names below are hidden, as below a zone cut.
  assert.deepEqual(ask(ops, "hidden.old.example.com", "A"), [
    "NXDOMAIN aa",
    dname,
    "an hidden.old.example.com 120 CNAME hidden.ent.example.com",
    SOA,
  ]);
  assert.deepEqual(ask(ops, "x.old.example.com", "CNAME"), ["NOERROR aa", dname, "an x.old.example.com 120 CNAME x.ent.example.com"]);
  assert.deepEqual(ask(ops, "old.example.com", "TXT"), ["NOERROR aa", 'an old.example.com 600 TXT "moved"']);
  assert.deepEqual(ask(ops, "old.example.com", "A"), ["NOERROR aa", SOA]);
  const long = `${`${"l".repeat(59)}.`.repeat(3)}far.example.com`;
  assert.deepEqual(ask(ops, long, "A"), ["YXDOMAIN aa", `an far.example.com 600 DNAME ${"f".repeat(63)}.example.net`]);
  assert.equal(ask(ops, "x.loop.example.com", "A").length, 3);
});

test("RFC 9460 §4.1: SVCB and HTTPS add the records at their targets", () => {
  const ops = [
    ...BASE,
    recordOp(Z, "alias.example.com", "HTTPS", "0 svc.example.com"),
    recordOp(Z, "svc.example.com", "HTTPS", "1 . alpn=h2"),
    recordOp(Z, "svc.example.com", "A", "192.0.2.77"),
    recordOp(Z, "none.example.com", "HTTPS", "0 ."),
    recordOp(Z, "none.example.com", "A", "192.0.2.78"),
  ];
  assert.deepEqual(ask(ops, "alias.example.com", "HTTPS"), [
    "NOERROR aa",
    "an alias.example.com 600 HTTPS 0 svc.example.com",
    "ad svc.example.com 600 A 192.0.2.77",
    'ad svc.example.com 600 HTTPS 1 . alpn="h2"',
  ]);
  assert.deepEqual(ask(ops, "svc.example.com", "HTTPS").slice(2), ["ad svc.example.com 600 A 192.0.2.77"]);
  assert.deepEqual(ask(ops, "none.example.com", "HTTPS").length, 2);
});

test("proxied names answer with the edge's addresses for 300 seconds", () => {
  const proxied = { proxied: true, ttl: 300 };
  const ops = [
    zoneOp(Z, "example.com"),
    serialOp(Z, 7),
    recordOp(Z, "www.example.com", "A", "192.0.2.1", proxied),
    recordOp(Z, "mixed.example.com", "A", "192.0.2.1", { ttl: 60 }),
    recordOp(Z, "mixed.example.com", "AAAA", "2001:db8::9", proxied),
    recordOp(Z, "cname.example.com", "CNAME", "origin.elsewhere.example", proxied),
    recordOp(Z, "alias.example.com", "CNAME", "www.example.com"),
    recordOp(Z, "*.wild.example.com", "A", "192.0.2.2", proxied),
    recordOp(Z, "www.example.com", "TXT", '"t"'),
    recordOp(Z, "mx.example.com", "MX", "1 www.example.com"),
  ];
  const edge = (name: string): string[] => ["NOERROR aa", `an ${name} 300 A 203.0.113.1`];
  for (const name of ["www.example.com", "mixed.example.com", "cname.example.com", "q.wild.example.com"]) {
    assert.deepEqual(ask(ops, name, "A"), edge(name));
    assert.deepEqual(ask(ops, name, "AAAA"), ["NOERROR aa", `an ${name} 300 AAAA 2001:db8::1`]);
  }
  // The origin stays hidden: neither the alias nor the stored address is ever shown.
  assert.deepEqual(ask(ops, "cname.example.com", "CNAME"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(ops, "cname.example.com", "MX"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(ops, "www.example.com", "TXT"), ["NOERROR aa", 'an www.example.com 600 TXT "t"']);
  assert.deepEqual(ask(ops, "alias.example.com", "A"), ["NOERROR aa", "an alias.example.com 300 A 203.0.113.1"]);
  assert.deepEqual(ask(ops, "mx.example.com", "MX").slice(2), [
    "ad www.example.com 300 A 203.0.113.1",
    "ad www.example.com 300 AAAA 2001:db8::1",
  ]);

  const paused = ops.map((op) => (op.kind === "zone" ? zoneOp(Z, "example.com", { paused: true }) : op));
  assert.deepEqual(ask(paused, "www.example.com", "A"), ["NOERROR aa", "an www.example.com 300 A 192.0.2.1"]);
  assert.deepEqual(ask(paused, "cname.example.com", "A"), ["NOERROR aa", "an cname.example.com 300 CNAME origin.elsewhere.example"]);
});

test("a CNAME at the apex is flattened to the data of our zones", () => {
  const ops = (target: string): Op[] => [
    ...BASE,
    recordOp(Z, "example.com", "CNAME", target, { ttl: 90 }),
    recordOp(Z, "hop.example.com", "CNAME", "two.example.com", { ttl: 70 }),
  ];
  assert.deepEqual(ask(ops("two.example.com"), "example.com", "A"), [
    "NOERROR aa",
    "an example.com 90 A 192.0.2.1",
    "an example.com 90 A 192.0.2.2",
  ]);
  assert.deepEqual(ask(ops("hop.example.com"), "example.com", "A")[1], "an example.com 70 A 192.0.2.1");
  assert.deepEqual(ask(ops("two.example.com"), "example.com", "CNAME"), ["NOERROR aa", SOA]);
  // "No data" lives no longer than the alias.
  const nothing = ["NOERROR aa", SOA.replace(" 1800 SOA", " 90 SOA")];
  assert.deepEqual(ask(ops("www.elsewhere.example"), "example.com", "A"), nothing);
  assert.deepEqual(ask(ops("example.com"), "example.com", "A"), nothing);
  assert.deepEqual(
    ask([zoneOp(Z, "example.com"), recordOp(Z, "example.com", "CNAME", "o.elsewhere.example", { proxied: true })], "example.com", "A"),
    ["NOERROR aa", "an example.com 300 A 203.0.113.1"],
  );
});

test("RFC 8482: ANY is answered with one small record", () => {
  const ops = [...BASE, recordOp(Z, "alias.example.com", "CNAME", "two.example.com")];
  assert.deepEqual(ask(ops, "example.com", "ANY"), ["NOERROR aa", 'an example.com 3600 HINFO "RFC8482" ""']);
  assert.deepEqual(ask(ops, "alias.example.com", "ANY"), ["NOERROR aa", "an alias.example.com 600 CNAME two.example.com"]);
  assert.deepEqual(ask(ops, "deep.ent.example.com", "ANY"), ["NOERROR aa", SOA]);
  assert.deepEqual(ask(ops, "no.example.com", "ANY"), ["NXDOMAIN aa", SOA]);
});

test("the nameserver serves zones of every status except internal ones, and the active one of two with the same name", () => {
  for (const status of ["initializing", "pending", "active", "moved"] as const)
    assert.equal(ask([zoneOp(Z, "example.com", { status })], "example.com", "SOA")[0], "NOERROR aa");
  assert.deepEqual(ask([zoneOp(Z, "example.com", { type: "internal" })], "example.com", "SOA"), ["REFUSED"]);
  const two = [
    zoneOp("a", "example.com", { status: "pending" }),
    recordOp("a", "example.com", "TXT", '"pending"'),
    zoneOp("b", "example.com"),
    recordOp("b", "example.com", "TXT", '"active"'),
  ];
  assert.deepEqual(ask(two, "example.com", "TXT")[1], 'an example.com 600 TXT "active"');
});

test("an answer names the source of each signed RRset, and a denial names the denied name", () => {
  const ops = [
    ...BASE,
    recordOp(Z, "*.wild.example.com", "TXT", '"any"'),
    recordOp(Z, "alias.example.com", "CNAME", "gone.example.com"),
    recordOp(Z, "child.example.com", "NS", "ns.child.example.com"),
    recordOp(Z, "ns.child.example.com", "A", "192.0.2.9"),
  ];
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const found = (name: string, type: string) => answer(zones, EDGE, { name: parseAbsoluteName(name), type: typeNumbers[type] as number });
  const sources = (sets: readonly AnswerSet[]): string[] =>
    sets.map(({ name, type, origin }) => {
      const source = origin ? formatName(nameOfKey(origin.source)) : "nobody";
      return `${formatName(name)} ${recordTypeByCode(type)?.name} by ${source}`;
    });
  const denied = (name: string, type: string): string => {
    const { denial } = found(name, type);
    if (denial === undefined) return "nothing";
    if (denial.kind === "delegation") return `delegation ${formatName(nameOfKey(denial.cut))}`;
    const source = denial.kind === "no_data" ? ` of ${formatName(nameOfKey(denial.source))}` : "";
    return `${denial.kind} ${formatName(denial.name)}${source}`;
  };

  assert.deepEqual(sources(found("x.wild.example.com", "TXT").answers), ["x.wild.example.com TXT by *.wild.example.com"]);
  assert.deepEqual(sources(found("example.com", "MX").additionals), [
    "mail.example.com A by mail.example.com",
    "mail.example.com AAAA by mail.example.com",
  ]);
  assert.deepEqual(sources(found("no.example.com", "A").authorities), ["example.com SOA by example.com"]);
  const referral = found("www.child.example.com", "A");
  assert.deepEqual(sources([...referral.authorities, ...referral.glue]), [
    "child.example.com NS by nobody",
    "ns.child.example.com A by nobody",
  ]);

  assert.equal(denied("two.example.com", "A"), "nothing");
  assert.equal(denied("two.example.com", "AAAA"), "no_data two.example.com of two.example.com");
  assert.equal(denied("ent.example.com", "A"), "no_data ent.example.com of ent.example.com");
  assert.equal(denied("X.wild.example.com", "A"), "no_data X.wild.example.com of *.wild.example.com");
  assert.equal(denied("alias.example.com", "A"), "no_name gone.example.com");
  assert.equal(denied("www.child.example.com", "A"), "delegation child.example.com");
  assert.equal(denied("child.example.com", "DS"), "no_data child.example.com of child.example.com");
});

test("the apex of a signed zone publishes its keys, and the CDS and CDNSKEY records of a key change", () => {
  const [old, next] = [zoneKey("old"), zoneKey("next", { signsZone: false })];
  const shown = (ops: readonly Op[], type: string): string[] => ask([...BASE, ...ops], "example.com", type).slice(1);
  const dnskey = (key: string): string => `an example.com 3600 DNSKEY 257 3 13 ${key}`;
  const both = dnssecOp(Z, [old, next], ["next"]);
  assert.deepEqual(shown([both], "DNSKEY"), [dnskey(old.public_key), dnskey(next.public_key)]);
  assert.deepEqual(shown([both], "CDNSKEY"), [`an example.com 3600 CDNSKEY 257 3 13 ${next.public_key}`]);
  const tag = keyTag(dnskeyRdata(Buffer.from(next.public_key, "base64")));
  const digest = dsDigest("example.com", dnskeyRdata(Buffer.from(next.public_key, "base64"))).toLowerCase();
  assert.deepEqual(shown([both], "CDS"), [`an example.com 3600 CDS ${tag} 13 2 ${digest}`]);
  // RFC 8078 §4: the one way to ask for the end of DNSSEC.
  assert.deepEqual(shown([dnssecOp(Z, [old], "delete")], "CDS"), ["an example.com 3600 CDS 0 0 0 00"]);
  assert.deepEqual(shown([dnssecOp(Z, [old], "delete")], "CDNSKEY"), ["an example.com 3600 CDNSKEY 0 3 0 AA=="]);
  assert.deepEqual(shown([dnssecOp(Z, [old])], "CDS"), [SOA]);
  const ofAnother = recordOp(Z, "example.com", "DNSKEY", "256 3 13 b3RoZXI=");
  assert.deepEqual(shown([dnssecOp(Z, [old]), ofAnother], "DNSKEY"), [
    dnskey(old.public_key),
    "an example.com 3600 DNSKEY 256 3 13 b3RoZXI=",
  ]);
});

test("RFC 6672 §2.4: zone transfers leave out records below a DNAME, and adding or removing a DNAME sends the whole zone", () => {
  const dname = recordOp(Z, "old.example.com", "DNAME", "elsewhere.example");
  const left = recordOp(Z, "left.old.example.com", "A", "192.0.2.9");
  const zones = createZones();
  const { snapshot } = createMemoryReplica([zoneOp(Z, "example.com"), left, dname]);
  zones.rebuild(snapshot);
  const zone = () => zones.nearestZone(keyOf(parseAbsoluteName("example.com")), null) as ZoneIndex;
  const sent = (): string[] =>
    [...wholeZone(zone(), EDGE, () => [])]
      .filter((record) => record !== undefined)
      .map(({ name }) => formatName(name))
      .filter((name) => name.includes("old"));
  assert.deepEqual(sent(), ["old.example.com"]);
  const version = (before: RRsets, after: RRsets): ZoneVersion => ({
    from: 1,
    to: 2,
    apexBefore: new Map(),
    apexAfter: new Map(),
    names: [{ key: keyOf(parseAbsoluteName("old.example.com")), before, after }],
  });
  const sets: RRsets = zone().nodes.get(keyOf(parseAbsoluteName("old.example.com")))?.sets ?? new Map();
  assert.equal(areDifferences(zone(), [version(sets, new Map())]), false);
  assert.equal(areDifferences(zone(), [version(new Map(), sets)]), false);
  assert.equal(areDifferences(zone(), [version(sets, sets)]), true);
  zones.apply([{ ...dname, value: null, before: snapshot.get("record", dname.id) } as never]);
  assert.deepEqual(sent(), ["left.old.example.com"]);
});

test("RFC 6672 §3.2: a DNAME that points above itself applies to its own result, and ends", () => {
  const ops = [
    ...BASE,
    recordOp(Z, "up.example.com", "A", "192.0.2.77"),
    recordOp(Z, "a.example.com", "DNAME", "example.com"),
    recordOp(Z, "x.y.example.com", "DNAME", "y.example.com"),
  ];
  assert.deepEqual(ask(ops, "up.a.a.a.example.com", "A"), [
    "NOERROR aa",
    "an a.example.com 600 DNAME example.com",
    "an up.a.a.a.example.com 600 CNAME up.a.a.example.com",
    "an up.a.a.example.com 600 CNAME up.a.example.com",
    "an up.a.example.com 600 CNAME up.example.com",
    ...ask(ops, "up.example.com", "A").slice(1),
  ]);
  assert.deepEqual(ask(ops, "none.a.a.example.com", "A").slice(0, 4), [
    "NXDOMAIN aa",
    "an a.example.com 600 DNAME example.com",
    "an none.a.a.example.com 600 CNAME none.a.example.com",
    "an none.a.example.com 600 CNAME none.example.com",
  ]);
  assert.equal(ask(ops, "q.x.x.y.example.com", "A").filter((line) => line.includes(" DNAME ")).length, 1);
  const deep = `${"a.".repeat(60)}a.example.com`;
  assert.ok(ask(ops, `up.${deep}`, "A").length <= 20);
});

test("RFC 3403 §4.2: answers add the target of a NAPTR record that is in our zones", () => {
  const ops = [
    ...BASE,
    recordOp(Z, "s.example.com", "NAPTR", '10 20 "s" "SIP+D2U" "" _sip._tcp.example.com'),
    recordOp(Z, "h.example.com", "NAPTR", '10 20 "a" "x-y:z" "" mail.example.com'),
    recordOp(Z, "u.example.com", "NAPTR", '10 20 "u" "E2U+sip" "!^.*$!sip:x@example.com!" .'),
    recordOp(Z, "out.example.com", "NAPTR", '10 20 "s" "SIP+D2T" "" _sip._tcp.example.org'),
  ];
  const added = (name: string): string[] => ask(ops, name, "NAPTR").filter((line) => line.startsWith("ad "));
  assert.deepEqual(added("s.example.com"), ["ad _sip._tcp.example.com 600 SRV 1 2 5060 mail.example.com"]);
  assert.deepEqual(
    added("h.example.com"),
    ask(BASE, "_sip._tcp.example.com", "SRV").filter((line) => line.startsWith("ad ")),
  );
  assert.deepEqual([...added("u.example.com"), ...added("out.example.com")], []);
});
