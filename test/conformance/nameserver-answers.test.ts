import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type TestContext, test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, type Message, type ResourceRecord } from "#wire/dns/message.ts";
import { type DnsName, isWithin, keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import { comparable, type ComparableAnswer, flattened, questionText, recordLines, setsOf } from "../support/comparable-answers.ts";
import { askTcp, askUdp, queryFor } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { startKnot, startNsd } from "../support/peer-nameservers.ts";
import {
  NS_TTL,
  nameServersOf,
  pick,
  type Random,
  randomZone,
  seededRandom,
  SOA,
  type TestZone,
  zoneText,
} from "../support/random-zone.ts";
import { toolOrSkip } from "../support/tools.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { removeDirectory } from "../support/temporary.ts";

// The same random zones in our nameserver, Knot DNS and NSD, and the same random questions to all three. Where those
// two differ from each other either will do; where they agree, so must we. They flatten nothing, so that this is done to
// their answers here.

const SERIAL = 7;
const QUESTIONS = 3000;
const TYPES = ["A", "AAAA", "TXT", "MX", "SRV", "NS", "SOA", "CNAME", "DNAME", "DS", "HTTPS", "SVCB", "PTR", "CAA", "TYPE65280"] as const;

/** Two zones that point at each other, a child of the first whose parent is served too, and names nobody here knows. */
function randomZones(random: Random): readonly TestZone[] {
  const child = randomZone(random, "child.one.test.", 12, ["a.one.test.", "www.two.test.", "far.example."]);
  const two = randomZone(random, "two.test.", 15, ["a.one.test.", "b.child.one.test.", "far.example."]);
  const one = randomZone(random, "one.test.", 60, ["a.two.test.", "a.child.one.test.", "far.example."]);
  const cut = nameServersOf(child.name).map((content) => ({ name: child.name, ttl: 3600, type: "NS", content }));
  const glue = { name: `ns1.${child.name}`, ttl: 300, type: "A", content: "192.0.2.54" };
  return [{ ...one, lines: [...one.lines, ...cut, glue, ...CROWD] }, two, child];
}

/** Answers over 512 bytes: a delegation to many name servers, half of them below another one, and a long text. */
const CROWD = [
  ...Array.from({ length: 10 }, (_, i) => {
    const server = `server${i}.${i % 2 === 0 ? "crowd" : "next"}.one.test.`;
    return [
      { name: "crowd.one.test.", ttl: 300, type: "NS", content: server },
      { name: server, ttl: 300, type: "A", content: `192.0.2.${i}` },
      { name: server, ttl: 300, type: "AAAA", content: `2001:db8::${i}` },
    ];
  }).flat(),
  { name: "next.one.test.", ttl: 300, type: "NS", content: "server1.next.one.test." },
  { name: "text.one.test.", ttl: 300, type: "TXT", content: `"${"x".repeat(250)}" "${"y".repeat(250)}"` },
];

const bare = (name: string): string => name.replace(/\.$/, "");

function zoneOps({ name, lines }: TestZone): readonly Op[] {
  const servers = nameServersOf(name).map(bare);
  const soa = { ...SOA, mname: `ns1.${bare(name)}`, rname: `dns.${bare(name)}` };
  return [
    zoneOp(name, bare(name), { name_servers: servers, soa, ns_ttl: NS_TTL }),
    serialOp(name, SERIAL),
    ...lines.map((line) => recordOp(name, bare(line.name).toLowerCase(), line.type, line.content, { ttl: line.ttl })),
  ];
}

/** Names of the zones, names above and below them, and some of neither; their case is anything. */
function randomQuestions(random: Random, zones: readonly TestZone[]): readonly Buffer[] {
  const names = zones.flatMap(({ name, lines }) => [name, ...lines.map((line) => line.name)]);
  return Array.from({ length: QUESTIONS }, (_, id) => {
    const known = pick(random, names);
    const text = pick(random, [
      known,
      known,
      known,
      `q.${known}`,
      `a.${known}`,
      `*.${known}`,
      `x.y.${known}`,
      `${"l".repeat(63)}.${known}`,
    ]);
    const name = parseAbsoluteName(random(4) === 0 ? text.slice(text.indexOf(".") + 1) : text).map((byte, i, all) =>
      byte >= 0x61 && byte <= 0x7a && random(3) === 0 && isLetterOfLabel(all, i) ? byte - 0x20 : byte,
    );
    return queryFor(Buffer.from(name), typeCode(pick(random, TYPES)) as number, id);
  });
}

function isLetterOfLabel(name: Uint8Array, index: number): boolean {
  let at = 0;
  while (at < index) at += (name[at] as number) + 1;
  return at !== index;
}

async function startOurs(t: TestContext, zones: readonly TestZone[]): Promise<{ readonly port: number }> {
  const replica = createMemoryReplica(zones.flatMap(zoneOps));
  const deps = { metrics: createMetrics(), config: nameserverConfig(), ...NAMESERVER_PARTS };
  const nameserver = createNameserver({ replica, ...deps });
  t.after(() => nameserver.close(100));
  return { port: (await nameserver.listen()).tcp };
}

interface Servers {
  readonly ours: number;
  readonly knot: number;
  readonly nsd: number;
}

async function startAll(t: TestContext, zones: readonly TestZone[]): Promise<Servers> {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-peers-"));
  t.after(() => removeDirectory(directory));
  const texts = Object.fromEntries(zones.map((zone) => [zone.name, zoneText(zone, SERIAL)]));
  const [knot, nsd] = await Promise.all([startKnot(directory, texts), startNsd(directory, texts)]);
  t.after(() => Promise.all([knot.stop(), nsd.stop()]));
  return { ours: (await startOurs(t, zones)).port, knot: knot.port, nsd: nsd.port };
}

const SEEDS = [1, 2, 3, 4, 5] as const;

for (const seed of SEEDS) {
  test(`our nameserver answers like Knot DNS and NSD, seed ${seed}`, { skip: toolOrSkip("knotd") || toolOrSkip("nsd") }, async (t) => {
    const random = seededRandom(seed);
    const zones = randomZones(random);
    const ports = await startAll(t, zones);
    const questions = randomQuestions(random, zones);
    const [ours, knot, nsd] = await Promise.all([ports.ours, ports.knot, ports.nsd].map((port) => askTcp(port, questions)));
    const apexes = new Set(zones.map(({ name }) => keyOf(parseAbsoluteName(name))));

    const unlike: object[] = [];
    const added: ResourceRecord[] = [];
    const leftOut: ResourceRecord[] = [];
    for (const [i, question] of questions.entries()) {
      const [mine, one, other] = [ours, knot, nsd].map((responses) => (responses as readonly Buffer[])[i] as Buffer);
      const { questions: asked, flags, answers, additionals } = decodeMessage(mine as Buffer);
      assert.deepEqual(asked, decodeMessage(question).questions, "the question comes back as it was asked");
      const expected = [one, other].map((response) => required(flattened(decodeMessage(response as Buffer), apexes), apexes));
      if (!expected.some((answer) => isDeepStrictEqual(answer, required(decodeMessage(mine as Buffer), apexes))))
        unlike.push({ question: asked.map(questionText), mine: comparable(decodeMessage(mine as Buffer), apexes), expected });
      // An alias that leads to a delegated name has glue beside it.
      if ((flags & FLAG.AA) === 0 || required(decodeMessage(mine as Buffer), apexes).authorities.length > 0) continue;
      added.push(...additionals);
      if (isDeepStrictEqual(expected[0], required(decodeMessage(mine as Buffer), apexes)))
        leftOut.push(...without(decodeMessage(one as Buffer).additionals, [...additionals, ...answers]));
    }
    await assertWholeOrTruncated(ports.ours, questions, ours as readonly Buffer[]);
    assert.deepEqual(unlike.slice(0, 3), [], `${unlike.length} of ${questions.length} answers differ`);
    assert.ok(added.length > 0, "there is something to confirm");
    assert.deepEqual(await trueOf(ports.knot, added), recordLines(unique(added)), "what is added is what its owner has");
    assert.deepEqual(
      await trueOf(
        ports.knot,
        leftOut.filter(({ name }) => !isWildcard(name)),
      ),
      [],
      "whatever helps is added",
    );
  });
}

/**
 * Over UDP, in 512 bytes, an answer is what it is over TCP, or nothing but word that it did not fit: what a referral needs
 * is never left out (RFC 2181 §9, RFC 9471 §3.1).
 */
async function assertWholeOrTruncated(port: number, questions: readonly Buffer[], whole: readonly Buffer[]): Promise<void> {
  let truncated = 0;
  for (const [i, response] of (await askUdp(port, questions)).entries()) {
    const [short, long] = [decodeMessage(response), decodeMessage(whole[i] as Buffer)];
    assert.ok(response.length <= 512);
    if (short.flags & FLAG.TC) {
      truncated += 1;
      assert.ok((whole[i] as Buffer).length > 512);
      assert.equal(short.answers.length + short.authorities.length + short.additionals.length, 0);
      continue;
    }
    assert.deepEqual([short.answers, short.authorities], [long.answers, long.authorities]);
    const cuts = long.authorities.filter(({ type }) => type === TYPE.NS);
    const needed = long.additionals.filter(({ name }) => cuts.some((cut) => isWithin(keyOf(name), keyOf(cut.name))));
    assert.deepEqual(without(needed, short.additionals), []);
  }
  assert.ok(truncated > 0, "some answers do not fit");
}

/** Of additional records only glue has to be there (RFC 9471 §2). */
function required(response: Message, apexes: ReadonlySet<NameKey>): ComparableAnswer {
  const all = comparable(response, apexes);
  return all.head.includes("aa") ? { ...all, additionals: [] } : all;
}

/** The records that their owner answers with; glue is not among them. */
async function trueOf(port: number, records: readonly ResourceRecord[]): Promise<readonly string[]> {
  const sets = [...setsOf(unique(records)).values()];
  const questions = sets.map(({ name, records: [first] }, id) => queryFor(name, (first as ResourceRecord).type, id));
  const responses = await askTcp(port, questions);
  return sets
    .flatMap(({ records: claimed }, i) => {
      const { answers } = decodeMessage(responses[i] as Buffer);
      const lines = new Set(recordLines(answers));
      return recordLines(claimed).filter((line) => lines.has(line));
    })
    .sort();
}

/** Knot DNS names the wildcard itself where a target is covered by one, which helps nobody. */
const isWildcard = (name: DnsName): boolean => name[0] === 1 && name[1] === 0x2a;

const unique = (records: readonly ResourceRecord[]): readonly ResourceRecord[] => [
  ...new Map(records.map((record) => [recordLines([record])[0], record])).values(),
];

function without(records: readonly ResourceRecord[], others: readonly ResourceRecord[]): readonly ResourceRecord[] {
  const lines = new Set(recordLines(others));
  return records.filter((record) => !lines.has(recordLines([record])[0] as string));
}
