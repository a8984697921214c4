import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, RCODE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Question } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { typeCode } from "#wire/dns/record-types.ts";
import { runClient } from "../support/client.ts";
import { questionText } from "../support/comparable-answers.ts";
import { askTcp } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { startNsd } from "../support/peer-nameservers.ts";
import { pick, type Random, randomZone, seededRandom } from "../support/random-zone.ts";
import { anchorText } from "../support/signed-server.ts";
import { toolOrSkip } from "../support/tools.ts";
import { startValidator } from "../support/validator.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../support/zone-keys.ts";

// Random zones, signed: nothing that Unbound finds here, or at an NSD that has fetched the zone, may fail to validate.

const ZONE = "random.test.";
const KEY = zoneKey("k");
const QUESTIONS = 250;
/** Not CNAME: Unbound holds for bogus what a DNAME makes of a name that is asked for by that type; delv does not. */
const TYPES = ["A", "AAAA", "TXT", "MX", "NS", "DS", "SOA", "HTTPS", "SRV", "DNSKEY", "TYPE65280"];
/** Unbound tells those who set it whether an answer is authentic (RFC 6840 §5.7), and what it could not validate to those who set CD. */
const BIT = { AD: 0x20, CD: 0x10 } as const;

/**
 * Names below a wildcard, which make it one without data: Unbound cannot follow the proof of that by a chain. Names below
 * one that sorts before the asterisk: NSD denies the wildcard by the wrong NSEC record.
 */
const BEYOND_PEERS = /\.(?:\*|\\000\\255)\./;

const skip = ["unbound", "nsd", "dig", "ldns-verify-zone"].map(toolOrSkip).find((reason) => reason !== false) ?? false;

function randomQuestions(random: Random, names: readonly string[]): readonly Question[] {
  return Array.from({ length: QUESTIONS }, () => {
    const known = pick(random, names);
    const text = pick(random, [known, known, `q.${known}`, `*.${known}`, `x.y.${known}`, `${"l".repeat(63)}.${known}`]);
    const name = parseAbsoluteName(random(4) === 0 ? text.slice(text.indexOf(".") + 1) : text);
    return { name, type: typeCode(pick(random, TYPES)) as number, class: CLASS.IN };
  });
}

async function ask(port: number, questions: readonly Question[], bit: number) {
  const queries = questions.map(
    (question, id) =>
      encodeMessage({ id, flags: FLAG.RD | bit, questions: [question], answers: [], authorities: [], additionals: [] }) as Buffer,
  );
  const responses: Buffer[] = [];
  // Unbound works at 32 questions of a connection at a time, and has been seen to close one that holds more.
  for (let at = 0; at < queries.length; at += 30) responses.push(...(await askTcp(port, queries.slice(at, at + 30), 30_000)));
  return responses.map((bytes) => {
    const { flags } = decodeMessage(bytes);
    return { rcode: flags & 0xf, authentic: (flags & BIT.AD) !== 0 };
  });
}

/** All data that can be found validates. Data outside the zone, on servers that do not exist, cannot. */
async function assertValid(t: TestContext, directory: string, served: number, questions: readonly Question[]): Promise<void> {
  const validator = await startValidator({
    directory,
    zones: { [ZONE]: [served], ".": [served] },
    anchor: anchorText(ZONE.slice(0, -1), KEY),
  });
  t.after(() => validator.stop());
  const validated = await ask(validator.port, questions, BIT.AD);
  const unchecked = await ask(validator.port, questions, BIT.CD);
  const wrong = questions.filter((_, i) => {
    const [mine, any] = [validated[i], unchecked[i]];
    return mine?.rcode === RCODE.SERVFAIL ? any?.rcode !== RCODE.SERVFAIL : mine?.authentic !== true;
  });
  assert.deepEqual(wrong.map(questionText), []);
  const found = validated.filter(({ authentic }) => authentic).length;
  assert.ok(found > QUESTIONS / 3, `only ${found} of ${QUESTIONS} questions could be answered`);
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`a random zone validates at our nameserver and at a secondary, seed ${seed}`, { skip }, async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "selvedge-random-"));
    const random = seededRandom(seed);
    const lines = randomZone(random, ZONE, 30, ["away.example."]).lines.filter(({ name }) => !BEYOND_PEERS.test(name));
    const records = lines.map(({ name, type, content, ttl }): Op => recordOp("z", name.slice(0, -1), type, content, { ttl }));
    const outgoing = { peers: [{ ip: "127.0.0.1", port: 53, tsig: null }], acl: [] };
    const replica = createMemoryReplica([
      zoneOp("z", ZONE.slice(0, -1)),
      serialOp("z", 1),
      dnssecOp("z", [KEY], ["k"]),
      { kind: "transfer", id: "z", value: { outgoing, incoming: null } },
      ...records,
    ]);
    const nameserver = createNameserver({ ...NAMESERVER_PARTS, replica, metrics: createMetrics(), config: nameserverConfig() });
    const { tcp } = await nameserver.listen();
    t.after(async () => {
      await nameserver.close(100);
      await rm(directory, { recursive: true, force: true });
    });

    const questions = randomQuestions(random, [ZONE, ...lines.map(({ name }) => name)]);
    await assertValid(t, directory, tcp, questions);

    const text = await runClient("dig", ["@127.0.0.1", "-p", String(tcp), "+onesoa", "+nocomments", "+nocmd", "+nostats", ZONE, "AXFR"]);
    await Promise.all([writeFile(join(directory, "zone"), text), writeFile(join(directory, "anchor"), anchorText(ZONE.slice(0, -1), KEY))]);
    const verified = await runClient("ldns-verify-zone", ["-k", join(directory, "anchor"), join(directory, "zone")]);
    assert.match(verified, /Zone is verified and complete/);
    const nsd = await startNsd(directory, { [ZONE]: text });
    t.after(() => nsd.stop());
    await assertValid(t, directory, nsd.port, questions);
  });
}
