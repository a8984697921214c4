import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { CHUNK_BYTES, ChunkPool, chunkPool } from "./chunk-pool.ts";

/** Each stream of sixteen connections of eight waits for a client with the rest of 100 KB. */
const STREAMS = 128;
const CHUNKS = STREAMS * Math.ceil(102_400 / CHUNK_BYTES);

const takeAll = (pool: ChunkPool, count: number): readonly Buffer[] => Array.from({ length: count }, () => pool.take());
const giveAll = (pool: ChunkPool, buffers: readonly Buffer[]): void => buffers.forEach((buffer) => pool.give(buffer));

test("the waiting bytes of many large responses need no new buffers once the pool has grown", () => {
  const first = takeAll(chunkPool, CHUNKS);
  giveAll(chunkPool, first);
  const second = takeAll(chunkPool, CHUNKS);
  giveAll(chunkPool, second);
  // Not a comparison of sets: that compares their bytes when it fails.
  assert.equal(new Set([...first, ...second]).size, CHUNKS);
});

test("buffers that nobody used for an interval are given back, the others stay", async () => {
  const pool = new ChunkPool(64, { keptBytes: 128, spareBytesMax: 640, trimMs: 200 });
  const all = takeAll(pool, 12);
  giveAll(pool, all);
  const known = new Set(all);
  const held = (): number => {
    const taken = takeAll(pool, 12);
    giveAll(
      pool,
      taken.filter((buffer) => known.has(buffer)),
    );
    return taken.filter((buffer) => known.has(buffer)).length;
  };
  assert.equal(held(), 10);
  // Four are in use in each interval.
  const until = Date.now() + 900;
  while (Date.now() < until) {
    giveAll(pool, takeAll(pool, 4));
    await delay(20);
  }
  assert.equal(held(), 4);
  await delay(900);
  assert.equal(held(), 2);
});
