import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { type AddressPolicy, createAddressPolicy } from "#kernel/net/address-policy.ts";
import { createOperatorPorts, sharedOperatorPorts } from "#kernel/net/operator-ports.ts";
import { fc } from "../../../test/support/property.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { type Transfer, TransferError } from "#wire/dns/transfer-reader.ts";
import { startFakePrimary, zoneVersion } from "../../../test/support/fake-primary.ts";
import { createRecordBudget, memoryOf } from "./record-budget.ts";
import { openMessageStream } from "./message-stream.ts";
import type { AheadMemory } from "./read-ahead.ts";
import { connectPrimary, type PrimaryLimits } from "./primary-client.ts";
import { settled } from "../../../test/support/eventually.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";

const NAME = "zone.example";
const lines = Array.from({ length: 20 }, (_, i) => `h${i}.${NAME} 300 TXT "text number ${i}"`);
const LIMITS: PrimaryLimits = { idleTimeoutMs: 60_000, totalTimeoutMs: 60_000, bytesMax: 100_000, recordsMax: 1_000 };

const TEXT = { name: Buffer.alloc(20), rdata: Buffer.alloc(20) };
const budget = createRecordBudget(60 * memoryOf([TEXT]));

const fetch = async (
  port: number,
  limits: PrimaryLimits = LIMITS,
  signal = new AbortController().signal,
  primaryAllowed: AddressPolicy = () => true,
): Promise<Transfer> => {
  const deps = { limits, budget, accountId: "account", primaryAllowed, nowSeconds: () => 1_780_000_000 };
  const connection = await connectPrimary(deps, { address: "127.0.0.1", port, key: null }, parseAbsoluteName(NAME), signal);
  try {
    await connection.soa();
    return await connection.transfer(null);
  } finally {
    connection.close();
  }
};

const failing = (message: RegExp) => (error: unknown) => error instanceof TransferError && message.test(error.message);

test("property: any bytes from a primary give a complete zone or an error with a reason", async (t) => {
  const primary = await startFakePrimary([zoneVersion(NAME, 5, lines)]);
  t.after(() => primary.close());
  const changes = fc.array(fc.record({ message: fc.nat(8), at: fc.nat(400), byte: fc.nat(255) }), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(changes, fc.boolean(), async (flips, cut) => {
    primary.tamper = (messages, type) => {
      const copies = messages.map((bytes) => Buffer.from(bytes));
      if (type !== 252) return copies;
      for (const { message, at, byte } of flips) {
        const bytes = copies[message % copies.length] as Buffer;
        bytes[at % bytes.length] = byte;
      }
      return cut ? [...copies.slice(0, -1), (copies.at(-1) as Buffer).subarray(0, -5)] : copies;
    };
    try {
      const transfer = await fetch(primary.port, { ...LIMITS, idleTimeoutMs: 40 });
      assert.equal(transfer.kind, "full");
      assert.equal(keyOf(transfer.soa.name), keyOf(parseAbsoluteName(NAME)));
      assert.ok(!cut, "the closing SOA was cut off");
    } catch (error) {
      assert.ok(error instanceof TransferError, String(error));
    }
  });
  await fc.assert(property, { numRuns: 30 });
});

/** Fetches whole zones from the port and counts the records that each tick reads. */
function countedTransfers(port: number) {
  const turns = itemsPerTurn();
  const ahead = { take: () => true, release: () => undefined };
  const counting = { lease: () => ({ take: (records: readonly unknown[]) => turns.add(records.length), ahead, release: () => undefined }) };
  const limits = { ...LIMITS, bytesMax: 10_000_000, recordsMax: 30_000 };
  const deps = { limits, budget: counting, accountId: "account", primaryAllowed: () => true, nowSeconds: () => 1_780_000_000 };
  const recordsOfOne = async (): Promise<number | false> => {
    const to = { address: "127.0.0.1", port, key: null };
    const connection = await connectPrimary(deps, to, parseAbsoluteName(NAME), new AbortController().signal);
    const transfer = await connection.transfer(null);
    connection.close();
    return transfer.kind === "full" && transfer.records.length;
  };
  return { turns, recordsOfOne };
}

test("one tick reads only a part of any amount of received data", async (t) => {
  const many = Array.from({ length: 20_000 }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`);
  const primary = await startFakePrimary([zoneVersion(NAME, 5, many)]);
  primary.recordsAtOnce = 100;
  t.after(() => primary.close());
  const { turns, recordsOfOne } = countedTransfers(primary.port);
  assert.equal(await recordsOfOne(), 20_000);
  assert.ok(turns.most() < 600, `${turns.most()} records in one turn`);
});

test("one tick reads a message of one of sixteen primaries that send at the same time", async (t) => {
  const many = Array.from({ length: 4_000 }, (_, i) => `h${i}.${NAME} 300 A 192.0.2.1`);
  const primary = await startFakePrimary([zoneVersion(NAME, 5, many)]);
  primary.recordsAtOnce = 1_000;
  t.after(() => primary.close());
  const { turns, recordsOfOne } = countedTransfers(primary.port);
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 16 }, recordsOfOne))), new Set([4_000]));
  // A tick that this test sees may have parts of two.
  assert.ok(turns.most() <= 2 * 1_001, `${turns.most()} records in one turn`);
});

test("a primary can send everything before the first byte is read, and a lack of memory only pauses it", async (t) => {
  const [messages, messageBytes] = [600, 0xffff];
  const sent = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const message = Buffer.alloc(2 + messageBytes);
    message.writeUInt16BE(messageBytes);
    for (let i = 1; i < messages; i++) socket.write(message);
    // Called once the system has taken all of it: far more than the buffers of two sockets have room for.
    socket.end(message, () => sent.resolve());
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const to = { address: "127.0.0.1", port: (server.address() as AddressInfo).port };
  const limits = { ...LIMITS, bytesMax: 100_000_000 };
  const read = async (ahead: AheadMemory, before: () => Promise<void>): Promise<number> => {
    const stream = await openMessageStream(to, limits, ahead, new AbortController().signal);
    await before();
    let bytes = 0;
    for (let i = 0; i < messages; i++) bytes += (await stream.next()).length;
    await assert.rejects(stream.next(), TransferError);
    stream.close();
    return bytes;
  };
  const lease = createRecordBudget(1).lease("account");
  assert.equal(await read(lease.ahead, () => sent.promise), messages * messageBytes);
  const refusing = { take: () => false, release: (bytes: number) => assert.equal(bytes, 0) };
  assert.equal(await read(refusing, async () => {}), messages * messageBytes);
});

test("bytes, records and time are limited", async (t) => {
  const primary = await startFakePrimary([zoneVersion(NAME, 5, lines)]);
  t.after(() => primary.close());
  const transfer = await fetch(primary.port);
  assert.equal(transfer.kind === "full" && transfer.records.length, 20);
  await assert.rejects(fetch(primary.port, { ...LIMITS, bytesMax: 500 }), failing(/longer than 500 bytes/));
  await assert.rejects(fetch(primary.port, { ...LIMITS, recordsMax: 21 }), failing(/more than 21 records/));
  const others = budget.lease("others");
  others.take(Array.from({ length: 40 }, () => TEXT));
  await assert.rejects(fetch(primary.port), failing(/busy with other transfers/));
  others.release();
  assert.ok(await fetch(primary.port), "what others have given back is there again");
  // Few records can be large.
  primary.versions = [zoneVersion(NAME, 6, [`big.${NAME} 300 TXT ${`"${"x".repeat(255)}" `.repeat(100)}`])];
  await assert.rejects(fetch(primary.port), failing(/larger than its memory/));
  primary.versions = [zoneVersion(NAME, 5, lines)];
  primary.tamper = (messages, type) => (type === 252 ? messages.slice(0, 2) : messages);
  await assert.rejects(fetch(primary.port, { ...LIMITS, idleTimeoutMs: 500 }), failing(/no response within 0.5 s/));
  await assert.rejects(fetch(primary.port, { ...LIMITS, totalTimeoutMs: 700 }), failing(/not complete within 0.7 s/));
  const stop = new AbortController();
  const stopped = assert.rejects(fetch(primary.port, LIMITS, stop.signal), failing(/the server is shutting down/));
  await settled();
  stop.abort();
  await stopped;
});

const SILENT = /^it sent no DNS response: nothing listens there, it uses another protocol, or it takes too long$/;

test("all unreachable targets in the private network give the same error", async (t) => {
  const soon: PrimaryLimits = { ...LIMITS, idleTimeoutMs: 300 };
  const gone = await startFakePrimary([]);
  await gone.close();
  await assert.rejects(fetch(gone.port, soon), failing(SILENT));
  const services: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.end(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
    (socket) => socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    (socket) => socket.write("\0\x05hello"),
    (socket) => socket.pause(),
  ];
  for (const serve of services) {
    const server = createServer((socket) => serve(socket.on("error", () => undefined)));
    t.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    await assert.rejects(fetch((server.address() as AddressInfo).port, soon), failing(SILENT), String(serve));
  }
});

test("no request is sent to a forbidden primary address", async (t) => {
  const primary = await startFakePrimary([zoneVersion(NAME, 5, lines)]);
  t.after(() => primary.close());
  const of = (listenHost: string, allow: readonly string[] = []): Promise<Transfer> =>
    fetch(primary.port, LIMITS, undefined, createAddressPolicy(listenHost, allow, undefined));
  await assert.rejects(of("0.0.0.0"), failing(/^this server sends no queries to its address \(dns\.primary_allow\)$/));
  assert.equal(primary.asked.length, 0);
  assert.equal((await of("127.0.0.1")).kind, "full");
  assert.equal((await of("0.0.0.0", ["127.0.0.0/8"])).kind, "full");
});

test("no request is sent to the operator's own listeners, whatever is allowed", async (t) => {
  const primary = await startFakePrimary([zoneVersion(NAME, 5, lines)]);
  t.after(() => primary.close());
  const shared = sharedOperatorPorts();
  const allowed = createAddressPolicy("127.0.0.1", ["127.0.0.0/8"], shared);
  assert.equal((await fetch(primary.port, LIMITS, undefined, allowed)).kind, "full");
  createOperatorPorts(shared).add(primary.port);
  const asked = primary.asked.length;
  await assert.rejects(fetch(primary.port, LIMITS, undefined, allowed), failing(/^this server sends no queries to its address/));
  assert.equal(primary.asked.length, asked);
});
