import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createRing, createRingReader, createRingWriter, LABELS_MAX } from "./ring.ts";

const RING_BYTES = 2048;
const ENDS_MAX = 4;

test("property: for any interleaving of writes and reads, the ring returns all records in order", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("write" as const),
      label: fc.nat({ max: LABELS_MAX - 1 }),
      text: fc.string({ maxLength: 200 }),
      bytes: fc.uint8Array({ maxLength: 700 }),
      isEnd: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("read" as const), bytesMax: fc.integer({ min: 1, max: 1500 }) }),
    fc.record({ kind: fc.constant("end" as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.constantFrom(64, 512, RING_BYTES), (steps, rewindBytes) => {
      const ring = createRing(RING_BYTES);
      const writer = createRingWriter(ring, { endsMax: ENDS_MAX, rewindBytes, wake: () => undefined });
      const reader = createRingReader(ring);
      const written: string[] = [];
      const read: string[] = [];
      const take = (bytesMax: number): number =>
        reader.read(
          bytesMax,
          ({ job, label, text, bytes, isEnd, isBroken }) =>
            void read.push(`${job} ${label} ${text} ${Buffer.from(bytes).toString("hex")} ${isEnd} ${isBroken}`),
        );
      let ends = 0;
      for (const [job, one] of steps.entries()) {
        if (one.kind === "read") take(one.bytesMax);
        else if (one.kind === "write") {
          const text = Buffer.from(one.text).toString("latin1");
          const room = writer.hasRoom(text.length + one.bytes.length);
          assert.equal(writer.write(job, one.label, text, one.bytes, 0, one.bytes.length, one.isEnd), room);
          if (!room) continue;
          written.push(`${job} ${one.label} ${text} ${Buffer.from(one.bytes).toString("hex")} ${one.isEnd} false`);
          ends = 0;
        } else if (ends < ENDS_MAX && written.length > 0) {
          // After every record, the ends of all open jobs have room.
          ends++;
          writer.end(job, job % 2 === 0 ? "whole" : "broken");
          written.push(`${job} 0   true ${job % 2 === 1}`);
        }
      }
      take(Number.POSITIVE_INFINITY);
      assert.deepEqual(read, written);
    }),
  );
});

test("more data than the ring's capacity passes through it as long as the reader reads", () => {
  const ring = createRing(RING_BYTES);
  const writer = createRingWriter(ring, { endsMax: ENDS_MAX, wake: () => undefined });
  const reader = createRingReader(ring);
  let sum = 0;
  for (let job = 0; job < 1000; job++) {
    assert.ok(writer.write(job, 0, "", Buffer.alloc(700, job), 0, 700, false));
    reader.read(1, ({ bytes }) => void (sum += bytes.every((byte) => byte === (job & 255)) ? 1 : 0));
  }
  assert.equal(sum, 1000);
});

test("a writer that has wrapped around can use the whole ring before the reader has wrapped around", () => {
  const ring = createRing(RING_BYTES);
  const writer = createRingWriter(ring, { endsMax: ENDS_MAX, rewindBytes: 256, wake: () => undefined });
  const reader = createRingReader(ring);
  const write = (job: number): boolean => writer.write(job, 0, "", Buffer.alloc(100, job), 0, 100, true);
  const read: number[] = [];
  const take = (): number => reader.read(Number.POSITIVE_INFINITY, ({ job }) => void read.push(job));
  const written: number[] = [];
  for (let turn = 0, job = 1; turn < 50; turn++) {
    let count = 0;
    for (; write(job); count++) written.push(job++);
    assert.ok(count >= 12, `${count} records had room in turn ${turn}`);
    take();
    for (let i = 0; i < (turn % 5) + 1; i++, job++) {
      assert.ok(write(job));
      written.push(job);
    }
    take();
  }
  assert.deepEqual(read, written);
});

test("the writer wakes a sleeping reader once, and never wakes one that is awake", () => {
  const ring = createRing(RING_BYTES);
  let woken = 0;
  const writer = createRingWriter(ring, { endsMax: ENDS_MAX, wake: () => void woken++ });
  const reader = createRingReader(ring);
  const write = (): void => assert.ok(writer.write(1, 0, "", Buffer.alloc(10), 0, 10, false));
  write();
  write();
  assert.equal(woken, 1, "nobody has read yet");
  assert.equal(reader.sleep(), false, "there is something to read");
  reader.read(Number.POSITIVE_INFINITY, () => undefined);
  write();
  assert.equal(woken, 1);
  reader.read(Number.POSITIVE_INFINITY, () => undefined);
  assert.equal(reader.sleep(), true);
  write();
  write();
  assert.equal(woken, 2);
});

test("the writer wakes a dozing reader once, when much waits, and never while the reader polls", () => {
  const ring = createRing(RING_BYTES);
  let woken = 0;
  const writer = createRingWriter(ring, { endsMax: ENDS_MAX, wake: () => void woken++ });
  const reader = createRingReader(ring);
  const write = (): void => assert.ok(writer.write(1, 0, "", Buffer.alloc(48), 0, 48, false));
  const wokenBy = (records: number): number => {
    const before = woken;
    for (let i = 0; i < records; i++) write();
    return woken - before;
  };
  reader.stir();
  for (let turn = 0; turn < 40; turn++) {
    reader.doze();
    assert.equal(wokenBy(2), 0, "128 bytes of 2,048");
    assert.equal(wokenBy(2), 1, "an eighth");
    assert.equal(wokenBy(4), 0, "it was told");
    reader.doze();
    reader.stir();
    assert.equal(wokenBy(4), 0, "it looks");
    reader.read(Number.POSITIVE_INFINITY, () => undefined);
  }
});
