import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { createAnswerVerifier, createTsigKey, signRequest, type TsigKey } from "#wire/dns/tsig.ts";
import { readTsig, TSIG_ERROR } from "#wire/dns/tsig-record.ts";
import { queryFor } from "../support/dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { rawConnection } from "../support/raw-connection.ts";
import { lineOf, readTransfer, transferOp, transferRequest, tsigEntry } from "../support/transfers.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";
import { NAMESERVER_LIMITS, type NameserverLimits } from "#nameserver/config.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

const Z = "zone1";
const ZONE = "example.com";
const TXT = 16;
const SECRET = Buffer.alloc(32, 9);
const KEY = createTsigKey("k.example", "hmac-sha256", SECRET);
const LOCAL = { ip: "127.0.0.1", port: 53, tsig: null };
const KEYED = { ip: "127.0.0.1", port: 53, tsig: tsigEntry("k1", "k.example", SECRET) };
const BASE: readonly Op[] = [zoneOp(Z, ZONE), serialOp(Z, 1)];
const nowSeconds = (): number => Math.floor(systemClock.nowMs() / 1000);

async function start(t: TestContext, ops: readonly Op[], limits: Partial<NameserverLimits> = {}) {
  const replica = createMemoryReplica(ops);
  const metrics = createMetrics();
  const config = nameserverConfig({ limits: { ...NAMESERVER_LIMITS, ...limits } });
  const nameserver = createNameserver({ replica, metrics, config, ...NAMESERVER_PARTS });
  const { tcp: port } = await nameserver.listen();
  t.after(() => nameserver.close(0));
  const count = (name: string): number => metrics.samples().reduce((sum, sample) => sum + (sample.name === name ? sample.value : 0), 0);
  /** Waits until the number is as expected; the test's own time limit is the bound. */
  const becomes = async (name: string, value: number): Promise<void> => {
    while (count(name) !== value) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const connection = async () => {
    const made = await rawConnection(port);
    t.after(() => made.socket.destroy());
    return made;
  };
  return { replica, port, count, becomes, connection };
}

async function askUdp(t: TestContext, port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  socket.send(message, port, "127.0.0.1");
  const [answer] = (await once(socket, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [Buffer];
  return answer;
}

/** More than sockets hold between a server and a client that does not read. */
const HUGE: readonly Op[] = Array.from({ length: 4000 }, (_, i) => recordOp(Z, `h${i}.${ZONE}`, "TXT", `"${"x".repeat(255)}" `.repeat(15)));

test("a client that disconnects during a transfer ends it", { timeout: 300_000 }, async (t) => {
  const { count, becomes, connection } = await start(t, [...BASE, transferOp(Z, [LOCAL]), ...HUGE]);
  const { socket, send, next } = await connection();
  send(transferRequest(ZONE));
  assert.ok(await next());
  assert.equal(count("selvedge_dns_transfers_active"), 1);
  socket.destroy();
  await becomes("selvedge_dns_transfers_active", 0);
  assert.equal(count("selvedge_dns_transfers_total"), 1);
  // The next one gets all of it, and answers to other questions behind it.
  const second = await connection();
  second.send(transferRequest(ZONE));
  second.send(queryFor(ZONE, TYPE.SOA, 77));
  let records = 0;
  for (let message = await second.next(); message; message = await second.next()) {
    const { id, answers } = decodeMessage(message);
    if (id === 77) break;
    records += answers.length;
  }
  assert.equal(records, HUGE.length + 4);
  await becomes("selvedge_dns_transfers_total", 2);
});

test("a client that does not read its transfer is disconnected", { timeout: 300_000 }, async (t) => {
  const { becomes, connection, count } = await start(t, [...BASE, transferOp(Z, [LOCAL]), ...HUGE], { tcpIdleTimeoutMs: 1_000 });
  const { send, socket } = await connection();
  send(transferRequest(ZONE));
  socket.pause();
  await becomes("selvedge_dns_transfers_total", 1);
  assert.deepEqual([count("selvedge_dns_transfers_active"), count("selvedge_dns_tcp_connections")], [0, 0]);
});

test("a peer's setting decides whether a TCP transfer must be signed", { timeout: 300_000 }, async (t) => {
  const { connection, replica } = await start(t, [...BASE, transferOp(Z, [LOCAL]), recordOp(Z, `www.${ZONE}`, "A", "192.0.2.1")]);
  const answerTo = async (key: TsigKey | undefined): Promise<{ rcode: number; records: number }> => {
    const { send, next } = await connection();
    const signed = key && signRequest(transferRequest(ZONE), key, nowSeconds());
    send(signed?.bytes ?? transferRequest(ZONE));
    const message = (await next()) as Buffer;
    const verifier = key && signed && createAnswerVerifier(key, signed.mac, nowSeconds);
    const { flags, answers } = decodeMessage(message);
    if ((flags & 0xf) === 0) assert.equal(verifier?.accept(message) ?? null, null);
    return { rcode: flags & 0xf, records: answers.length };
  };
  assert.deepEqual(await answerTo(undefined), { rcode: RCODE.NOERROR, records: 5 });
  assert.deepEqual(await answerTo(KEY), { rcode: RCODE.NOTAUTH, records: 0 });
  replica.apply([transferOp(Z, [KEYED])]);
  assert.deepEqual(await answerTo(undefined), { rcode: RCODE.REFUSED, records: 0 });
  assert.deepEqual(await answerTo(KEY), { rcode: RCODE.NOERROR, records: 5 });
  assert.deepEqual(await answerTo(createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32))), { rcode: RCODE.NOTAUTH, records: 0 });
});

test("IXFR over UDP sends the differences if they fit, and otherwise the SOA record", { timeout: 300_000 }, async (t) => {
  const filling = Array.from({ length: 80 }, (_, i) => recordOp(Z, `host${i}.${ZONE}`, "A", "192.0.2.1"));
  const { port, replica } = await start(t, [...BASE, transferOp(Z, [LOCAL]), ...filling]);
  const asked = async (serial: number) => {
    const { flags, answers } = decodeMessage(await askUdp(t, port, transferRequest(ZONE, serial)));
    assert.equal(flags & FLAG.TC, 0);
    return { rcode: flags & 0xf, types: answers.map(({ type }) => type), lines: answers.map(lineOf) };
  };
  replica.apply([recordOp(Z, `new.${ZONE}`, "A", "192.0.2.2"), serialOp(Z, 2)]);
  assert.deepEqual((await asked(1)).types, [TYPE.SOA, TYPE.SOA, TYPE.SOA, TYPE.A, TYPE.SOA]);
  assert.deepEqual((await asked(2)).types, [TYPE.SOA]);
  const many = Array.from({ length: 30 }, (_, i) => recordOp(Z, `new${i}.${ZONE}`, "TXT", `"${"y".repeat(60)}"`));
  replica.apply([...many, serialOp(Z, 3)]);
  assert.deepEqual((await asked(1)).types, [TYPE.SOA]);
  assert.deepEqual((await asked(2)).lines, (await asked(3)).lines);
  // Unknown versions are for TCP, too.
  assert.deepEqual((await asked(0)).types, [TYPE.SOA]);
  replica.apply([transferOp(Z, [KEYED])]);
  assert.deepEqual(await asked(1), { rcode: RCODE.REFUSED, types: [], lines: [] });
});

test("other queries are answered with the TSIG key of the query, or with the TSIG error", { timeout: 300_000 }, async (t) => {
  const ops = [...BASE, transferOp(Z, [KEYED]), recordOp(Z, `big.${ZONE}`, "TXT", `"${"z".repeat(255)}" "${"z".repeat(170)}"`)];
  const { port } = await start(t, ops);
  const ask = async (key: TsigKey, now: number, question = queryFor(ZONE, TYPE.SOA, 5)) => {
    const request = signRequest(question, key, now);
    const answer = await askUdp(t, port, request.bytes);
    const fault = createAnswerVerifier(key, request.mac, () => now).accept(answer);
    return { fault, flags: decodeMessage(answer).flags, error: readTsig(answer)?.error, length: answer.length };
  };
  const good = await ask(KEY, nowSeconds());
  assert.deepEqual([good.fault, good.flags & 0xf, good.error], [null, RCODE.NOERROR, TSIG_ERROR.NONE]);
  const stranger = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32));
  const cases = [
    [createTsigKey("other.example", "hmac-sha256", SECRET), nowSeconds(), "peer_bad_key"],
    [createTsigKey("k.example", "hmac-sha512", SECRET), nowSeconds(), "peer_bad_key"],
    [stranger, nowSeconds(), "peer_bad_signature"],
    [KEY, nowSeconds() - 1000, "peer_bad_time"],
  ] as const;
  for (const [key, now, fault] of cases) {
    const answer = await ask(key, now);
    assert.deepEqual([answer.fault, answer.flags & 0xf], [fault, RCODE.NOTAUTH]);
  }
  // An answer that fits without the signature does not fit with it: the client repeats it over TCP.
  const plain = await askUdp(t, port, queryFor(`big.${ZONE}`, TXT, 6));
  assert.ok(plain.length <= 512 && (decodeMessage(plain).flags & FLAG.TC) === 0);
  const cut = await ask(KEY, nowSeconds(), queryFor(`big.${ZONE}`, TXT, 6));
  assert.deepEqual([cut.fault, cut.flags & FLAG.TC], [null, FLAG.TC]);
  assert.ok(cut.length <= 512);
});

test("every message of a long transfer is signed", { timeout: 300_000 }, async (t) => {
  const { connection } = await start(t, [...BASE, transferOp(Z, [KEYED]), ...HUGE.slice(0, 50)]);
  const { send, next } = await connection();
  const request = signRequest(transferRequest(ZONE), KEY, nowSeconds());
  send(request.bytes);
  const verifier = createAnswerVerifier(KEY, request.mac, nowSeconds);
  const messages: Buffer[] = [];
  let soas = 0;
  while (soas < 2) {
    const message = (await next()) as Buffer;
    assert.deepEqual([verifier.accept(message), verifier.settled], [null, true]);
    soas += decodeMessage(message).answers.filter(({ type }) => type === TYPE.SOA).length;
    messages.push(message);
  }
  assert.ok(messages.length > 5);
  assert.equal(readTransfer(ZONE, undefined, { next: () => undefined, close: () => {} }, messages).kind, "full");
});
