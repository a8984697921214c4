import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { createRecordPacker } from "./packed-record.ts";

test("the bytes of many records are in few buffers, and stay what they were, also if one record has more than a buffer takes", () => {
  const records = Array.from({ length: 10_000 }, (_, i) => ({
    name: parseAbsoluteName(`h${i}.example`),
    type: 16,
    class: 1,
    ttl: i,
    rdata: Buffer.alloc(i === 5_000 ? 65_535 : 4, i),
  }));
  const packed = records.map(createRecordPacker());
  for (const [i, { name, rdata, ...rest }] of packed.entries()) {
    const { name: before, rdata: data, ...others } = records[i]!;
    assert.ok(before.equals(name) && data.equals(rdata), `record ${i}`);
    assert.deepEqual(rest, others);
  }
  const buffers = new Set(packed.flatMap(({ name, rdata }) => [name.buffer, rdata.buffer]));
  assert.ok(buffers.size < 8, `${buffers.size} buffers`);
});
