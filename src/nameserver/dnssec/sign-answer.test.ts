import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { formatName, isWithin, keyOf, nameOfKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { RECORD_TYPES, presentationText, recordTypeByCode, typeCode } from "#wire/dns/record-types.ts";
import { typesOf } from "#wire/dns/type-bitmap.ts";
import { WireReader } from "#wire/dns/wire-reader.ts";
import { assertSigned, readRrsig } from "../../../test/support/dnssec-verifier.ts";
import { SEALER } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { answer } from "#nameserver/answer/answer.ts";
import type { Answer, AnswerSet } from "#nameserver/answer/answer-rrset.ts";
import { createZones, type Zones } from "#nameserver/zones/zones.ts";
import type { SignedAnswer } from "./sign-answer.ts";
import { createSigner } from "./signer.ts";

const Z = "zone1";
const CLIENT = Buffer.of(198, 51, 100, 100);
const KEY = zoneKey("only");
const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };
const BASE: readonly Op[] = [
  zoneOp(Z, "example.com"),
  serialOp(Z, 7),
  dnssecOp(Z, [KEY]),
  recordOp(Z, "example.com", "MX", "10 mail.example.com"),
  recordOp(Z, "mail.example.com", "A", "192.0.2.25"),
  recordOp(Z, "mail.example.com", "TXT", '"post"'),
  recordOp(Z, "a.deep.ent.example.com", "A", "192.0.2.3"),
  recordOp(Z, "*.wild.example.com", "TXT", '"any"'),
  recordOp(Z, "alias.example.com", "CNAME", "gone.example.com"),
  recordOp(Z, "proxied.example.com", "A", "192.0.2.9", { proxied: true }),
  recordOp(Z, "insecure.example.com", "NS", "ns.insecure.example.com"),
  recordOp(Z, "ns.insecure.example.com", "A", "192.0.2.8"),
  recordOp(Z, "secure.example.com", "NS", "ns.elsewhere.example"),
  recordOp(Z, "secure.example.com", "DS", "60485 13 2 d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a"),
];

interface Setup {
  readonly clock: FixedClock;
  readonly zones: Zones;
  ask(name: string, type: string, options?: { compactOk?: boolean; transport?: "udp" | "tcp" }): SignedAnswer;
  count(kind: string): number;
}

function setUp(ops: readonly Op[] = BASE): Setup {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const clock = fixedClock("2026-11-20T12:00:00Z");
  const metrics = createMetrics();
  const { signAnswer } = createSigner({ edge: EDGE, clock, metrics, sealer: SEALER, log: () => {} });
  return {
    clock,
    zones,
    ask: (name, type, { compactOk = false, transport = "udp" } = {}) => {
      const code = type === "ANY" ? TYPE.ANY : (typeCode(type) as number);
      const found = answer(zones, EDGE, { name: parseAbsoluteName(name), type: code });
      return signAnswer(found, { type: code, client: { address: CLIENT, isProven: transport === "tcp" }, compactOk });
    },
    count: (kind) =>
      metrics.samples().find(({ name, labels }) => name === "selvedge_dns_signatures_total" && labels["kind"] === kind)?.value ?? 0,
  };
}

function signedAnswer(found: SignedAnswer): Answer {
  assert.equal(found.kind, "signed");
  return (found as Extract<SignedAnswer, { kind: "signed" }>).answer;
}

const typeName = (type: number): string => recordTypeByCode(type)?.name ?? `TYPE${type}`;

/** `section name type text`, of signatures only what they cover. */
function lines(found: Answer): string[] {
  const show = (section: string, sets: readonly AnswerSet[]): string[] =>
    sets.flatMap(({ name, type, rdatas }) =>
      rdatas.map((rdata) => {
        const text = type === TYPE.RRSIG ? typeName(readRrsig(rdata).type) : presentationText(typeName(type), rdata);
        return `${section} ${formatName(name)} ${typeName(type)} ${text}`;
      }),
    );
  return [...show("an", found.answers), ...show("ns", found.authorities), ...show("ad", found.additionals)].filter(
    (line) => !line.includes(" SOA ns1."),
  );
}

/** Every set that a zone with keys stands behind has a signature beside it, and every signature holds. */
function assertAllSigned(found: Answer, zones: Zones, nowMs: number): void {
  const sets = [...found.answers, ...found.authorities, ...found.additionals];
  for (const set of sets) {
    if (set.type === TYPE.RRSIG || set.origin?.zone.dnssec === undefined) continue;
    const keys = set.origin.zone.apex.get(TYPE.DNSKEY)?.rdatas ?? [];
    const rrsigs = sets
      .filter(({ type, name }) => type === TYPE.RRSIG && keyOf(name) === keyOf(set.name))
      .flatMap(({ rdatas }) => rdatas)
      .filter((rdata) => readRrsig(rdata).type === set.type);
    assert.ok(rrsigs.length > 0, `no signature over ${formatName(set.name)} ${typeName(set.type)}`);
    for (const rrsig of rrsigs) assertSigned({ ...set, owner: keyOf(set.name) }, rrsig, keys, nowMs / 1000);
  }
  assert.ok(
    found.glue.every((set) => set.type !== TYPE.RRSIG),
    "glue is nobody's to sign",
  );
  assert.equal(found.authorities.filter((set) => set.type === TYPE.NS && set.origin !== undefined).length, 0);
  assert.ok(zones.zoneCount > 0);
}

test("a positive answer has a signature for each RRset, also in the additional section", () => {
  const { ask, zones, clock } = setUp();
  const found = signedAnswer(ask("example.com", "MX"));
  assert.deepEqual(lines(found), [
    "an example.com MX 10 mail.example.com.",
    "an example.com RRSIG MX",
    "ad mail.example.com A 192.0.2.25",
    "ad mail.example.com RRSIG A",
  ]);
  assertAllSigned(found, zones, clock.nowMs());
  const proxied = signedAnswer(ask("proxied.example.com", "A"));
  assert.deepEqual(lines(proxied), ["an proxied.example.com A 203.0.113.1", "an proxied.example.com RRSIG A"]);
  assertAllSigned(proxied, zones, clock.nowMs());
  assert.deepEqual(lines(signedAnswer(ask("example.com", "ANY"))), ['an example.com HINFO "RFC8482" ""', "an example.com RRSIG HINFO"]);
});

test("RFC 9824: a denied name gets NODATA, or NXDOMAIN if the client sets CO", () => {
  const { ask, zones, clock } = setUp();
  const absent = signedAnswer(ask("No.example.com", "A"));
  assert.equal(absent.rcode, RCODE.NOERROR);
  const proof = [
    "ns example.com RRSIG SOA",
    "ns No.example.com NSEC \\000.no.example.com. RRSIG NSEC TYPE128",
    "ns No.example.com RRSIG NSEC",
  ];
  assert.deepEqual(lines(absent), proof);
  assertAllSigned(absent, zones, clock.nowMs());
  const compact = signedAnswer(ask("No.example.com", "A", { compactOk: true }));
  assert.deepEqual([compact.rcode, lines(compact)], [RCODE.NXDOMAIN, proof]);
  const behindAlias = signedAnswer(ask("alias.example.com", "A"));
  assert.deepEqual(lines(behindAlias).slice(0, 2), ["an alias.example.com CNAME gone.example.com.", "an alias.example.com RRSIG CNAME"]);
  assert.ok(lines(behindAlias).includes("ns gone.example.com NSEC \\000.gone.example.com. RRSIG NSEC TYPE128"));
});

test("NSEC lists existing types: of data, empty non-terminals, wildcards, proxied names and zone cuts", () => {
  const { ask, zones, clock } = setUp();
  const nsec = (name: string, type: string): string | undefined => {
    const found = signedAnswer(ask(name, type));
    assertAllSigned(found, zones, clock.nowMs());
    return lines(found).flatMap((line) => / NSEC (\\.*)/.exec(line)?.[1] ?? [])[0];
  };
  assert.equal(nsec("mail.example.com", "AAAA"), "\\000.mail.example.com. A TXT RRSIG NSEC");
  assert.equal(nsec("ent.example.com", "A"), "\\000.ent.example.com. RRSIG NSEC");
  assert.equal(nsec("x.wild.example.com", "A"), "\\000.x.wild.example.com. TXT RRSIG NSEC");
  assert.equal(nsec("proxied.example.com", "TXT"), "\\000.proxied.example.com. A RRSIG NSEC");
  assert.equal(nsec("example.com", "A"), "\\000.example.com. NS SOA MX RRSIG NSEC DNSKEY");
  assert.equal(nsec("www.insecure.example.com", "A"), "\\000.insecure.example.com. NS RRSIG NSEC");
  assert.equal(nsec("insecure.example.com", "DS"), "\\000.insecure.example.com. NS RRSIG NSEC");
  assert.equal(nsec("secure.example.com", "A"), undefined);
  assert.deepEqual(
    lines(signedAnswer(ask("www.secure.example.com", "A"))).map((line) => line.slice(0, 30)),
    ["ns secure.example.com NS ns.el", "ns secure.example.com DS 60485", "ns secure.example.com RRSIG DS"],
  );
});

test("a zone below a signed one counts as separate, even without a delegation", () => {
  const below = [zoneOp("zone2", "below.example.com"), recordOp("zone2", "www.below.example.com", "A", "192.0.2.2")];
  const { ask, zones, clock } = setUp([...BASE, ...below]);
  const found = signedAnswer(ask("below.example.com", "DS"));
  assertAllSigned(found, zones, clock.nowMs());
  assert.ok(lines(found).includes("ns below.example.com NSEC \\000.below.example.com. NS RRSIG NSEC"), lines(found).join("\n"));
  assert.deepEqual(lines(signedAnswer(ask("www.below.example.com", "A"))), ["an www.below.example.com A 192.0.2.2"]);
  // If the parent is unsigned, the child answers for itself as before.
  const unsigned = setUp([...BASE.filter(({ kind }) => kind !== "dnssec"), ...below]);
  const soa = signedAnswer(unsigned.ask("below.example.com", "DS")).authorities[0];
  assert.equal(formatName(soa?.name ?? Buffer.of(0)), "below.example.com");
});

test("the NSEC record of a flattened name does not deny types that another query may find", () => {
  const flattened = { settings: { flatten_cname: true } };
  const { ask, zones, clock } = setUp([
    zoneOp(Z, "example.com"),
    dnssecOp(Z, [KEY]),
    recordOp(Z, "example.com", "CNAME", "elsewhere.example"),
    recordOp(Z, "www.example.com", "CNAME", "elsewhere.example", flattened),
    recordOp(Z, "edge.example.com", "CNAME", "elsewhere.example", { proxied: true }),
  ]);
  const bitmap = (name: string, type: string): string | undefined => {
    const found = signedAnswer(ask(name, type));
    assertAllSigned(found, zones, clock.nowMs());
    return lines(found).flatMap((line) => / NSEC \\\S+ (.*)/.exec(line)?.[1] ?? [])[0];
  };
  assert.equal(bitmap("example.com", "TXT"), "A NS SOA AAAA RRSIG NSEC DNSKEY");
  assert.equal(bitmap("example.com", "A"), "NS SOA AAAA RRSIG NSEC DNSKEY");
  assert.equal(bitmap("edge.example.com", "TXT"), "A RRSIG NSEC");
  // Asked for other types, the name is an alias.
  assert.match(bitmap("www.example.com", "AAAA") ?? "", /^A .*\bTXT\b.*\bHTTPS\b/);
  assert.doesNotMatch(bitmap("www.example.com", "AAAA") ?? "", /\b(?:AAAA|CNAME|NS|SOA)\b/);
  const soa = signedAnswer(ask("www.example.com", "AAAA")).authorities[0];
  assert.deepEqual(
    signedAnswer(ask("www.example.com", "AAAA")).authorities.map(({ ttl }) => ttl),
    [soa?.ttl, soa?.ttl, soa?.ttl, soa?.ttl],
  );
});

test("NSEC and RRSIG can be queried by name", () => {
  const { ask } = setUp();
  assert.deepEqual(lines(signedAnswer(ask("mail.example.com", "NSEC"))), [
    "an mail.example.com NSEC \\000.mail.example.com. A TXT RRSIG NSEC",
    "an mail.example.com RRSIG NSEC",
  ]);
  assert.deepEqual(lines(signedAnswer(ask("mail.example.com", "RRSIG"))), ["an mail.example.com RRSIG A"]);
});

test("during a rollover all active keys sign the zone, and published keys sign only the DNSKEY RRset", () => {
  const [old, next, last] = [zoneKey("old"), zoneKey("next"), zoneKey("last", { signsZone: false })];
  const { ask, zones, clock } = setUp([...BASE.filter(({ kind }) => kind !== "dnssec"), dnssecOp(Z, [old, next, last])]);
  const signatures = (type: string): number => {
    const found = signedAnswer(ask("example.com", type));
    assertAllSigned(found, zones, clock.nowMs());
    return found.answers.find((set) => set.type === TYPE.RRSIG)?.rdatas.length ?? 0;
  };
  assert.deepEqual([signatures("SOA"), signatures("DNSKEY")], [2, 3]);
});

test("an RRset is signed once, until it changes or its signature is old", () => {
  const { ask, zones, clock, count } = setUp();
  const rrsig = (): string => {
    const found = ask("mail.example.com", "A");
    assertAllSigned(signedAnswer(found), zones, clock.nowMs());
    return Buffer.from(signedAnswer(found).answers[1]?.rdatas[0] ?? []).toString("hex");
  };
  const first = rrsig();
  assert.equal(rrsig(), first);
  clock.advance(4 * 86_400_000);
  assert.equal(rrsig(), first);
  clock.advance(5 * 86_400_000);
  const second = rrsig();
  assert.notEqual(second, first);
  // A clock that is set back would have the signature begin in the future.
  clock.advance(-86_400_000);
  const third = rrsig();
  assert.notEqual(third, second);
  zones.apply([{ ...recordOp(Z, "mail.example.com", "A", "192.0.2.26"), before: undefined } as never]);
  assert.notEqual(rrsig(), third);
  assert.deepEqual([count("kept"), count("made")], [4, 0]);
});

test("queries for random names get only a network's share of new signatures, and existing names always get theirs", () => {
  const { ask, clock, count } = setUp();
  const flood = (transport: "udp" | "tcp"): number =>
    Array.from({ length: 2000 }, (_, i) => ask(`random-${transport}-${i}-${clock.nowMs()}.example.com`, "A", { transport })).filter(
      ({ kind }) => kind === "signed",
    ).length;
  // Two seconds' worth can be saved up, of which forged senders leave half.
  assert.equal(flood("udp"), 500);
  assert.equal(flood("tcp"), 500);
  assert.equal(flood("tcp"), 0);
  assert.equal(count("made"), 1000);
  assert.equal(ask("mail.example.com", "A").kind, "signed");
  assert.equal(ask("mail.example.com", "AAAA").kind, "signed");
  assert.equal(ask("www.insecure.example.com", "A").kind, "signed");
  assert.equal(ask("x.wild.example.com", "TXT").kind, "exhausted");
  clock.advance(2000);
  assert.equal(flood("udp"), 500);
});

test("a zone with unusable keys gives validating clients no answer", () => {
  const logged: string[] = [];
  const other = zoneKey("only", { sealer: { seal: (text, context) => SEALER.seal(text, `${context}!`) } });
  const swapped = { ...zoneKey("only"), public_key: KEY.public_key };
  for (const keys of [[other], [KEY, swapped], [], [zoneKey("only", { signsZone: false })]]) {
    const zones = createZones();
    zones.rebuild(createMemoryReplica([...BASE, dnssecOp(Z, keys)]).snapshot);
    const metrics = createMetrics();
    const log = (level: string, message: string): number => logged.push(`${level} ${message}`);
    const { signAnswer } = createSigner({ edge: EDGE, clock: fixedClock(0), metrics, sealer: SEALER, log });
    for (const name of ["mail.example.com", "no.example.com", "www.insecure.example.com"]) {
      const found = answer(zones, EDGE, { name: parseAbsoluteName(name), type: TYPE.A });
      assert.equal(signAnswer(found, { type: TYPE.A, client: { address: CLIENT, isProven: false }, compactOk: false }).kind, "unusable");
    }
    assert.equal(metrics.samples().find(({ name }) => name === "selvedge_dns_unusable_keys_total")?.value, 1);
  }
  assert.equal(logged.length, 4);
  assert.match(logged[0] ?? "", /^error a zone's signing keys are unusable/);
});

test("a zone that cannot be signed does not affect others", () => {
  const { ask } = setUp([
    ...BASE,
    recordOp(Z, "mx.example.com", "MX", "10 mail.example.net"),
    zoneOp("zone2", "example.net"),
    dnssecOp("zone2", []),
    recordOp("zone2", "mail.example.net", "A", "192.0.2.3"),
  ]);
  assert.deepEqual(lines(signedAnswer(ask("mx.example.com", "MX"))), [
    "an mx.example.com MX 10 mail.example.net.",
    "an mx.example.com RRSIG MX",
  ]);
  assert.equal(ask("mail.example.net", "A").kind, "unusable");
});

test("zones without keys get unsigned answers", () => {
  const { zones, ask } = setUp(BASE.filter(({ kind }) => kind !== "dnssec"));
  for (const name of ["mail.example.com", "no.example.com", "x.wild.example.com", "www.insecure.example.com"]) {
    const found = answer(zones, EDGE, { name: parseAbsoluteName(name), type: TYPE.A });
    assert.deepEqual(signedAnswer(ask(name, "A")), found);
  }
});

const NAMES = [
  "example.com",
  "a.example.com",
  "b.a.example.com",
  "*.example.com",
  "*.a.example.com",
  "c.example.com",
  "x.c.example.com",
  "y.x.c.example.com",
];
const CONTENTS: readonly (readonly [type: string, content: string])[] = [
  ["A", "192.0.2.1"],
  ["AAAA", "2001:db8::1"],
  ["TXT", '"text"'],
  ["MX", "10 A.example.com"],
  ["CNAME", "c.example.com"],
  ["NS", "ns.c.example.com"],
  ["DS", `1 13 2 ${"00".repeat(32)}`],
  ["SRV", "1 2 3 B.A.Example.com"],
];
const records = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...CONTENTS), fc.boolean()), { maxLength: 14 });

test("property: for random zones, every answer verifies and denied data does not exist", () => {
  const questions = fc.array(
    fc.tuple(
      fc.constantFrom(...NAMES, "z.example.com", "q.b.a.example.com", "w.y.x.c.example.com"),
      fc.constantFrom(...Object.keys(RECORD_TYPES), "ANY"),
    ),
    { minLength: 1, maxLength: 10 },
  );
  fc.assert(
    fc.property(records, questions, (rows, asked) => {
      const ops = rows.map(([name, [type, content], proxied]) =>
        recordOp(Z, name, type, content, { proxied: proxied && "A AAAA CNAME".includes(type) }),
      );
      const { ask, zones, clock } = setUp([zoneOp(Z, "example.com"), serialOp(Z, 1), dnssecOp(Z, [KEY], ["only"]), ...ops]);
      for (const [name, type] of asked) {
        const found = signedAnswer(ask(name, type));
        assertAllSigned(found, zones, clock.nowMs());
        for (const set of found.authorities.filter((one) => one.type === TYPE.NSEC)) assertTrue(set, zones);
        const negative = found.authorities.some((set) => set.type === TYPE.SOA);
        assert.equal(
          negative,
          found.authorities.some((set) => set.type === TYPE.NSEC) && !found.authorities.some((set) => set.type === TYPE.NS),
        );
      }
    }),
    { numRuns: 80 },
  );
});

/**
 * The types in an NSEC record's bitmap are there, and the others of the name are not. Addresses behind a hidden alias may
 * be there at another time, so that they may be said to be.
 */
function assertTrue({ name, rdatas, origin }: AnswerSet, zones: Zones): void {
  const reader = new WireReader(rdatas[0] as Uint8Array, { pointers: false });
  assert.ok(isWithin(keyOf(reader.name()), keyOf(name)));
  const types = typesOf(reader.rest());
  assert.ok(types.includes(TYPE.RRSIG) && types.includes(TYPE.NSEC));
  const hidesAlias = origin?.zone.nodes.get(origin.source)?.sets.has(TYPE.CNAME) === true && !types.includes(TYPE.CNAME);
  const isCut = types.includes(TYPE.NS) && keyOf(name) !== origin?.zone.key;
  for (const { code, name: type } of Object.values(RECORD_TYPES)) {
    if (type === "NSEC" || type === "RRSIG" || (isCut && type !== "DS")) continue;
    const found = answer(zones, EDGE, { name: nameOfKey(keyOf(name)), type: code });
    const there = found.answers.some((set) => set.type === code && keyOf(set.name) === keyOf(name));
    const maybe = hidesAlias && (code === TYPE.A || code === TYPE.AAAA);
    if (!there && maybe) continue;
    assert.equal(types.includes(code), there, `${formatName(name)} ${type}`);
  }
}
