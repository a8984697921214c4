import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { CLASS, HEADER_BYTES, RCODE, TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { keyOf } from "#wire/dns/name.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import type { TsigKey } from "#wire/dns/tsig.ts";
import type { Answer } from "#nameserver/answer/answer-rrset.ts";
import { type Client, subscriberOf } from "#nameserver/message/client.ts";
import type { NameserverLimits } from "#nameserver/config.ts";
import { createCounters } from "#nameserver/message/counters.ts";
import { type Exchange, PAYLOAD_BYTES_MAX } from "#nameserver/message/exchange.ts";
import type { Reply } from "#nameserver/message/reply.ts";
import { createAnswerStream, MESSAGE_BYTES, type MessageStream } from "./message-stream.ts";
import { encodeAnswer } from "#nameserver/message/response.ts";
import { createTsigCheck, type Signature } from "#nameserver/tsig/tsig-check.ts";
import { createConcurrencyLimiter } from "#nameserver/limits/concurrency-limiter.ts";
import { createTransferAccount, type TransferLog } from "./transfer-log.ts";
import { createTransferContent, type TransferContentDeps } from "./transfer-content.ts";
import type { TransferPartners } from "#nameserver/tsig/transfer-acl.ts";
import { soaAlone, type TransferRecord } from "./transfer-records.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** Sends zones to other servers: AXFR (RFC 5936) and IXFR (RFC 1995). */
export interface TransfersOut {
  /**
   * The response to a request for a zone or its differences. Undefined if the message is not a valid transfer request, or
   * is refused: handle it like any other message.
   */
  open(packet: Buffer, client: Client): MessageStream | undefined;
  /**
   * The response to IXFR in one message: the differences if they fit, otherwise the zone's SOA, after which the client
   * retries over TCP (RFC 1995 §2). Undefined if the request is refused, or came over TCP.
   */
  datagram(exchange: Exchange): Reply | undefined;
}

export interface TransfersOutDeps extends TransferContentDeps {
  readonly partners: TransferPartners;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: Pick<NameserverLimits, "transfersMax" | "transfersPerAddressMax" | "transferTimeoutMs">;
  readonly log: TransferLog;
}

/** An accepted request. */
interface Granted {
  readonly packet: Buffer;
  readonly query: Query;
  readonly client: Client;
  readonly zone: ZoneIndex;
  readonly signature: Signature;
}

export function createTransfersOut(deps: TransfersOutDeps): TransfersOut {
  const { metrics, limits, log } = deps;
  const slots = createConcurrencyLimiter(limits.transfersMax, limits.transfersPerAddressMax);
  const signatures = createTsigCheck(deps);
  const contentOf = createTransferContent(deps);
  const account = createTransferAccount({ ...deps, timeoutMs: limits.transferTimeoutMs });
  const counters = createCounters(metrics);
  const active = metrics.gauge("selvedge_dns_transfers_active", "Outgoing zone transfers in progress");
  const refused = metrics.counter("selvedge_dns_transfers_refused_total", "Refused zone transfer requests");

  const start = ({ packet, query, client, zone, signature }: Granted, release: () => void): MessageStream => {
    const { kind, records } = contentOf(zone, packet, query);
    const messageBytes = zone.dnssec ? SIGNED_MESSAGE_BYTES : MESSAGE_BYTES;
    const stream = createAnswerStream({ packet, query, records, signature, messageBytes, payloadBytes: PAYLOAD_BYTES_MAX });
    active.value = slots.taken;
    // The responder counts refused requests.
    counters.queries[client.transport].value += 1;
    counters.responses(RCODE.NOERROR, false);
    const ended = (): void => {
      release();
      active.value = slots.taken;
    };
    return account({ zone, kind, client, stream, ended });
  };

  const open = (packet: Buffer, client: Client): MessageStream | undefined => {
    const query = readQuery(packet);
    const signature = signatures(packet, query);
    const zone = signature.isRefused ? undefined : grantedZone(deps, packet, query, client, signature.key);
    const release = zone && slots.take(subscriberOf(client));
    if (!release) {
      refused.value += 1;
      return undefined;
    }
    try {
      return start({ packet, query, client, zone, signature }, release);
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    open: (packet, client) => {
      if (!isTransferRequest(packet)) return undefined;
      try {
        return open(packet, client);
      } catch (error) {
        if (!(error instanceof WireError)) log("warn", "a zone transfer to another server failed", { reason: String(error) });
        return undefined;
      }
    },
    datagram: (exchange) => {
      const { packet, query, client, signature } = exchange;
      const zone = client.transport === "udp" ? grantedZone(deps, packet, query, client, signature.key) : undefined;
      if (!zone) return undefined;
      const { kind, records } = contentOf(zone, packet, query);
      const taken = kind === "axfr" ? [] : records.take(DATAGRAM_RECORDS_MAX + 1).toArray();
      const ahead = taken.filter((record) => record !== undefined);
      const reply = ahead.length > 0 && ahead.length <= DATAGRAM_RECORDS_MAX ? encodeAnswer(exchange, answerOf(ahead)) : undefined;
      return reply?.complete === true ? reply : encodeAnswer(exchange, answerOf([...soaAlone(zone)]));
    },
  };
}

/** The requested zone, if the client may transfer it. */
function grantedZone(
  { zones, partners }: Pick<TransfersOutDeps, "zones" | "partners">,
  packet: Buffer,
  query: Query,
  client: Client,
  key: TsigKey | undefined,
): ZoneIndex | undefined {
  const asked = keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES);
  const zone = zones.nearestZone(asked, null);
  if (!zone || zone.key !== asked || query.class !== CLASS.IN || (query.edns?.version ?? 0) > 0) return undefined;
  // RFC 5936 §2.2.1: an expired zone is neither served nor transferred.
  if (zone.entry.expired === true) return undefined;
  return partners.outgoing(zone.id)?.admits(client.address, key) === true ? zone : undefined;
}

/** About thirty signatures, which take milliseconds if they are not cached. */
const SIGNED_MESSAGE_BYTES = 0x1000;

/** A datagram cannot hold more, because each record takes at least twelve bytes. */
const DATAGRAM_RECORDS_MAX = 100;

const answerOf = (records: readonly TransferRecord[]): Answer => ({
  rcode: RCODE.NOERROR,
  authoritative: true,
  answers: records.map(({ name, type, ttl, rdata }) => ({ name: Buffer.from(name), type, ttl, rdatas: [rdata] })),
  authorities: [],
  glue: [],
  additionals: [],
  denial: undefined,
  zones: new Set(),
});

/** Must be cheap, because it runs for every message over TCP. */
function isTransferRequest(packet: Buffer): boolean {
  // A query with one question.
  if ((packet[2] as number) >> 3 !== 0 || packet.readUInt16BE(4) !== 1) return false;
  let at = HEADER_BYTES;
  for (let label = packet[at] ?? 0; label !== 0; label = packet[at] ?? 0) at += label + 1;
  if (at + 3 > packet.length) return false;
  const type = packet.readUInt16BE(at + 1);
  return type === TYPE.AXFR || type === TYPE.IXFR;
}
