import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMetrics } from "#kernel/metrics.ts";
import { NAMESERVER_LIMITS } from "#nameserver/config.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { FLAG } from "#wire/dns/codes.ts";
import { decodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import { askTcp, queryFor } from "../support/dns-client.ts";
import { startKnot, startNsd } from "../support/peer-nameservers.ts";
import { NS_TTL, nameServersOf, pick, type Random, randomZone, seededRandom, SOA, type TestZone, zoneText } from "../support/random-zone.ts";
import { toolOrSkip } from "../support/tools.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// The same random zones in our nameserver, Knot DNS and NSD, and the same random questions to all three. Where those
// two differ from each other either will do; where they agree, so must we.

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
  return [{ ...one, lines: [...one.lines, ...cut, glue] }, two, child];
}

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
    const text = pick(random, [known, known, known, `q.${known}`, `a.${known}`, `*.${known}`, `x.y.${known}`, `${"l".repeat(63)}.${known}`]);
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

interface Comparable {
  readonly head: string;
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  readonly additionals: readonly string[];
}

function comparable(bytes: Buffer): Comparable {
  const { flags, answers, authorities, additionals } = decodeMessage(bytes);
  return {
    head: `${flags & 0xf}${flags & FLAG.AA ? " aa" : ""}${flags & FLAG.TC ? " tc" : ""}`,
    answers: recordTexts(answers),
    authorities: recordTexts(authorities),
    additionals: recordTexts(additionals),
  };
}

const recordTexts = (records: readonly ResourceRecord[]): readonly string[] =>
  records
    .map(({ name, type, ttl, rdata }) => `${formatName(name)} ${ttl} ${type} ${Buffer.from(rdata).toString("latin1")}`.toLowerCase())
    .sort();

async function startOurs(t: TestContext, zones: readonly TestZone[]): Promise<{ readonly port: number }> {
  const config = { host: "127.0.0.1", port: 0, reusePort: false, edgeAddresses: [], limits: NAMESERVER_LIMITS };
  const replica = createMemoryReplica(zones.flatMap(zoneOps));
  const nameserver = createNameserver({ replica, metrics: createMetrics(), config });
  t.after(() => nameserver.close(100));
  return { port: (await nameserver.listen()).tcp };
}

for (const seed of (process.env["SEEDS"] ?? "1").split(",").map(Number)) {
  test(`the answers of Knot DNS and NSD are ours, seed ${seed}`, { skip: toolOrSkip("knotd") || toolOrSkip("nsd") }, async (t) => {
    const random = seededRandom(seed);
    const zones = randomZones(random);
    const directory = await mkdtemp(join(tmpdir(), "selvedge-peers-"));
    t.after(() => rm(directory, { recursive: true }));
    const texts = Object.fromEntries(zones.map((zone) => [zone.name, zoneText(zone, SERIAL)]));
    const knot = await startKnot(directory, texts);
    t.after(() => knot.stop());
    const nsd = await startNsd(directory, texts);
    t.after(() => nsd.stop());
    const ours = await startOurs(t, zones);

    const questions = randomQuestions(random, zones);
    const [mine, theirs, others] = await Promise.all([ours, knot, nsd].map(({ port }) => askTcp(port, questions)));
    let n = 0; let kn = 0;
    for (const [i, q] of questions.entries()) {
      const m = comparable(mine![i]!), k = comparable(theirs![i]!), s = comparable(others![i]!);
      const J = JSON.stringify;
      if (J(k) !== J(s)) kn++;
      if (J(m) === J(k) || J(m) === J(s)) continue;
      if (n++ < Number(process.env["SHOW"] ?? 3)) {
        const { questions: [qq] } = decodeMessage(q);
        console.log("Q", formatName(qq!.name), qq!.type, "\nours", m, "\nknot", k, "\nnsd", s);
      }
    }
    console.log({ n, kn });
    if (process.env["DUMP"]) console.log(Object.values(texts).join("\n"));
  });
}
