import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createUploadMemory, type UploadBytes } from "./upload-memory.ts";

const MB = 1024 * 1024;

test("four files of an account have their full length, and files of many accounts fit into the memory together", () => {
  const memory = createUploadMemory(256 * MB);
  const held: UploadBytes[] = [];
  for (let n = 0; n < 4; n++) held.push(memory.take("one", 32 * MB)!);
  assert.deepEqual(
    held.map(({ bytes }) => bytes / MB),
    [32, 32, 32, 32],
  );
  for (let account = 0; account < 1_000; account++)
    for (let n = 0; n < 4; n++) held.push(memory.take(`a${account}`, 32 * MB) ?? { bytes: 0, shrink: () => {}, release: () => {} });
  assert.ok(held.reduce((sum, { bytes }) => sum + bytes, 0) <= 256 * MB);
  assert.equal(memory.take("late", 32 * MB), null);
  held.forEach(({ release }) => release());
  assert.equal(memory.take("late", 32 * MB)?.bytes, 32 * MB);
});

test("property: no more than the memory is held, and no account holds more than is free", () => {
  const step = fc.record({ account: fc.constantFrom("a", "b", "c"), bytes: fc.integer({ min: 1, max: 40 * MB }), ends: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const memory = createUploadMemory(64 * MB);
      const held: { account: string; bytes: number; lease: UploadBytes }[] = [];
      const sum = (account?: string): number =>
        held.reduce((total, file) => total + (account === undefined || file.account === account ? file.bytes : 0), 0);
      for (const { account, bytes, ends } of steps) {
        const lease = memory.take(account, bytes);
        if (lease !== null) {
          assert.ok(lease.bytes > 0 && lease.bytes <= bytes);
          held.push({ account, bytes: lease.bytes, lease });
          assert.ok(sum(account) <= 64 * MB - sum());
        }
        const [ended] = held.splice(ends, 1);
        if (bytes % 2 === 0) ended?.lease.shrink(ended.bytes >> 1);
        ended?.lease.release();
      }
    }),
  );
});
