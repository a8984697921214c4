import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { CLASS, TYPE } from "./codes.ts";
import type { ResourceRecord } from "./message.ts";
import { keyOf, parseAbsoluteName } from "./name.ts";
import { encodeContent } from "./record-types.ts";
import { createTransferReader, type Transfer, TransferError, type TransferRequest } from "./transfer-reader.ts";

const ZONE = parseAbsoluteName("zone.example");

const soa = (serial: number, name = ZONE, server = "ns.zone.example"): ResourceRecord => ({
  name,
  type: TYPE.SOA,
  class: CLASS.IN,
  ttl: 3600,
  rdata: encodeContent("SOA", `${server}. who.zone.example. ${serial} 1 2 3 4`, { origin: "zone.example", style: "master" }),
});
const a = (host: string, last: number): ResourceRecord => ({
  name: parseAbsoluteName(host),
  type: TYPE.A,
  class: CLASS.IN,
  ttl: 300,
  rdata: Buffer.of(192, 0, 2, last),
});

const read = (records: readonly ResourceRecord[], request: Partial<TransferRequest> = {}): Transfer | undefined => {
  const reader = createTransferReader({ zone: keyOf(ZONE), serial: null, recordsMax: 1000, ...request });
  for (const record of records) reader.take(record);
  reader.endMessage();
  return reader.transfer;
};
const refused = (records: readonly ResourceRecord[], request: Partial<TransferRequest>, message: RegExp): void =>
  void assert.throws(
    () => read(records, request),
    (error) => error instanceof TransferError && message.test(error.message),
  );

const [one, two, three] = [a("one.zone.example", 1), a("two.zone.example", 2), a("three.zone.example", 3)] as const;

test("a whole zone lies between two equal SOA records, for AXFR and IXFR requests alike", () => {
  for (const serial of [null, 4]) {
    const transfer = read([soa(5), one, two, soa(5)], { serial });
    assert.deepEqual(transfer, { kind: "full", soa: soa(5), records: [one, two] });
    assert.deepEqual(read([soa(5), soa(5)], { serial }), { kind: "full", soa: soa(5), records: [] });
    assert.deepEqual(read([soa(5), soa(5, ZONE, "NS.Zone.example")], { serial }), { kind: "full", soa: soa(5), records: [] });
    refused([soa(5), one, soa(5, ZONE, "other.example")], { serial }, /changed while it was transferred/);
  }
});

test("a transfer without its closing SOA is never complete", () => {
  for (const records of [[soa(5)], [soa(5), one], [soa(5), one, two]]) assert.equal(read(records), undefined);
  const incremental = [soa(5), soa(3), one, soa(4), two, soa(4), soa(5), three, soa(5)];
  for (let length = 0; length < incremental.length; length++) {
    const transfer = read(incremental.slice(0, length), { serial: 3 });
    assert.equal(transfer, undefined, `${length} records`);
  }
  assert.ok(read(incremental, { serial: 3 }));
});

test("differences follow each other from the requested serial to the newest", () => {
  const transfer = read([soa(6), soa(3), one, soa(4), two, soa(4), soa(6), three, soa(6)], { serial: 3 });
  assert.deepEqual(transfer, {
    kind: "differences",
    soa: soa(6),
    differences: [
      { from: 3, to: 4, removed: [one], added: [two] },
      { from: 4, to: 6, removed: [], added: [three] },
    ],
  });
});

test("a lone SOA means no change if it is not newer, and an unfinished transfer if it is", () => {
  for (const serial of [5, 6]) assert.deepEqual(read([soa(5)], { serial }), { kind: "current", soa: soa(5) });
  assert.equal(read([soa(5)], { serial: 4 }), undefined);
  assert.equal(read([soa(5)], { serial: null }), undefined);
});

test("the reader refuses records that cannot be part of the zone", () => {
  refused([one], {}, /does not begin with an SOA/);
  refused([soa(5), one, soa(6)], {}, /changed while/);
  refused([soa(5), one, soa(5), two], {}, /goes on behind/);
  refused([soa(5), a("www.other.example", 1)], {}, /outside of the zone/);
  refused([soa(5), a("notzone.example", 1)], {}, /outside of the zone/);
  refused([soa(5), soa(5, parseAbsoluteName("sub.zone.example"))], {}, /below the zone's name/);
  refused([soa(5), { ...one, class: 3 }], {}, /class 3/);
  refused([soa(5), one, two], { recordsMax: 2 }, /more than 2 records/);
  refused([soa(5), soa(3), soa(3)], { serial: 3 }, /no later/);
  refused([soa(5), soa(3), soa(2)], { serial: 3 }, /no later/);
  refused([soa(6), soa(3), soa(4), soa(5)], { serial: 3 }, /followed by serial 5/);
});

test("property: any order of records is read or refused, and only a closing SOA completes it", () => {
  const records = fc.array(
    fc.oneof(
      fc.integer({ min: 1, max: 6 }).map((serial) => soa(serial)),
      fc.constantFrom(soa(5, ZONE, "other.example"), soa(6, ZONE, "other.example")),
      fc.constantFrom(one, two, three),
    ),
    { maxLength: 14 },
  );
  fc.assert(
    fc.property(records, fc.option(fc.integer({ min: 1, max: 6 })), (list, serial) => {
      try {
        const transfer = read(list, { serial });
        if (transfer === undefined || transfer.kind === "current") return;
        assert.equal(list.at(-1)?.type, TYPE.SOA);
        assert.deepEqual(list.at(-1), list[0]);
        if (transfer.kind === "full") assert.equal(transfer.records.length, list.length - 2);
        else assert.equal(transfer.differences[0]?.from, serial);
      } catch (error) {
        assert.ok(error instanceof TransferError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
