import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { DnsQueryRow } from "#events/rows/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { encodeMessage } from "#wire/dns/message.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import type { Client } from "#nameserver/message/client.ts";
import { createDatagram, type Datagram } from "#nameserver/message/datagram.ts";
import { createQueryLog } from "./query-log.ts";
import { DROPPED, type FastPath } from "./fast-path.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

const ZONE = { id: "z", entry: { account_id: "a" } } as unknown as ZoneIndex;
const CLIENT: Client = { transport: "udp", address: Buffer.of(192, 0, 2, 1), port: 53 };

const message = (name: string, flags: number): Buffer =>
  encodeMessage({
    id: 1,
    flags,
    questions: [{ name: parseAbsoluteName(name), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  })!;
const question = message("WWW.example.com", 0);
const response = message("WWW.example.com", FLAG.QR | 3);

function setup(t: { after(work: () => void): void }) {
  const rows: DnsQueryRow[] = [];
  const log = createQueryLog({
    events: { push: (table, row) => void (table === "dns_queries" && rows.push(row as DnsQueryRow)) },
    zones: { nearestZone: (key) => (key.endsWith(keyOf(parseAbsoluteName("example.com"))) ? ZONE : undefined) },
    clock: fixedClock("2026-01-01T00:00:00Z"),
  });
  t.after(() => log.close());
  return { rows, log };
}

test("a row has the query, its transport and its result, and queries outside all zones make no row", (t) => {
  const { rows, log } = setup(t);
  const respond = log.around((packet) => (packet === question ? response : message("other.example", FLAG.QR)));
  respond(question, CLIENT);
  respond(Buffer.from(question), CLIENT);
  assert.deepEqual(rows, [], "the answer goes first");
  log.close();
  assert.deepEqual(rows, [
    {
      at_ms: Date.parse("2026-01-01T00:00:00Z"),
      account_id: "a",
      zone_id: "z",
      query_name: "WWW.example.com",
      query_type: "A",
      response_code: "NXDOMAIN",
      protocol: "udp",
      ip_version: 4,
      source_ip: "192.0.2.1",
      query_bytes: question.length,
      response_bytes: response.length,
      sample_interval: 1,
    },
  ]);
});

test("the log sends rows without waiting for another query", async (t) => {
  const { rows, log } = setup(t);
  const asked = 300;
  for (let i = 0; i < asked; i++) log.around(() => response)(question, CLIENT);
  const counted = (): number => rows.reduce((sum, row) => sum + row.sample_interval, 0);
  while (counted() < asked / 2) await setTimeout(5);
});

test("the log has a late answer when it is sent, and never a dropped one", async (t) => {
  const { rows, log } = setup(t);
  await log.around(() => Promise.resolve(response))(question, CLIENT);
  log.close();
  assert.equal(rows.length, 1);
  log.around(() => undefined)(question, CLIENT);
  log.close();
  assert.equal(rows.length, 1);
});

/** A question that stands somewhere in memory that others use too. */
const datagram = (): Datagram => {
  const shared = createDatagram(Buffer.alloc(100), Buffer.of(9, 192, 0, 2, 7, 9), Buffer.alloc(400, 0xee));
  return { ...shared, length: question.length, addressStart: 1, port: 53, outStart: 100 };
};

const answerQuickly: FastPath = ({ output, outStart }) => response.copy(output, outStart);

test("the log has fast answers like others, even if their memory is reused, but not dropped ones", (t) => {
  const { rows, log } = setup(t);
  const asked = datagram();
  assert.equal(log.aroundQuick(answerQuickly)(asked), response.length);
  asked.output.fill(0);
  asked.addresses.fill(0);
  log.aroundQuick(() => DROPPED)(datagram());
  log.close();
  const quick = rows.splice(0);
  log.around(() => response)(question, { ...CLIENT, address: Buffer.of(192, 0, 2, 7) });
  log.close();
  assert.deepEqual(quick, rows);
});

test("a flood makes few rows, which represent about the number of queries, including fast answers", (t) => {
  const { rows, log } = setup(t);
  const respond = log.around(() => response);
  const quick = log.aroundQuick((asked) => (asked.port === 53 ? answerQuickly(asked) : 0));
  const known = datagram();
  const unknown = { ...known, port: 54 };
  const asked = 1_000_000;
  for (let i = 0; i < asked; i++) if (quick(i % 3 === 0 ? unknown : known) === 0) respond(question, CLIENT);
  log.close();
  assert.ok(rows.length < 500, `${rows.length} rows`);
  const counted = rows.reduce((sum, row) => sum + row.sample_interval, 0);
  assert.ok(Math.abs(counted - asked) < asked * 0.05, `${counted} counted`);
});
