import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { RowPacker } from "./row-packer.ts";
import { EVENT_TABLES } from "./schema.ts";
import { anyRow, unpacked } from "../../../test/support/event-rows.ts";

for (const table of EVENT_TABLES) {
  test(`property: rows of ${table} are unpacked unchanged, batch after batch`, () => {
    const batches = fc.array(fc.array(anyRow(table), { maxLength: 150 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(batches, (all) => {
        const packer = new RowPacker(table);
        for (const rows of all) {
          for (const row of rows) packer.push(row);
          assert.equal(packer.rows, rows.length);
          assert.deepEqual(unpacked(table, structuredClone(packer.take())) as unknown[], rows);
        }
      }),
      { numRuns: 30 },
    );
  });
}

test("a text that several rows share is sent once", () => {
  const packer = new RowPacker("dns_queries");
  const row = {
    at_ms: 1,
    account_id: "account",
    zone_id: "zone",
    query_name: "www.example.com",
    query_type: "A",
    response_code: "NOERROR",
    protocol: "udp",
    ip_version: 4,
    source_ip: "192.0.2.1",
    query_bytes: 30,
    response_bytes: 60,
    sample_interval: 1,
  };
  packer.push(row);
  packer.push({ ...row, query_name: "www.example.net" });
  packer.push({ ...row, query_name: "www.example.net" });
  const { texts, facets } = packer.take();
  assert.deepEqual(
    texts.map(({ text }) => text),
    ["www.example.comwww.example.net", "192.0.2.1"],
  );
  assert.deepEqual(
    facets.map((facet) => facet.texts),
    [
      ["account", "zone"],
      ["A", "NOERROR", "udp"],
    ],
  );
  for (const { combinations } of facets) assert.deepEqual([...combinations], [0, 0, 0]);
});
