import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type NodePlace, START } from "#events/rows/node-batch.ts";
import { fc } from "../../../test/support/property.ts";
import { fillDisk, smallDisk } from "../../../test/support/small-disk.ts";
import { createMemoryRecords } from "./memory-records.ts";
import { createSpool, type Spool, SpoolFullError } from "./spool.ts";
import { spoolRecords } from "./spool-records.ts";

function spoolOn(disk: string) {
  const said: boolean[] = [];
  const directory = join(disk, "spool");
  const damaged = (): void => assert.fail("no file is damaged");
  const open = (): Spool =>
    createSpool({
      directory,
      bytesMax: 1e9,
      segmentBytesMax: 4_000,
      memoryBytesMax: 100_000,
      damaged,
      short: (isShort) => void said.push(isShort),
    });
  return { directory, said, open };
}

const record = (i: number): Buffer => Buffer.from(`${i} `.padEnd(500, "x"));

/** Takes all that is there, as control does. */
function takeAll(spool: Spool, from: NodePlace, into: number[]): NodePlace {
  for (let place = from; ;) {
    const batch = spool.next(place, 2_000);
    if (batch === null) return place;
    for (const bytes of spoolRecords(batch.bytes)) into.push(Number.parseInt(Buffer.from(bytes).toString(), 10));
    place = batch.to;
    spool.release(place);
  }
}

test("while the disk is full rows wait in memory and are taken from there, each once and in order", (t) => {
  const disk = smallDisk(t, 1);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const { directory, said, open } = spoolOn(disk);
  let spool = open();
  const taken: number[] = [];
  let [next, place] = [0, START];
  const append = (count: number): void => {
    for (let i = 0; i < count; i++) spool.append([record(next++)]);
  };
  append(10);
  fillDisk(join(disk, "filler"));
  append(20);
  place = takeAll(spool, place, taken);
  append(20);
  place = takeAll(spool, place, taken);
  assert.equal(said[0], true, "rows were in memory");
  assert.ok(readdirSync(directory).length < 5, "files without records do not pile up");
  // The files on the disk say which numbers are used.
  spool.close();
  spool = open();
  fillDisk(join(disk, "filler"));
  append(5);
  assert.equal(said.at(-1), true);
  place = takeAll(spool, place, taken);
  rmSync(join(disk, "filler"));
  append(20);
  place = takeAll(spool, place, taken);
  append(5);
  place = takeAll(spool, place, taken);
  assert.deepEqual(
    taken,
    Array.from({ length: next }, (_, i) => i),
  );
  assert.equal(said.at(-1), false);
  assert.ok(spool.bytes() < 5_000);

  fillDisk(join(disk, "filler"));
  assert.throws(() => append(300), SpoolFullError);
  const kept = taken.length;
  place = takeAll(spool, place, taken);
  assert.ok(taken.length - kept > 150, "the memory for rows has a limit, and is free again");
  append(10);
  place = takeAll(spool, place, taken);
  assert.equal(taken.at(-1), next - 1);
});

test("property: records in memory are read whole from any place between two of them, and those before a place are forgotten", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }),
      fc.nat(20),
      fc.nat(200),
      (lengths, after, limit) => {
        const memory = createMemoryRecords(10_000);
        const parts = lengths.map((length, i) => Buffer.alloc(length, i + 1));
        const all = Buffer.concat(parts);
        for (const part of parts) assert.ok(memory.append(3, part));
        const at = parts.slice(0, after).reduce((sum, { length }) => sum + length, 0);
        const read = memory.read(3, at, limit);
        assert.deepEqual(read, all.subarray(at, at + read.length));
        assert.equal(read.length > 0, at < all.length);
        memory.release(3, at);
        assert.deepEqual(memory.read(3, at, Infinity), all.subarray(at));
        assert.ok(memory.append(3, Buffer.from("more")));
        assert.equal(memory.read(3, all.length, Infinity).toString(), "more");
        assert.equal(memory.append(3, Buffer.alloc(10_001)), false);
        memory.release(3, Infinity);
        assert.equal(memory.has(3), false);
        assert.ok(memory.append(3, Buffer.alloc(10_000)));
      },
    ),
  );
});
