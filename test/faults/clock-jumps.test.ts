import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { createRateTable } from "#nameserver/limits/rate-limit.ts";
import { loadSystemSockets } from "#nameserver/listen/system-sockets.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, EDNS_FLAG, OPTION, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { assertSigned } from "../support/dnssec-verifier.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { keyRdata } from "../support/signed-server.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../support/zone-keys.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

// The machine's time is set while the nameserver serves: by a slip of the hand, or by the first answer of a time server.

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const JUMPS: readonly (readonly [what: string, ms: number])[] = [
  ["a year ahead", YEAR_MS],
  ["back again", -YEAR_MS],
  ["a day back", -DAY_MS],
  ["and forward", DAY_MS],
];

const KEY = zoneKey("k");
const PER_SECOND = 5;
const BURST = 30;
const TXT = 16;
const HEAD_BYTES = 4;
/** Client cookie, version, reserved, and then the time at which it was made (RFC 9018 §4). */
const COOKIE_TIME_AT = 12;

const state = (n: number): Op => recordOp("z", "state.example.com", "TXT", `"state ${n}"`);

/** Stands still between its jumps, so that nothing here depends on how busy the machine is; its monotonic scale never jumps. */
function jumpingClock(): Clock & { jump(ms: number): void } {
  let nowMs = Date.now();
  return {
    nowMs: () => nowMs,
    nowMicros: () => nowMs * 1000,
    monotonicMs: systemClock.monotonicMs,
    jump: (ms) => {
      nowMs += ms;
    },
  };
}

function question(name: string, type: number, cookie: Buffer, id = 0): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(OPTION.COOKIE, 0);
  head.writeUInt16BE(cookie.length, 2);
  const rdata = cookie.length === 0 ? cookie : Buffer.concat([head, cookie]);
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 1232, ttl: EDNS_FLAG.DO, rdata };
  const questions = [{ name: parseAbsoluteName(name), type, class: CLASS.IN }];
  return encodeMessage({ id, flags: 0, questions, answers: [], authorities: [], additionals: [opt] }) as Buffer;
}

const NO_COOKIE = Buffer.alloc(0);

async function startServer(t: TestContext) {
  const clock = jumpingClock();
  const replica = createMemoryReplica([
    zoneOp("z", "example.com"),
    serialOp("z", 1),
    dnssecOp("z", [KEY], [KEY.id]),
    recordOp("z", "www.example.com", "A", "192.0.2.1"),
    state(0),
  ]);
  const rateLimit = { perSecond: PER_SECOND, allPerSecond: 0, slip: 0, exempt: [], table: createRateTable() };
  const nameserver = createNameserver({
    ...NAMESERVER_PARTS,
    clock,
    replica,
    metrics: createMetrics(),
    config: nameserverConfig({ rateLimit }),
    sockets: await loadSystemSockets(),
  });
  const { udp: port } = await nameserver.listen();
  const socket = createSocket("udp4");
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  t.after(async () => {
    socket.close();
    await nameserver.close(100);
  });
  let markers = 0;

  const ask = async (message: Buffer): Promise<Message> => {
    const answered = once(socket, "message", { signal: AbortSignal.timeout(PATIENCE_MS) });
    socket.send(message);
    return decodeMessage(((await answered) as [Buffer])[0]);
  };
  /** How many of a burst of one question are answered; the answer to another one, whose cookie is known, tells the end. */
  const answeredOf = async (message: Buffer, known: Buffer): Promise<number> => {
    const marker = 1 + markers++;
    let answered = 0;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const overdue = setTimeout(() => reject(new Error("no answer")), PATIENCE_MS);
    const count = (answer: Buffer): void => (answer.readUInt16BE(0) === marker ? resolve() : void answered++);
    socket.on("message", count);
    for (let i = 0; i < BURST; i++) socket.send(message);
    socket.send(question("www.example.com", TXT, known, marker));
    await promise;
    clearTimeout(overdue);
    socket.off("message", count);
    return answered;
  };
  return { clock, replica, ask, answeredOf };
}

const cookieOf = ({ additionals }: Message): Buffer => Buffer.from(additionals.at(-1)?.rdata.subarray(HEAD_BYTES) ?? []);

/** Every set of the answer is signed, and the signatures hold now. */
function assertHolds({ answers, authorities }: Message, nowSeconds: number): void {
  const records = [...answers, ...authorities];
  const signatures = records.filter(({ type }) => type === TYPE.RRSIG);
  const sets = Map.groupBy(
    records.filter(({ type }) => type !== TYPE.RRSIG),
    ({ name, type }) => `${keyOf(name)} ${type}`,
  );
  assert.deepEqual([signatures.length, sets.size > 0], [sets.size, true]);
  for (const [first, ...more] of sets.values()) {
    assert.ok(first);
    const { name, type, ttl } = first;
    const rrsig = signatures.find((record) => keyOf(record.name) === keyOf(name) && Buffer.from(record.rdata).readUInt16BE(0) === type);
    assert.ok(rrsig, `no signature over type ${type}`);
    const rdatas = [first, ...more].map(({ rdata }) => rdata);
    assertSigned({ owner: keyOf(name), type, ttl, rdatas }, rrsig.rdata, [keyRdata(KEY)], nowSeconds);
  }
}

test("after a clock jump the nameserver serves the last acknowledged records, with signatures, cookies and limits of the new time", async (t) => {
  const { clock, replica, ask, answeredOf } = await startServer(t);
  let cookie: Buffer = Buffer.from("0123456789abcdef", "hex");
  let acknowledged = 0;

  const assertServes = async (): Promise<void> => {
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const renewed = cookieOf(await ask(question("www.example.com", TYPE.A, cookie)));
    const ageSeconds = nowSeconds - renewed.readUInt32BE(COOKIE_TIME_AT);
    assert.ok(ageSeconds >= 0 && ageSeconds < 60, `the cookie is of this time: ${ageSeconds} s old`);
    cookie = renewed;
    // From the kept answers, newly built ones, and the cache.
    for (let time = 0; time < 2; time++) {
      const { answers, ...rest } = await ask(question("state.example.com", TXT, cookie));
      assert.equal(Buffer.from(answers[0]?.rdata.subarray(1) ?? []).toString(), `state ${acknowledged}`);
      assertHolds({ answers, ...rest }, nowSeconds);
      for (const [name, type] of [
        ["www.example.com", TYPE.A],
        ["example.com", TYPE.DNSKEY],
        ["nothing.example.com", TYPE.A],
      ] as const)
        assertHolds(await ask(question(name, type, cookie)), nowSeconds);
    }
    const stranger = await answeredOf(question("www.example.com", TYPE.A, NO_COOKIE), cookie);
    assert.ok(stranger > 0 && stranger < BURST, `${stranger} answers without a cookie`);
    assert.equal(await answeredOf(question("www.example.com", TYPE.A, NO_COOKIE), cookie), 0, "the budget is spent");
    assert.equal(await answeredOf(question("www.example.com", TYPE.A, cookie), cookie), BURST, "the cookie is known");
  };

  await assertServes();
  for (const [what, ms] of JUMPS)
    await t.test(what, async () => {
      clock.jump(ms);
      await assertServes();
      const before = state(acknowledged++);
      replica.apply([{ ...before, value: null } as Op, state(acknowledged), serialOp("z", 1 + acknowledged)]);
      // So that budgets are whole again.
      clock.jump(20_000);
      await assertServes();
    });
});
