import type { DnsQueryRow, EventSink } from "#events/rows/rows.ts";
import type { Clock } from "#kernel/clock.ts";
import { formatIp } from "#kernel/net/ip.ts";
import { HEADER_BYTES, RCODE } from "#wire/dns/codes.ts";
import { formatName, keyOf, readName } from "#wire/dns/name.ts";
import { recordTypeByCode } from "#wire/dns/record-types.ts";
import type { Client } from "#nameserver/message/client.ts";
import { senderOf } from "#nameserver/message/datagram.ts";
import { DROPPED, type FastPath } from "./fast-path.ts";
import type { Respond } from "./respond.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

/**
 * Writes log rows for queries. At a low rate, each query gets a row; at a high rate, every n-th query gets one that
 * counts for n, so that a flood of queries does not become a flood of rows.
 */
export interface QueryLog {
  /** Wraps a responder with logging. */
  around(respond: Respond): Respond;
  /** Wraps the fast path with logging. */
  aroundQuick(quickAnswer: FastPath): FastPath;
  /** Writes pending rows and stops. */
  close(): void;
}

export interface QueryLogDeps {
  readonly events: EventSink;
  readonly zones: Pick<Zones, "nearestZone">;
  readonly clock: Clock;
}

const PERIOD_MS = 1_000;
/** Per thread; at more queries in a period, each row counts for several. */
const ROWS_PER_PERIOD = 64;
/** After so many rows, the interval doubles: the start of a flood leaves some hundred rows. */
const ROWS_PER_STEP = 16;
/**
 * Creating a row takes twice as long as an answer. At the start of a flood, creating many in sequence would delay
 * queries, so the log pauses between rows and creates this share of the pending ones at once.
 */
const PAUSE_MS = 4;
const WAITING_EACH = 128;

export function createQueryLog({ events, zones, clock }: QueryLogDeps): QueryLog {
  /** Number of queries that each row counts for. */
  let interval = 1;
  /** Queries until the next logged one, which is included. */
  let left = 1;
  let seen = 0;
  let rows = 0;
  const waiting: (() => void)[] = [];
  let pause: NodeJS.Timeout | undefined;
  // A flood that starts after silence must be noticed before the period ends.
  const nextPeriod = (): void => {
    interval = Math.max(1, Math.ceil(seen / ROWS_PER_PERIOD));
    left = Math.min(left, interval);
    seen = 0;
    rows = 0;
  };
  const timer = setInterval(nextPeriod, PERIOD_MS).unref();

  const isDue = (): boolean => {
    seen += 1;
    left -= 1;
    if (left > 0) return false;
    left = interval;
    rows += 1;
    if (rows >= ROWS_PER_PERIOD && rows % ROWS_PER_STEP === 0) interval *= 2;
    return true;
  };
  const write = (): void => {
    for (let count = 1 + Math.floor(waiting.length / WAITING_EACH); count > 0; count--) waiting.shift()?.();
    pause = waiting.length > 0 ? setTimeout(write, PAUSE_MS).unref() : undefined;
  };
  const log = (queryBytes: number, response: Buffer | undefined, client: Client, stoodFor: number): void => {
    if (!response) return;
    const at_ms = clock.nowMs();
    waiting.push(() => {
      const row = rowOf(response, client, zones);
      if (row) events.push("dns_queries", { at_ms, ...row, query_bytes: queryBytes, sample_interval: stoodFor });
    });
    pause ??= setTimeout(write, PAUSE_MS).unref();
  };

  return {
    around: (respond) => (packet, client) => {
      const stoodFor = interval;
      if (!isDue()) return respond(packet, client);
      const bytes = packet.length;
      const response = respond(packet, client);
      if (!(response instanceof Promise)) {
        log(bytes, response, client, stoodFor);
        return response;
      }
      return response.then((known) => {
        log(bytes, known, client, stoodFor);
        return known;
      });
    },
    aroundQuick: (quickAnswer) => (datagram) => {
      const bytes = quickAnswer(datagram);
      const stoodFor = interval;
      if (bytes === 0 || !isDue() || bytes === DROPPED) return bytes;
      const { length, output, outStart } = datagram;
      log(length, Buffer.from(output.subarray(outStart, outStart + bytes)), senderOf(datagram), stoodFor);
      return bytes;
    },
    close: () => {
      clearInterval(timer);
      clearTimeout(pause);
      for (const writeRow of waiting.splice(0)) writeRow();
    },
  };
}

/** The fields that the response contains; undefined if it is about no hosted zone. */
function rowOf(
  response: Buffer,
  client: Client,
  zones: Pick<Zones, "nearestZone">,
): Omit<DnsQueryRow, "at_ms" | "query_bytes" | "sample_interval"> | undefined {
  if (response.length <= HEADER_BYTES || response.readUInt16BE(4) !== 1) return undefined;
  const { name, end } = readName(response, HEADER_BYTES, false);
  const zone = zones.nearestZone(keyOf(name), null);
  if (!zone) return undefined;
  const family = client.address.length === 4 ? 4 : 6;
  return {
    account_id: zone.entry.account_id,
    zone_id: zone.id,
    query_name: formatName(name),
    query_type: typeName(response.readUInt16BE(end)),
    response_code: RCODE_NAMES.get(response.readUInt16BE(2) & 0xf) ?? String(response.readUInt16BE(2) & 0xf),
    protocol: client.transport,
    ip_version: family,
    source_ip: formatIp({ family, bytes: client.address }),
    response_bytes: response.length,
  };
}

/** Query types that are not record types. */
const QUESTION_TYPES: ReadonlyMap<number, string> = new Map([
  [251, "IXFR"],
  [252, "AXFR"],
  [255, "ANY"],
]);
const typeName = (code: number): string => recordTypeByCode(code)?.name ?? QUESTION_TYPES.get(code) ?? `TYPE${code}`;

const RCODE_NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RCODE).map(([name, code]) => [code, name]));
