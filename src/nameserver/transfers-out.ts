import type { Clock } from "#kernel/clock.ts";
import { formatIp } from "#kernel/ip.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { CLASS, HEADER_BYTES, RCODE, TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { keyOf } from "#wire/dns/name.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import { isSerialAfter, soaSerial } from "#wire/dns/serial.ts";
import type { TsigKey } from "#wire/dns/tsig.ts";
import { answer } from "./answer.ts";
import type { Answer } from "./answer-set.ts";
import type { Client } from "./client.ts";
import type { NameserverLimits } from "./config.ts";
import { createCounters } from "./counters.ts";
import { type Exchange, PAYLOAD_BYTES_MAX, type Reply } from "./exchange.ts";
import type { Signatures as ZoneSignatures } from "./dnssec/signatures.ts";
import type { EdgeFront } from "./edge-front.ts";
import { createAnswerStream, MESSAGE_BYTES, type MessageStream } from "./message-stream.ts";
import { encodeAnswer } from "./response.ts";
import { createSignatures, type Signature } from "./signatures.ts";
import type { FindOutside } from "./outside/outside-names.ts";
import { createSlots } from "./slots.ts";
import type { TransferPartners } from "./transfer-partners.ts";
import {
  type ApexAddresses,
  areDifferences,
  differences,
  soaAlone,
  type TransferRecord,
  wholeSignedZone,
  wholeZone,
} from "./transfer-records.ts";
import { serialOf, type ZoneJournal } from "./zone-journal.ts";
import type { ZoneIndex, Zones } from "./zones.ts";

/** Sends zones to other servers: AXFR (RFC 5936) and IXFR (RFC 1995). */
export interface TransfersOut {
  /**
   * The answer to a request for a zone or its differences. Undefined where the message is no such request, or one that is
   * malformed or refused: then it is to be answered like any other message.
   */
  open(packet: Buffer, client: Client): MessageStream | undefined;
  /**
   * The answer to IXFR in one message: the differences where they fit, else the zone's SOA, upon which the client comes
   * back over TCP (RFC 1995 §2). Undefined where it is refused, or came over a connection.
   */
  datagram(exchange: Exchange): Reply | undefined;
}

export interface TransfersOutDeps {
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly partners: TransferPartners;
  readonly journal: ZoneJournal;
  /** Over the sets of signed zones. */
  readonly zoneSignatures: ZoneSignatures;
  /** What is behind the zones' own aliases elsewhere, as far as it is known. */
  readonly findOutside: FindOutside;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: Pick<NameserverLimits, "transfersMax" | "transfersPerAddressMax" | "transferTimeoutMs">;
  log(level: "info" | "warn", message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What is sent: all of the zone, what is new in it, or word that nothing is. */
type Kind = "axfr" | "ixfr" | "current";

export function createTransfersOut(deps: TransfersOutDeps): TransfersOut {
  const { zones, edge, partners, journal, zoneSignatures, findOutside, clock, metrics, limits, log } = deps;
  const slots = createSlots(limits.transfersMax, limits.transfersPerAddressMax);
  const counters = createCounters(metrics);
  const active = metrics.gauge("selvedge_dns_transfers_active", "Zone transfers to other servers under way");
  const ended = (kind: Kind, result: "sent" | "broken") =>
    metrics.counter("selvedge_dns_transfers_total", "Zone transfers to other servers that ended", { kind, result });
  const refused = metrics.counter("selvedge_dns_transfers_refused_total", "Requests for zone transfers that were not granted");
  const sentBytes = metrics.counter("selvedge_dns_transfer_bytes_total", "Bytes of zone transfers to other servers");

  const signatures = createSignatures(deps);
  const addresses: ApexAddresses = ({ name }) =>
    [TYPE.A, TYPE.AAAA].flatMap((type) =>
      answer(zones, edge, { name, type }, findOutside)
        .answers.filter((set) => set.type === type)
        .map(({ ttl, rdatas }) => ({ type, ttl, rdatas, proxied: false })),
    );

  /** The zone that is asked for, where the client may have it. */
  const grantedZone = (packet: Buffer, query: Query, client: Client, key: TsigKey | undefined): ZoneIndex | undefined => {
    const asked = keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES);
    const zone = zones.find(asked);
    if (!zone || zone.key !== asked || query.class !== CLASS.IN || (query.edns?.version ?? 0) > 0) return undefined;
    // RFC 5936 §2.2.1: what is not answered from is not handed on either.
    if (zone.entry.expired === true) return undefined;
    return partners.outgoing(zone.id)?.admits(client.address, key) === true ? zone : undefined;
  };

  const recordsFor = (
    zone: ZoneIndex,
    packet: Buffer,
    query: Query,
  ): { kind: Kind; records: Generator<TransferRecord | undefined, void> } => {
    const serial = query.type === TYPE.IXFR ? knownSerial(packet, zone) : undefined;
    if (serial !== undefined && !isSerialAfter(serialOf(zone), serial)) return { kind: "current", records: soaAlone(zone) };
    // What changes in a signed zone changes its chain of NSEC records, too: it is always sent as a whole.
    if (zone.dnssec) return { kind: "axfr", records: wholeSignedZone(zone, { edge, signatures: zoneSignatures, addresses }) };
    const versions = serial === undefined ? undefined : journal.since(zone, serial);
    if (versions && areDifferences(zone, versions) && isWorthIt(zone, versions)) {
      return { kind: "ixfr", records: differences(zone, edge, versions) };
    }
    return { kind: "axfr", records: wholeZone(zone, edge, addresses) };
  };

  const start = (
    packet: Buffer,
    query: Query,
    client: Client,
    zone: ZoneIndex,
    signature: Signature,
    release: () => void,
  ): MessageStream => {
    const { kind, records } = recordsFor(zone, packet, query);
    const messageBytes = zone.dnssec ? SIGNED_MESSAGE_BYTES : MESSAGE_BYTES;
    const stream = createAnswerStream({ packet, query, records, signature, messageBytes, payloadBytes: PAYLOAD_BYTES_MAX });
    const startedMs = clock.monotonicMs();
    const fields = {
      zone: zone.entry.name,
      kind,
      serial: serialOf(zone),
      peer: formatIp({ family: client.address.length === 4 ? 4 : 6, bytes: client.address }),
    };
    let [messages, bytes] = [0, 0];
    let state: "open" | "sent" | "closed" = "open";
    active.value = slots.taken;
    // What is refused is counted by the responder.
    counters.queries[client.transport].value += 1;
    counters.responses(RCODE.NOERROR, false);
    return {
      next: () => {
        if (clock.monotonicMs() - startedMs > limits.transferTimeoutMs) throw new RangeError("the transfer takes too long");
        const message = stream.next();
        if (message === undefined) state = "sent";
        messages += message ? 1 : 0;
        bytes += message?.length ?? 0;
        return message;
      },
      close: () => {
        if (state === "closed") return;
        const result = state === "sent" ? "sent" : "broken";
        state = "closed";
        stream.close();
        release();
        active.value = slots.taken;
        ended(kind, result).value += 1;
        sentBytes.value += bytes;
        const ms = Math.round(clock.monotonicMs() - startedMs);
        if (result === "sent") log("info", "a zone was transferred to another server", { ...fields, messages, bytes, ms });
        else log("warn", "a zone transfer to another server broke off", { ...fields, messages, bytes, ms });
      },
    };
  };

  const open = (packet: Buffer, client: Client): MessageStream | undefined => {
    const query = readQuery(packet);
    const signature = signatures(packet, query);
    const zone = signature.isRefused ? undefined : grantedZone(packet, query, client, signature.key);
    const release = zone && slots.take(Buffer.from(client.address).toString("hex"));
    if (!release) {
      refused.value += 1;
      return undefined;
    }
    try {
      return start(packet, query, client, zone, signature, release);
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
      const zone = client.transport === "udp" ? grantedZone(packet, query, client, signature.key) : undefined;
      if (!zone) return undefined;
      const { kind, records } = recordsFor(zone, packet, query);
      const taken = kind === "axfr" ? [] : records.take(DATAGRAM_RECORDS_MAX + 1).toArray();
      const ahead = taken.filter((record) => record !== undefined);
      const reply = ahead.length > 0 && ahead.length <= DATAGRAM_RECORDS_MAX ? encodeAnswer(exchange, answerOf(ahead)) : undefined;
      return reply?.complete === true ? reply : encodeAnswer(exchange, answerOf([...soaAlone(zone)]));
    },
  };
}

/** Some thirty signatures, which take milliseconds where none are kept yet. */
const SIGNED_MESSAGE_BYTES = 0x1000;

/** No more fit into a datagram, since each takes twelve bytes at least. */
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

/** Cheap, since it is asked of every message that comes by TCP. */
function isTransferRequest(packet: Buffer): boolean {
  // A query with one question.
  if ((packet[2] as number) >> 3 !== 0 || packet.readUInt16BE(4) !== 1) return false;
  let at = HEADER_BYTES;
  for (let label = packet[at] ?? 0; label !== 0; label = packet[at] ?? 0) at += label + 1;
  if (at + 3 > packet.length) return false;
  const type = packet.readUInt16BE(at + 1);
  return type === TYPE.AXFR || type === TYPE.IXFR;
}

/** The serial of the SOA that an IXFR request has in its authority section (RFC 1995 §3). */
function knownSerial(packet: Buffer, zone: ZoneIndex): number | undefined {
  const soa = decodeMessage(packet).authorities.find((record) => record.type === TYPE.SOA && keyOf(record.name) === zone.key);
  return soa && soaSerial(soa.rdata);
}

/** More differences than there are names are longer than the zone itself. */
const isWorthIt = (zone: ZoneIndex, versions: readonly { readonly names: readonly unknown[] }[]): boolean =>
  versions.reduce((sum, { names }) => sum + names.length, 0) <= zone.nodes.size;
