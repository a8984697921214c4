import assert from "node:assert/strict";
import { test } from "node:test";
import { SLOT_BYTES, bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { fc } from "../../../test/support/property.ts";
import { BufferUser, BufferPool } from "./shared-buffers.ts";
import { createRing, createRingReader, createRingWriter, type RingReader, type RingWriter } from "./ring.ts";

const calls = await loadSocketCalls();
const skip = calls === null && "koffi does not load here";
const LENGTH = SLOT_BYTES;
const PLACES = 32;

interface Lending {
  readonly lender: BufferPool;
  readonly writer: RingWriter;
  readonly reader: RingReader;
  /** Number of lent records among those that were read. */
  lent(): number;
}

function lending(ringBytes = 1024 * 1024): Lending {
  const lender = new BufferPool(calls!.placeIn);
  const ring = createRing(ringBytes);
  const borrower = new BufferUser(lender.memory);
  let lent = 0;
  const counted = Object.assign(Object.create(borrower) as BufferUser, {
    giveBack: (place: number, length: number) => {
      lent++;
      borrower.giveBack(place, length);
    },
  });
  const writer = createRingWriter(ring, { endsMax: 4, lender, wake: () => undefined });
  return { lender, writer, reader: createRingReader(ring, counted), lent: () => lent };
}

const count = (bits: number): number => bits.toString(2).replaceAll("0", "").length;
/** The last word of the memory has a bit for each free place. */
const free = ({ lender: { memory } }: Lending): number => count((new Int32Array(memory, memory.byteLength - 4, 1)[0] as number) >>> 0);

/** Reads like a socket: everything read before may be overwritten. */
function receive(fill: number): Buffer {
  const { buffer } = bufferSlots.forRead();
  buffer.fill(fill);
  buffer.writeUInt32LE(fill, LENGTH / 2);
  return buffer;
}

test("property: the detector reads shared and copied bytes as they were written, and every slot is returned", { skip }, () => {
  const range = fc.record({ start: fc.nat({ max: LENGTH }), end: fc.nat({ max: LENGTH }) });
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("receive" as const), ranges: fc.array(range, { maxLength: 3 }), text: fc.string() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("read" as const), bytesMax: fc.integer({ min: 1, max: 300_000 }) }) },
  );
  let lentInAll = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 90 }), fc.constantFrom(150_000, 3_000_000), (steps, ringBytes) => {
      const all = lending(ringBytes & -16);
      const written: string[] = [];
      const read: string[] = [];
      const digest = (bytes: Uint8Array): string =>
        `${bytes.length} ${Buffer.from(bytes)
          .toString("latin1")
          .replace(/(.)\1+/gs, "$1")}`;
      const take = (bytesMax: number): number =>
        all.reader.read(bytesMax, ({ job, text, bytes }) => void read.push(`${job} ${text} ${digest(bytes)}`));
      for (const [job, one] of steps.entries()) {
        if (one.kind === "read") take(one.bytesMax);
        else {
          const buffer = receive(job + 1);
          const text = Buffer.from(one.text).toString("latin1");
          for (const { start, end } of one.ranges) {
            if (start > end || !all.writer.write(job, 0, text, buffer, start, end, false)) continue;
            written.push(`${job} ${text} ${digest(buffer.subarray(start, end))}`);
          }
        }
      }
      take(Number.POSITIVE_INFINITY);
      assert.deepEqual(read, written);
      assert.ok(free(all) >= PLACES - 1);
      lentInAll += all.lent();
    }),
    { numRuns: 40 },
  );
  assert.ok(lentInAll > 0, "something was lent");
});

test("the pool shares each buffer once, from the second read on, and only for long reads", { skip }, () => {
  const all = lending();
  const write = (buffer: Buffer, length: number): number => {
    assert.ok(all.writer.write(1, 0, "", buffer, 0, length, false));
    const before = all.lent();
    all.reader.read(Number.POSITIVE_INFINITY, () => undefined);
    return all.lent() - before;
  };
  assert.equal(write(receive(1), LENGTH), 0, "where that was read, nothing can be lent");
  const second = receive(2);
  assert.equal(write(second, 1000), 0, "short");
  assert.equal(write(Buffer.alloc(LENGTH), LENGTH), 0, "what somebody else has");
  assert.equal(write(second, LENGTH), 1);
  assert.equal(write(second, LENGTH), 0, "again");
  assert.notEqual(receive(3), second);
  assert.equal(write(bufferSlots.current.buffer, LENGTH), 1);
});

test("if all slots or 4 MB are shared, the pool copies bytes until the detector returns slots", { skip }, () => {
  for (const [length, lent] of [
    [16 * 1024, PLACES - 1],
    [LENGTH, 8],
  ] as const) {
    const all = lending(16 * LENGTH);
    const count = lent + 6;
    for (let again = 0; again < 3; again++) {
      const before = all.lent();
      for (let i = 0; i < count; i++) assert.ok(all.writer.write(i + 1, 0, "", receive(i), 0, length, false));
      assert.equal(free(all), PLACES - 1 - lent);
      let read = 0;
      all.reader.read(Number.POSITIVE_INFINITY, ({ job, bytes }) => {
        read++;
        assert.ok(bytes.subarray(0, length / 2).every((byte) => byte === job - 1));
      });
      assert.equal(read, count);
      assert.equal(all.lent() - before, lent);
      assert.equal(free(all), PLACES - 1);
    }
  }
});

test("the pool takes unread slots back, except the one that sockets read into", { skip }, () => {
  const all = lending();
  for (let i = 0; i < 12; i++) all.writer.write(1, 0, "", receive(i), 0, LENGTH, false);
  assert.equal(free(all), PLACES - 9, "as many bytes as are lent at most");
  assert.equal(all.lender.canLend(bufferSlots.forRead().buffer, LENGTH), false);
  all.lender.takeBack();
  assert.equal(free(all), PLACES - 1);
  const { buffer } = bufferSlots.forRead();
  assert.ok(all.lender.canLend(buffer, LENGTH));
  all.lender.lend(LENGTH);
  assert.notEqual(bufferSlots.forRead().buffer, buffer);
});
