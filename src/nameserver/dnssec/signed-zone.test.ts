import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { compareCanonical } from "#wire/dns/canonical.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { formatName, keyOf, type NameKey, nameOfKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { recordTypeByCode } from "#wire/dns/record-types.ts";
import { typesOf } from "#wire/dns/type-bitmap.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import { assertSigned, readRrsig } from "../../../test/support/dnssec-verifier.ts";
import { SEALER } from "../../../test/support/nameserver.ts";
import { randomZone, seededRandom } from "../../../test/support/random-zone.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import type { AnswerSet } from "#nameserver/answer/answer-rrset.ts";
import { createSigner } from "./signer.ts";
import { signedZone, UnusableKeysError } from "./signed-zone.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const Z = "zone1";
const KEY = zoneKey("only");
const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };
const clock = fixedClock("2026-11-20T12:00:00Z");
const BASE = [zoneOp(Z, "example.com"), serialOp(Z, 1), dnssecOp(Z, [KEY])];

function signed(
  ops: readonly Op[],
  addresses: readonly { type: number; ttl: number; rdatas: Buffer[]; proxied: boolean }[] = [],
  pauses: undefined[] = [],
): AnswerSet[] {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const { signatures } = createSigner({ edge: EDGE, clock, sealer: SEALER, metrics: createMetrics(), log: () => {} });
  const zone = zones.nearestZone(keyOf(parseAbsoluteName("example.com")), null);
  assert.ok(zone);
  const all = [...signedZone(zone, { edge: EDGE, signatures, addresses: () => addresses })];
  pauses.push(...all.filter((set) => set === undefined));
  return all.filter((set) => set !== undefined);
}

const isType = (type: number) => (set: AnswerSet) => set.type === type;
const at = (sets: readonly AnswerSet[], key: NameKey): AnswerSet[] => sets.filter(({ name }) => keyOf(name) === key);

function readNsec(rdata: Uint8Array): { next: NameKey; types: number[] } {
  const reader = new WireReader(rdata, { pointers: false });
  return { next: keyOf(reader.name()), types: typesOf(reader.rest()) };
}

/** Every name with signatures has one NSEC that names its types, and each leads to the next name, the last to the first. */
function assertChain(sets: readonly AnswerSet[]): void {
  const nsecs = sets.filter(isType(TYPE.NSEC));
  const owners = nsecs.map(({ name }) => keyOf(name));
  assert.deepEqual(owners, owners.toSorted(compareCanonical));
  assert.equal(new Set(owners).size, owners.length);
  assert.equal(formatName(nameOfKey(owners[0] as NameKey)), "example.com");
  for (const [i, { rdatas }] of nsecs.entries()) {
    const owner = owners[i] as NameKey;
    const { next, types } = readNsec(rdatas[0] as Uint8Array);
    assert.equal(next, owners[(i + 1) % owners.length]);
    // Glue at the name of a delegation is not the zone's own (RFC 4035 §2.3).
    const own = at(sets, owner).filter(({ type, origin }) => origin !== undefined || type === TYPE.NS || type === TYPE.RRSIG);
    const present = [...new Set(own.map(({ type }) => type))];
    assert.deepEqual(
      types,
      present.toSorted((a, b) => a - b),
      formatName(nameOfKey(owner)),
    );
  }
  for (const { name } of sets.filter(isType(TYPE.RRSIG))) assert.ok(owners.includes(keyOf(name)));
}

function assertSignatures(sets: readonly AnswerSet[]): void {
  const keys = sets.filter(isType(TYPE.DNSKEY)).flatMap(({ rdatas }) => rdatas);
  for (const set of sets.filter(({ type }) => type !== TYPE.RRSIG)) {
    const owner = keyOf(set.name);
    const rrsigs = at(sets, owner)
      .filter(isType(TYPE.RRSIG))
      .flatMap(({ rdatas }) => rdatas)
      .filter((rdata) => readRrsig(rdata).type === set.type);
    assert.equal(rrsigs.length > 0, set.origin !== undefined, `${formatName(set.name)} ${recordTypeByCode(set.type)?.name}`);
    for (const rrsig of rrsigs) assertSigned({ ...set, owner }, rrsig, keys, clock.nowMs() / 1000);
  }
}

test("RFC 4035 §2: a signed zone has an NSEC chain over its names and signatures over its authoritative data", () => {
  const sets = signed([
    ...BASE,
    recordOp(Z, "www.example.com", "A", "192.0.2.1", { proxied: true }),
    recordOp(Z, "a.ent.example.com", "TXT", '"x"'),
    recordOp(Z, "*.example.com", "MX", "10 www.example.com"),
    recordOp(Z, "child.example.com", "NS", "ns.child.example.com"),
    recordOp(Z, "child.example.com", "DS", `1 13 2 ${"00".repeat(32)}`),
    recordOp(Z, "ns.child.example.com", "A", "192.0.2.8"),
    recordOp(Z, "moved.example.com", "DNAME", "elsewhere.example"),
    recordOp(Z, "left.moved.example.com", "A", "192.0.2.9"),
  ]);
  assertChain(sets);
  assertSignatures(sets);
  assert.equal(sets[0]?.type, TYPE.SOA);
  assert.equal(sets.filter(isType(TYPE.SOA)).length, 1);
  const shown = (name: string): string[] =>
    at(sets, keyOf(parseAbsoluteName(name))).map(({ type, origin }) => `${recordTypeByCode(type)?.name}${origin ? " signed" : ""}`);
  assert.deepEqual(shown("child.example.com"), ["NS", "DS signed", "RRSIG", "NSEC signed", "RRSIG"]);
  assert.deepEqual(shown("ns.child.example.com"), ["A"]);
  assert.deepEqual(shown("ent.example.com"), []);
  // A zone with names below a DNAME is refused by some.
  assert.deepEqual(shown("left.moved.example.com"), []);
  const www = at(sets, keyOf(parseAbsoluteName("www.example.com")));
  assert.deepEqual(www[0]?.rdatas, EDGE.ipv4);
});

test("any number of names is returned in order, with pauses, and with the glue of a delegation to itself", () => {
  const hosts = Array.from({ length: 2500 }, (_, i) => recordOp(Z, `h${(i * 7919) % 2500}.example.com`, "A", "192.0.2.1"));
  const glue = [recordOp(Z, "child.example.com", "NS", "child.example.com"), recordOp(Z, "child.example.com", "A", "192.0.2.8")];
  const pauses: undefined[] = [];
  const sets = signed([...BASE, ...hosts, ...glue], [], pauses);
  assert.ok(pauses.length >= 2);
  assertChain(sets);
  assert.equal(sets.filter(isType(TYPE.A)).length, 2501);
  const child = at(sets, keyOf(parseAbsoluteName("child.example.com")));
  assert.deepEqual(
    child.map(({ type }) => type),
    [TYPE.NS, TYPE.A, TYPE.NSEC, TYPE.RRSIG],
  );
});

test("the signed zone has the current addresses of a flattened apex", () => {
  const address = { type: TYPE.A, ttl: 60, rdatas: [Buffer.of(192, 0, 2, 7)], proxied: false };
  const sets = signed([...BASE, recordOp(Z, "example.com", "CNAME", "elsewhere.example")], [address]);
  assertChain(sets);
  assertSignatures(sets);
  assert.ok(sets.some(({ type, rdatas }) => type === TYPE.A && rdatas[0] === address.rdatas[0]));
  assert.ok(!sets.some(isType(TYPE.CNAME)));
});

test("property: for random zones the NSEC chain is closed and canonical, and every signature is valid", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 25 }), (seed, names) => {
      const { lines } = randomZone(seededRandom(seed), "example.com.", names, ["away.example."]);
      const records = lines
        .filter(({ type, name }) => type !== "SOA" && !(type === "NS" && name === "example.com."))
        .map(({ name, type, content, ttl }) => recordOp(Z, name.slice(0, -1), type, content, { ttl }));
      const sets = signed([...BASE, ...records]);
      assertChain(sets);
      assertSignatures(sets);
    }),
    { numRuns: 40 },
  );
});

test("a zone without usable keys returns no data", () => {
  assert.throws(() => signed([...BASE, dnssecOp(Z, [])]), UnusableKeysError);
});

test("a second transfer signs only the changes: for an added name, its sets and two NSEC records", () => {
  const metrics = createMetrics();
  const { signatures } = createSigner({ edge: EDGE, clock, sealer: SEALER, metrics, log: () => {} });
  const zones = createZones();
  const replica = createMemoryReplica([
    ...BASE,
    ...["a", "c", "d", "e"].map((label) => recordOp(Z, `${label}.example.com`, "A", "192.0.2.1")),
  ]);
  replica.onApplied((ops) => void zones.apply(ops ?? []));
  zones.rebuild(replica.snapshot);
  let before = 0;
  const signedNow = (): number => {
    const zone = zones.nearestZone(keyOf(parseAbsoluteName("example.com")), null);
    assert.ok(zone);
    const sets = [...signedZone(zone, { edge: EDGE, signatures, addresses: () => [] })].filter((set) => set !== undefined);
    assertChain(sets);
    assertSignatures(sets);
    const made = metrics.samples().reduce((sum, { name, value }) => sum + (name === "selvedge_dns_signatures_total" ? value : 0), 0);
    const since = made - before;
    before = made;
    return since;
  };
  // SOA, NS, DNSKEY and four addresses; five names.
  assert.equal(signedNow(), 7 + 5);
  assert.equal(signedNow(), 0);
  replica.apply([recordOp(Z, "b.example.com", "A", "192.0.2.1")]);
  assert.equal(signedNow(), 1 + 2);
});
