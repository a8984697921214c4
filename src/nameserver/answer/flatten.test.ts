import assert from "node:assert/strict";
import { test } from "node:test";
import type { Op, RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { describe, recordTypeByCode, typeCode } from "#wire/dns/record-types.ts";
import { pick, randomZone, seededRandom } from "../../../test/support/random-zone.ts";
import { recordOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { answer } from "./answer.ts";
import type { Answer } from "./answer-rrset.ts";
import type { FindExternal, ExternalRRset } from "#nameserver/external/external-names.ts";
import { wholeZone } from "#nameserver/transfers/transfer-records.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [Buffer.from("20010db8000000000000000000000001", "hex")] };
const Z = "zone1";
const ELSEWHERE = "www.elsewhere.example";

/** Known data of external names, by name; other names have not been looked up. */
type Known = Readonly<Record<string, Partial<ExternalRRset>>>;

const finderOf =
  (known: Known): FindExternal =>
  (name, type) => {
    const set = known[formatName(name)];
    return set && { rdatas: type === TYPE.A ? [Buffer.of(198, 51, 100, 7)] : [], ttl: 240, state: "good", keepMs: 200_000, ...set };
  };

function find(ops: readonly Op[], name: string, type: string, known: Known = {}): Answer {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  return answer(zones, EDGE, { name: parseAbsoluteName(name), type: typeCode(type) as number }, finderOf(known));
}

/** The code, the answers, and for how long it is said that there is nothing. */
function ask(ops: readonly Op[], name: string, type: string, known: Known = {}): string[] {
  const found = find(ops, name, type, known);
  const lines = found.answers.flatMap((set) =>
    set.rdatas.map((rdata) => {
      const row = recordTypeByCode(set.type)?.name ?? "";
      return `${formatName(set.name)} ${set.ttl} ${row} ${describe(row, rdata).content}`;
    }),
  );
  const code = Object.entries(RCODE).find(([, value]) => value === found.rcode)?.[0] ?? "";
  return [code, ...lines, ...found.authorities.map(({ ttl }) => `nothing for ${ttl}`)];
}

const zone = (change: Partial<ZoneEntry> = {}): Op => zoneOp(Z, "example.com", change);
const cname = (name: string, target: string, change: Partial<RecordEntry> = {}): Op =>
  recordOp(Z, name === "@" ? "example.com" : `${name}.example.com`, "CNAME", target, change);
const FLATTEN = { settings: { flatten_cname: true } };
const KNOWN: Known = { [ELSEWHERE]: {} };
const HOST = recordOp(Z, "host.example.com", "A", "192.0.2.1", { ttl: 120 });

test("aliases to external names are flattened at the apex, and elsewhere if the zone or the record says so", () => {
  const rows: readonly (readonly [name: string, ops: readonly Op[]])[] = [
    ["example.com", [zone(), cname("@", ELSEWHERE)]],
    ["www.example.com", [zone({ flatten_all_cnames: true }), cname("www", ELSEWHERE)]],
    ["www.example.com", [zone(), cname("www", ELSEWHERE, FLATTEN)]],
    ["x.wild.example.com", [zone(), cname("*.wild", ELSEWHERE, FLATTEN)]],
  ];
  for (const [name, ops] of rows) {
    assert.deepEqual(ask(ops, name, "A", KNOWN), ["NOERROR", `${name} 240 A 198.51.100.7`], name);
    assert.deepEqual(ask(ops, name, "AAAA", KNOWN), ["NOERROR", "nothing for 240"], name);
    assert.deepEqual(ask(ops, name, "CNAME", KNOWN), ["NOERROR", "nothing for 1800"], name);
  }
  assert.deepEqual(ask([zone(), cname("www", ELSEWHERE)], "www.example.com", "A", KNOWN), [
    "NOERROR",
    `www.example.com 600 CNAME ${ELSEWHERE}`,
  ]);
  // Other types are there to be found, such as keys under a flattened name.
  assert.deepEqual(ask([zone(), cname("dkim", ELSEWHERE, FLATTEN)], "dkim.example.com", "TXT", KNOWN), [
    "NOERROR",
    `dkim.example.com 600 CNAME ${ELSEWHERE}`,
  ]);
});

test("a flattened answer has the lowest TTL of the chain", () => {
  const ops = [zone(), cname("@", "hop.example.com", { ttl: 500 }), cname("hop", ELSEWHERE, { ttl: 90 })];
  assert.deepEqual(ask(ops, "example.com", "A", KNOWN), ["NOERROR", "example.com 90 A 198.51.100.7"]);
  assert.deepEqual(
    ask([zone(), cname("@", ELSEWHERE, { ttl: 500 })], "example.com", "A", { [ELSEWHERE]: { ttl: 60 } })[1],
    "example.com 60 A 198.51.100.7",
  );
});

test("within a zone an alias is replaced by addresses, if any exist", () => {
  const ops = [zone(), HOST, cname("a", "b.example.com"), cname("b", "host.example.com", { ttl: 60 }), cname("gone", "no.example.com")];
  assert.deepEqual(ask(ops, "a.example.com", "A"), ["NOERROR", "a.example.com 60 A 192.0.2.1"]);
  assert.deepEqual(ask(ops, "a.example.com", "CNAME"), ["NOERROR", "a.example.com 600 CNAME b.example.com"]);
  assert.equal(ask(ops, "a.example.com", "AAAA").length, 4);
  assert.deepEqual(ask(ops, "gone.example.com", "A"), ["NXDOMAIN", "gone.example.com 600 CNAME no.example.com", "nothing for 1800"]);
  // An alias that is flattened itself ends the chain within the zone.
  const onward = [zone(), cname("a", "b.example.com"), cname("b", ELSEWHERE, FLATTEN)];
  assert.deepEqual(ask(onward, "a.example.com", "A", KNOWN), ["NOERROR", "a.example.com 240 A 198.51.100.7"]);
  // A secondary answers as its primary does.
  assert.equal(ask([zone({ type: "secondary" }), HOST, cname("a", "host.example.com")], "a.example.com", "A").length, 3);
});

test("flattening reports a missing external name once for each type", () => {
  const { outside } = find([zone(), cname("@", ELSEWHERE)], "example.com", "AAAA");
  assert.deepEqual(
    outside?.missing.map(({ name, type }) => [formatName(name), type]),
    [[ELSEWHERE, TYPE.AAAA]],
  );
  assert.equal(find([zone(), cname("@", ELSEWHERE)], "example.com", "A", KNOWN).outside?.keepMs, 200_000);
  assert.equal(find([zone(), HOST, cname("@", "host.example.com")], "example.com", "A").outside, undefined);
});

test("a flattened answer from expired data has an extended error, and missing data gives a short negative answer (RFC 8914)", () => {
  const ops = [zone(), cname("@", ELSEWHERE)];
  const stale = { [ELSEWHERE]: { state: "stale", ttl: 30 } } as const;
  assert.deepEqual(ask(ops, "example.com", "A", stale), ["NOERROR", "example.com 30 A 198.51.100.7"]);
  assert.equal(find(ops, "example.com", "A", stale).outside?.extendedError, 3);
  const unknown = { [ELSEWHERE]: { state: "unknown", ttl: 30, rdatas: [] } } as const;
  assert.deepEqual(ask(ops, "example.com", "A", unknown), ["NOERROR", "nothing for 30"]);
  assert.equal(find(ops, "example.com", "A", unknown).outside?.extendedError, 22);
});

test("an alias whose external target leads back into our zones continues there, and a loop ends without data", () => {
  const back = { [ELSEWHERE]: { rdatas: [], ours: parseAbsoluteName("host.example.com") } };
  assert.deepEqual(ask([zone(), HOST, cname("@", ELSEWHERE)], "example.com", "A", back), ["NOERROR", "example.com 120 A 192.0.2.1"]);
  const circle = { [ELSEWHERE]: { rdatas: [], ours: parseAbsoluteName("example.com") } };
  assert.deepEqual(ask([zone(), cname("@", ELSEWHERE)], "example.com", "A", circle), ["NOERROR", "nothing for 240"]);
});

test("names below a zone cut count as external, and names below a DNAME move to its target", () => {
  const cut = [zone(), recordOp(Z, "sub.example.com", "NS", "ns.elsewhere.example"), cname("@", "www.sub.example.com")];
  assert.deepEqual(ask(cut, "example.com", "A", { "www.sub.example.com": {} }), ["NOERROR", "example.com 240 A 198.51.100.7"]);
  const moved = [zone(), recordOp(Z, "old.example.com", "DNAME", "elsewhere.example", { ttl: 70 }), cname("@", "www.old.example.com")];
  assert.deepEqual(ask(moved, "example.com", "A", KNOWN), ["NOERROR", "example.com 70 A 198.51.100.7"]);
});

test("SPEC 2.5: a secondary flattens at its apex only with secondary_overrides", () => {
  const ops = (secondary_overrides: boolean): readonly Op[] => [zone({ type: "secondary", secondary_overrides }), cname("@", ELSEWHERE)];
  assert.deepEqual(ask(ops(false), "example.com", "A", KNOWN), ["NOERROR", "nothing for 1800"]);
  assert.deepEqual(ask(ops(true), "example.com", "A", KNOWN), ["NOERROR", "example.com 240 A 198.51.100.7"]);
});

test("proxied names have the addresses that their settings allow", () => {
  const proxied = (settings: RecordEntry["settings"]): readonly Op[] => [
    zone(),
    recordOp(Z, "www.example.com", "A", "192.0.2.1", { proxied: true, ...(settings ? { settings } : {}) }),
  ];
  const families = (settings: RecordEntry["settings"]): number[] =>
    ["A", "AAAA"].map((type) => find(proxied(settings), "www.example.com", type).answers.length);
  assert.deepEqual(families(undefined), [1, 1]);
  assert.deepEqual(families({ ipv4_only: true }), [1, 0]);
  assert.deepEqual(families({ ipv6_only: true }), [0, 1]);
  assert.deepEqual(families({ ipv4_only: true, ipv6_only: true }), [1, 1]);
});

test("zone transfers send a flattened alias unchanged, and its addresses at the apex", () => {
  const zones = createZones();
  zones.rebuild(createMemoryReplica([zone({ flatten_all_cnames: true }), cname("@", ELSEWHERE), cname("www", ELSEWHERE)]).snapshot);
  const index = zones.nearestZone(keyOf(parseAbsoluteName("example.com")), null);
  assert.ok(index);
  const apex = [{ type: TYPE.A, ttl: 60, rdatas: [Buffer.of(198, 51, 100, 7)], proxied: false }];
  const sent = [...wholeZone(index, EDGE, () => apex)]
    .filter((record) => record !== undefined)
    .map(({ name, type }) => `${formatName(name)} ${recordTypeByCode(type)?.name}`);
  assert.deepEqual(new Set(sent), new Set(["example.com SOA", "example.com NS", "example.com A", "www.example.com CNAME"]));
});

test("property: for any zones and external answers, an answer ends and has no duplicates", () => {
  const random = seededRandom(7);
  for (let round = 0; round < 25; round++) {
    const { lines } = randomZone(random, "example.com.", 40, ["far.example.", "near.example."]);
    const ops = lines.map(({ name, type, content, ttl }) => {
      const owner = name.slice(0, -1).toLowerCase();
      return recordOp(Z, owner, type, content, { ttl, ...(type === "CNAME" && random(2) === 0 ? FLATTEN : {}) });
    });
    const zones = createZones();
    zones.rebuild(createMemoryReplica([zone({ flatten_all_cnames: round % 5 === 0 }), cname("@", "far.example"), ...ops]).snapshot);
    const names = [...lines.map(({ name }) => parseAbsoluteName(name)), parseAbsoluteName("far.example"), parseAbsoluteName("example.com")];
    const elsewhere: FindExternal = () =>
      [undefined, { ...NOTHING, ours: pick(random, names) }, { ...NOTHING, rdatas: [Buffer.alloc(4)] }][random(3)];
    for (const name of names) {
      const found = answer(zones, EDGE, { name, type: pick(random, [TYPE.A, TYPE.AAAA, TYPE.CNAME, TYPE.MX]) }, elsewhere);
      const sets = found.answers.map((set) => `${keyOf(set.name)} ${set.type}`);
      assert.ok(sets.length <= 34 && (found.outside?.missing.length ?? 0) <= 17);
      assert.equal(new Set(sets).size, sets.length);
      for (const { ttl, rdatas } of [...found.answers, ...found.authorities]) assert.ok(Number.isInteger(ttl) && rdatas.length > 0);
    }
  }
});

const NOTHING: ExternalRRset = { rdatas: [], ttl: 60, state: "good", keepMs: 1_000 };
