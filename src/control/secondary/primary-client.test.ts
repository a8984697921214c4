import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { type Transfer, TransferError } from "#wire/dns/transfer-reader.ts";
import { startFakePrimary, zoneVersion } from "../../../test/support/fake-primary.ts";
import { createRecordBudget } from "./record-budget.ts";
import { connectPrimary, type PrimaryLimits } from "./primary-client.ts";
import { settled } from "../../../test/support/eventually.ts";

const NAME = "zone.example";
const lines = Array.from({ length: 20 }, (_, i) => `h${i}.${NAME} 300 TXT "text number ${i}"`);
const LIMITS: PrimaryLimits = { idleTimeoutMs: 60_000, totalTimeoutMs: 60_000, bytesMax: 100_000, recordsMax: 1_000 };

const budget = createRecordBudget(60);

const fetch = async (port: number, limits: PrimaryLimits = LIMITS, signal = new AbortController().signal): Promise<Transfer> => {
  const deps = { limits, budget, nowSeconds: () => 1_780_000_000 };
  const connection = await connectPrimary(deps, { address: "127.0.0.1", port, key: null }, parseAbsoluteName(NAME), signal);
  try {
    await connection.soa();
    return await connection.transfer(null);
  } finally {
    connection.close();
  }
};

const failing = (message: RegExp) => (error: unknown) => error instanceof TransferError && message.test(error.message);

test("whatever bytes a primary sends, the answer is a whole zone or an error with a reason", async (t) => {
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

test("bytes, records and time have an end", async (t) => {
  const primary = await startFakePrimary([zoneVersion(NAME, 5, lines)]);
  t.after(() => primary.close());
  const transfer = await fetch(primary.port);
  assert.equal(transfer.kind === "full" && transfer.records.length, 20);
  await assert.rejects(fetch(primary.port, { ...LIMITS, bytesMax: 500 }), failing(/longer than 500 bytes/));
  await assert.rejects(fetch(primary.port, { ...LIMITS, recordsMax: 21 }), failing(/more than 21 records/));
  const others = budget.lease();
  others.take(50);
  await assert.rejects(fetch(primary.port), failing(/hands full/));
  others.release();
  assert.ok(await fetch(primary.port), "what others have given back is there again");
  primary.tamper = (messages, type) => (type === 252 ? messages.slice(0, 2) : messages);
  await assert.rejects(fetch(primary.port, { ...LIMITS, idleTimeoutMs: 500 }), failing(/no answer within 0.5 s/));
  await assert.rejects(fetch(primary.port, { ...LIMITS, totalTimeoutMs: 700 }), failing(/not done within 0.7 s/));
  const stop = new AbortController();
  const stopped = assert.rejects(fetch(primary.port, LIMITS, stop.signal), failing(/the server stops/));
  await settled();
  stop.abort();
  await stopped;
});

test("a primary that is not there says so", async () => {
  const gone = await startFakePrimary([]);
  await gone.close();
  await assert.rejects(fetch(gone.port), failing(/nobody listens there/));
});
