import assert from "node:assert/strict";
import { test } from "node:test";
import type { Op, RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { presentationText, recordTypeByCode } from "#wire/dns/record-types.ts";
import { certificateOp, recordOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { answer } from "#nameserver/answer/answer.ts";
import { createEdgeFront } from "./proxied-records.ts";
import { visibleTypes } from "./lookup.ts";
import { wholeZone } from "#nameserver/transfers/transfer-records.ts";
import { createZones, type Zones } from "./zones.ts";

const Z = "zone1";
const ADDRESSES = ["203.0.113.1", "2001:db8::1"];
const EDGE = createEdgeFront(ADDRESSES, { alpn: ["h3", "h2", "http/1.1"], port: 443 });
const SET = '1 . alpn="h3,h2" ipv4hint="203.0.113.1" ipv6hint="2001:db8::1"';

const certificate = (...hosts: readonly string[]): Op => certificateOp(Z, ...hosts);
const proxied = (name: string, change: Partial<RecordEntry> = {}): Op =>
  recordOp(Z, name, "A", "192.0.2.1", { proxied: true, ttl: 300, ...change });
const BASE: readonly Op[] = [zoneOp(Z, "example.com"), certificate("example.com", "*.example.com"), proxied("www.example.com")];

function zonesOf(ops: readonly Op[]): Zones {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  return zones;
}

function https(ops: readonly Op[] | Zones, name: string, edge = EDGE): string[] {
  const zones = "nearestZone" in ops ? (ops as Zones) : zonesOf(ops as readonly Op[]);
  const { answers } = answer(zones, edge, { name: parseAbsoluteName(name), type: TYPE.HTTPS });
  return answers.flatMap(({ ttl, rdatas, type }) =>
    rdatas.map((rdata) => `${ttl} ${presentationText(recordTypeByCode(type)?.name ?? "", rdata)}`),
  );
}

test("dns.md: a proxied name with a certificate has an HTTPS record if the edge supports more than HTTP/1.1", () => {
  assert.deepEqual(https(BASE, "www.example.com"), [`300 ${SET}`]);
  const withPort = createEdgeFront(ADDRESSES, { alpn: ["h2", "http/1.1"], port: 8443 });
  assert.deepEqual(https(BASE, "www.example.com", withPort), [
    '300 1 . alpn="h2" port="8443" ipv4hint="203.0.113.1" ipv6hint="2001:db8::1"',
  ]);
  for (const edge of [
    createEdgeFront(ADDRESSES, { alpn: ["http/1.1"], port: 443 }),
    createEdgeFront(ADDRESSES, { alpn: [], port: 443 }),
    createEdgeFront(ADDRESSES, { alpn: ["h2"], port: 0 }),
  ])
    assert.deepEqual(https(BASE, "www.example.com", edge), []);
});

test("a name has an HTTPS record only if a certificate covers it", () => {
  const rows: readonly (readonly [name: string, hosts: readonly string[], has: boolean])[] = [
    ["www.example.com", [], false],
    ["www.example.com", ["example.com"], false],
    ["www.example.com", ["WWW.example.com"], true],
    ["www.example.com", ["*.example.com"], true],
    ["a.www.example.com", ["*.example.com"], false],
    ["example.com", ["*.example.com"], false],
    ["example.com", ["example.com"], true],
    ["q.wild.example.com", ["*.example.com"], false],
    ["q.wild.example.com", ["*.wild.example.com"], true],
  ];
  const names = ["www.example.com", "a.www.example.com", "example.com", "*.wild.example.com"].map((name) => proxied(name));
  for (const [name, hosts, has] of rows) {
    const ops = [zoneOp(Z, "example.com"), ...names, ...(hosts.length > 0 ? [certificate(...hosts)] : [])];
    assert.equal(https(ops, name).length, has ? 1 : 0, `${name} of ${hosts.join()}`);
  }
});

test("an explicit HTTPS record wins over the automatic one, and names that are not proxied have none", () => {
  assert.deepEqual(https([...BASE, recordOp(Z, "www.example.com", "HTTPS", "1 . alpn=h2")], "www.example.com"), ['600 1 . alpn="h2"']);
  assert.deepEqual(https([...BASE, recordOp(Z, "plain.example.com", "A", "192.0.2.1")], "plain.example.com"), []);
  const paused = BASE.map((op) => (op.kind === "zone" ? zoneOp(Z, "example.com", { paused: true }) : op));
  assert.deepEqual(https(paused, "www.example.com"), []);
  const cname = recordOp(Z, "shop.example.com", "CNAME", "elsewhere.example", { proxied: true });
  assert.deepEqual(https([...BASE, cname], "shop.example.com"), [`300 ${SET}`]);
});

test("SPEC 2.3: a zone without HTTP/2 or TLS has no automatic HTTPS records", () => {
  const withSettings = (edge: ZoneEntry["edge"]): readonly Op[] =>
    BASE.map((op) => (op.kind === "zone" ? zoneOp(Z, "example.com", { ...(edge && { edge }) }) : op));
  assert.deepEqual(https(withSettings({ http2: false }), "www.example.com"), []);
  assert.deepEqual(https(withSettings({ ssl: "off" }), "www.example.com"), []);
  assert.deepEqual(https(withSettings({ ssl: "full" }), "www.example.com"), [`300 ${SET}`]);
});

test("address hints in an HTTPS record are the name's addresses", () => {
  const only = (setting: "ipv4_only" | "ipv6_only"): string[] =>
    https([...BASE, proxied("one.example.com", { settings: { [setting]: true } })], "one.example.com");
  assert.deepEqual(only("ipv4_only"), ['300 1 . alpn="h3,h2" ipv4hint="203.0.113.1"']);
  assert.deepEqual(only("ipv6_only"), ['300 1 . alpn="h3,h2" ipv6hint="2001:db8::1"']);
});

test("adding or removing a certificate changes the answers of its zone", () => {
  const [zone, added] = BASE as readonly [Op, Op];
  const zones = zonesOf([zone, proxied("www.example.com")]);
  assert.deepEqual(https(zones, "www.example.com"), []);
  const key = keyOf(parseAbsoluteName("example.com"));
  assert.ok(zones.apply([{ ...added, before: undefined } as never]).zones.has(key));
  assert.deepEqual(https(zones, "www.example.com"), [`300 ${SET}`]);
  assert.ok(zones.apply([{ ...added, value: null, before: added.value } as never]).zones.has(key));
  assert.deepEqual(https(zones, "www.example.com"), []);
});

test("DNSSEC proofs include the automatic HTTPS record, and zone transfers leave it out", () => {
  const zone = zonesOf(BASE).nearestZone(keyOf(parseAbsoluteName("example.com")), null);
  assert.ok(zone);
  const www = keyOf(parseAbsoluteName("www.example.com"));
  assert.deepEqual(visibleTypes(EDGE, zone, www, zone.nodes.get(www)), [TYPE.A, TYPE.AAAA, TYPE.HTTPS]);
  const sent = [...wholeZone(zone, EDGE, () => [])]
    .filter((record) => record !== undefined)
    .filter(({ name }) => formatName(name) === "www.example.com");
  assert.deepEqual(
    sent.map(({ type }) => type),
    [TYPE.A, TYPE.AAAA],
  );
});
