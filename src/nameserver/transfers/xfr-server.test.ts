import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import type { Op, RecordEntry } from "#snapshot/entries.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import type { Transfer } from "#wire/dns/transfer-reader.ts";
import { clientAt } from "../../../test/support/nameserver.ts";
import { lineOf, PEER, PLAIN_PEER, readTransfer, transferOp, transferRequest, transfersOver } from "../../../test/support/transfers.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";

const Z = "zone1";
const ZONE = "example.com";

type Fixture = ReturnType<typeof transfersOver>;

const start = (fixture: Fixture, serial?: number) => {
  const stream = fixture.transfers.open(transferRequest(ZONE, serial), PEER);
  assert.ok(stream, "the transfer was refused");
  return stream;
};
const fetchZone = (fixture: Fixture, serial?: number): Transfer => readTransfer(ZONE, serial, start(fixture, serial));

const linesOf = (transfer: Transfer): Set<string> => {
  assert.equal(transfer.kind, "full");
  return new Set([transfer.soa, ...transfer.records].map(lineOf));
};

/** A secondary: what it has, and how it takes what it is sent. */
function secondary(fixture: Fixture) {
  let lines = linesOf(fetchZone(fixture));
  let soa = lineOf(fetchZone(fixture).soa);
  let serial = soaSerial(fetchZone(fixture).soa.rdata);
  return {
    get lines() {
      return lines;
    },
    refresh: (): Transfer["kind"] => {
      const transfer = fetchZone(fixture, serial);
      if (transfer.kind === "full") lines = linesOf(transfer);
      else if (transfer.kind === "differences") {
        for (const { removed, added } of transfer.differences) {
          for (const line of removed.map(lineOf)) assert.ok(lines.delete(line), `not there, but to be removed: ${line}`);
          for (const line of added.map(lineOf)) {
            assert.ok(!lines.has(line), `there already: ${line}`);
            lines.add(line);
          }
        }
        lines.delete(soa);
        lines.add(lineOf(transfer.soa));
      }
      soa = lineOf(transfer.soa);
      serial = soaSerial(transfer.soa.rdata);
      return transfer.kind;
    },
  };
}

type Change =
  | { readonly do: "put"; readonly name: number; readonly value: number; readonly ttl: number; readonly proxied: boolean }
  | { readonly do: "remove"; readonly name: number; readonly value: number }
  | { readonly do: "settings"; readonly value: number }
  | { readonly do: "pause"; readonly paused: boolean }
  | { readonly do: "alias"; readonly there: boolean };

const NAMES = ["a", "b", "www.a", "*.b", "c.d.e", "ns.child", "child"].map((label) => `${label}.${ZONE}`).concat(ZONE);
const CONTENTS = ["A 192.0.2.1", "A 192.0.2.2", "AAAA 2001:db8::1", 'TXT "x"', "MX 10 a.example.com.", "NS ns.child.example.com."] as const;

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constant("put" as const),
        name: fc.nat(7),
        value: fc.nat(5),
        ttl: fc.constantFrom(60, 300),
        proxied: fc.boolean(),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant("remove" as const), name: fc.nat(7), value: fc.nat(5) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("settings" as const), value: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("pause" as const), paused: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("alias" as const), there: fc.boolean() }) },
  ),
  { minLength: 1, maxLength: 4 },
);

/** A record whose id does not depend on what changes of it. */
function record(name: number, value: number, change: Partial<RecordEntry>): Op {
  const [type = "", ...content] = (CONTENTS[value] ?? "").split(" ");
  const proxied = change.proxied === true && (type === "A" || type === "AAAA");
  return { ...recordOp(Z, NAMES[name] ?? "", type, content.join(" "), { ...change, proxied }), id: `${name}/${value}` } as Op;
}

const zone = (paused: boolean, value: number): Op =>
  zoneOp(Z, ZONE, {
    paused,
    multi_provider: value % 2 === 1,
    ns_ttl: 3600 + value,
    name_servers: [`ns${value}.provider.example`, "ns.provider.example"],
  });

function opOf(change: Change, state: { paused: boolean; value: number }): Op {
  if (change.do === "put") return record(change.name, change.value, { ttl: change.ttl, proxied: change.proxied });
  if (change.do === "remove") return { kind: "record", id: `${change.name}/${change.value}`, value: null };
  const alias: Op = { ...recordOp(Z, ZONE, "CNAME", `a.${ZONE}.`), id: "alias" } as Op;
  if (change.do === "alias") return change.there ? alias : { kind: "record", id: "alias", value: null };
  Object.assign(state, change.do === "pause" ? { paused: change.paused } : { value: change.value });
  return zone(state.paused, state.value);
}

// Enough that differences are worth their while.
const FILLING: readonly Op[] = Array.from({ length: 60 }, (_, i) => recordOp(Z, `host${i}.${ZONE}`, "A", `198.51.100.${i}`));
const BASE: readonly Op[] = [zone(false, 0), transferOp(Z, [PLAIN_PEER]), ...FILLING];

test("property: incremental transfers and full transfers give the same content", () => {
  const kinds = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(fc.tuple(changes, fc.boolean()), { maxLength: 12 }), fc.constantFrom(1, 0xffff_fffa), (deltas, first) => {
      const fixture = transfersOver([...BASE, serialOp(Z, first)]);
      const follower = secondary(fixture);
      const state = { paused: false, value: 0 };
      let serial = first;
      for (const [delta, asks] of deltas) {
        serial = (serial + 1) >>> 0;
        fixture.replica.apply([...delta.map((change) => opOf(change, state)), serialOp(Z, serial)]);
        if (!asks) continue;
        const kind = follower.refresh();
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        assert.deepEqual([...follower.lines].sort(), [...linesOf(fetchZone(fixture))].sort());
      }
      assert.equal(follower.refresh() === "current", deltas.length === 0 || deltas.at(-1)?.[1] === true);
    }),
    { numRuns: 60 },
  );
  // Both ways were gone more than once.
  for (const kind of ["differences", "full"]) assert.ok((kinds.get(kind) ?? 0) > 3, JSON.stringify([...kinds]));
});

test("property: a full transfer has the SOA, the name servers and every record, and the edge's addresses for proxied ones", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.nat(6), fc.nat(5), fc.boolean()), { selector: ([name, value]) => `${name}/${value}` }),
      (all) => {
        const records = all.map(([name, value, proxied]) => record(name, value, { ttl: 300, proxied }));
        const fixture = transfersOver([zone(false, 1), serialOp(Z, 7), transferOp(Z, [PLAIN_PEER]), ...records]);
        const proxied = new Set(records.flatMap(({ value }) => (value && "proxied" in value && value.proxied ? [value.name] : [])));
        const expected = new Set<string>();
        for (const { value } of records) {
          if (!value || !("rdata" in value)) continue;
          const isAddress = value.type === "A" || value.type === "AAAA";
          if (!isAddress || !proxied.has(value.name))
            expected.add(`${value.name} ${value.type} ${Buffer.from(value.rdata, "base64").toString("hex")}`);
        }
        for (const name of proxied) expected.add(`${name} A cb007101`);
        const types: Readonly<Record<string, string>> = { 1: "A", 28: "AAAA", 16: "TXT", 15: "MX", 2: "NS" };
        const got = [...linesOf(fetchZone(fixture))].filter((line) => !line.startsWith(`${ZONE} `));
        assert.deepEqual(
          got.map((line) => line.replace(/^(\S+) 300 (\d+) /, (_, name: string, type: string) => `${name} ${types[type]} `)).sort(),
          [...expected].sort(),
        );
      },
    ),
    { numRuns: 100 },
  );
});

const BIG: readonly Op[] = Array.from({ length: 3000 }, (_, i) => recordOp(Z, `host${i}.${ZONE}`, "TXT", `"${"x".repeat(40)}"`));

test("a transfer in progress has one serial, whatever changes meanwhile", () => {
  const fixture = transfersOver([zone(false, 0), serialOp(Z, 1), transferOp(Z, [PLAIN_PEER]), ...BIG]);
  const before = linesOf(fetchZone(fixture));
  const stream = start(fixture);
  const first = [stream.next() as Buffer, stream.next() as Buffer];
  for (let serial = 2; serial < 40; serial++) {
    const removed = BIG.slice(serial * 70, serial * 70 + 35).map(({ id }): Op => ({ kind: "record", id, value: null }));
    const added = Array.from({ length: 20 }, (_, i) => recordOp(Z, `new${serial}-${i}.${ZONE}`, "A", "192.0.2.9"));
    fixture.replica.apply([...removed, ...added, zone(false, serial), serialOp(Z, serial)]);
  }
  assert.deepEqual(linesOf(readTransfer(ZONE, undefined, stream, first)), before);
  assert.notDeepEqual(linesOf(fetchZone(fixture)), before);
  const messages = Number(/(\d+) messages/.exec(fixture.log[0] ?? "")?.[1]);
  assert.ok(messages > 5, `only ${messages} messages`);
});

test("a request for an old serial without stored differences gets the whole zone", () => {
  const fixture = transfersOver([...BASE, serialOp(Z, 1)], { journalWeightMax: 20 });
  const change = (serial: number): void => fixture.replica.apply([record(0, 0, { ttl: 60 + serial }), serialOp(Z, serial)]);
  change(2);
  assert.equal(fetchZone(fixture, 1).kind, "differences");
  for (let serial = 3; serial < 12; serial++) change(serial);
  assert.deepEqual([fetchZone(fixture, 1).kind, fetchZone(fixture, 10).kind], ["full", "differences"]);
  assert.deepEqual([fetchZone(fixture, 11).kind, fetchZone(fixture, 12).kind], ["current", "current"]);
  fixture.replica.replace([...BASE, serialOp(Z, 12)]);
  assert.equal(fetchZone(fixture, 11).kind, "full");
});

test("the number of concurrent transfers is limited, in total and per address", () => {
  const peers = Array.from({ length: 4 }, (_, i) => ({ ...PLAIN_PEER, ip: `198.51.100.${i}` }));
  const fixture = transfersOver([zone(false, 0), serialOp(Z, 1), transferOp(Z, peers)], { transfersMax: 3, transfersPerAddressMax: 2 });
  const open = (last: number) => fixture.transfers.open(transferRequest(ZONE), clientAt("tcp", [198, 51, 100, last]));
  const held = [open(0), open(0)];
  assert.equal(open(0), undefined);
  assert.ok(held.every(Boolean) && open(1));
  assert.equal(open(2), undefined);
  held[0]?.close();
  // Closing twice frees one place.
  held[0]?.close();
  assert.ok(open(3));
  assert.equal(open(2), undefined);
});

test("the server passes invalid requests, and requests from addresses that are not peers, to the responder", () => {
  const fixture = transfersOver([...BASE, serialOp(Z, 1)]);
  const request = transferRequest(ZONE);
  assert.equal(fixture.transfers.open(request, clientAt("tcp", [192, 0, 2, 1])), undefined);
  assert.equal(fixture.transfers.open(transferRequest(`www.${ZONE}`), PEER), undefined);
  assert.equal(fixture.transfers.open(transferRequest("elsewhere.example"), PEER), undefined);
  const count = (metric: string): number =>
    fixture.metrics.samples().reduce((sum, { name, value }) => sum + (name === metric ? value : 0), 0);
  assert.deepEqual([count("selvedge_dns_transfers_refused_total"), count("selvedge_dns_queries_total")], [3, 0]);
  fetchZone(fixture);
  assert.deepEqual([count("selvedge_dns_queries_total"), count("selvedge_dns_responses_total")], [1, 1]);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(request.length - 1), fc.nat(255)), { maxLength: 4 }), fc.nat(request.length), (edits, length) => {
      const packet = Buffer.from(request.subarray(0, Math.max(12, length)));
      for (const [at, byte] of edits) if (at < packet.length) packet[at] = byte;
      fixture.transfers.open(packet, PEER)?.close();
    }),
    { numRuns: 1000 },
  );
  fixture.replica.apply([{ kind: "transfer", id: Z, value: null }]);
  assert.equal(fixture.transfers.open(request, PEER), undefined);
});

test("a transfer that takes too long is aborted", () => {
  let nowMs = 0;
  const clock = { nowMs: () => nowMs, nowMicros: () => nowMs * 1000, monotonicMs: () => nowMs };
  const fixture = transfersOver([zone(false, 0), serialOp(Z, 1), transferOp(Z, [PLAIN_PEER]), ...BIG], { transferTimeoutMs: 1000 }, clock);
  const stream = start(fixture);
  assert.ok(stream.next());
  nowMs = 1001;
  assert.throws(() => stream.next(), RangeError);
  stream.close();
  assert.match(fixture.log[0] ?? "", /interrupted: axfr, 1 messages RangeError: the transfer takes too long/);
});
