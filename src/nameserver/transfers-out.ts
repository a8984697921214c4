import type { Clock } from "#kernel/clock.ts";
import { formatIp } from "#kernel/ip.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { CLASS, HEADER_BYTES, TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { keyOf } from "#wire/dns/name.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import { isSerialAfter, soaSerial } from "#wire/dns/serial.ts";
import { createAnswerSigner, verifyRequest } from "#wire/dns/tsig.ts";
import { readTsig, TSIG_ERROR } from "#wire/dns/tsig-record.ts";
import type { Client } from "./client.ts";
import type { NameserverLimits } from "./config.ts";
import type { EdgeAddresses } from "./lookup.ts";
import { type AnswerStreamSpec, createAnswerStream, type MessageStream } from "./message-stream.ts";
import { createSlots } from "./slots.ts";
import type { TransferPartners } from "./transfer-partners.ts";
import { type ApexAddresses, areDifferences, differences, soaAlone, type TransferRecord, wholeZone } from "./transfer-records.ts";
import { serialOf, type ZoneJournal } from "./zone-journal.ts";
import type { ZoneIndex, Zones } from "./zones.ts";

/** Sends zones to other servers: AXFR (RFC 5936) and IXFR (RFC 1995). */
export interface TransfersOut {
  /**
   * The answer to a request for a zone or its differences. Undefined where the message is no such request, or one that is
   * malformed or refused: then it is to be answered like any other message.
   */
  open(packet: Buffer, client: Client): MessageStream | undefined;
}

export interface TransfersOutDeps {
  readonly zones: Zones;
  readonly edge: EdgeAddresses;
  readonly partners: TransferPartners;
  readonly journal: ZoneJournal;
  readonly addresses: ApexAddresses;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly limits: Pick<NameserverLimits, "transfersMax" | "transfersPerAddressMax" | "transferTimeoutMs">;
  readonly payloadBytes: number;
  log(level: "info" | "warn", message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** A request that may be answered. */
interface Granted {
  readonly query: Query;
  readonly zone: ZoneIndex;
  readonly signature: AnswerStreamSpec["signature"];
}

/** What is sent: all of the zone, what is new in it, or word that nothing is. */
type Kind = "axfr" | "ixfr" | "current";

export function createTransfersOut(deps: TransfersOutDeps): TransfersOut {
  const { zones, edge, partners, journal, addresses, clock, metrics, limits, log } = deps;
  const slots = createSlots(limits.transfersMax, limits.transfersPerAddressMax);
  const active = metrics.gauge("selvedge_dns_transfers_active", "Zone transfers to other servers under way");
  const ended = (kind: Kind, result: "sent" | "broken") =>
    metrics.counter("selvedge_dns_transfers_total", "Zone transfers to other servers that ended", { kind, result });
  const refused = metrics.counter("selvedge_dns_transfers_refused_total", "Requests for zone transfers that were not granted");
  const sentBytes = metrics.counter("selvedge_dns_transfer_bytes_total", "Bytes of zone transfers to other servers");

  const grant = (packet: Buffer, client: Client): Granted | undefined => {
    const query = readQuery(packet);
    const zone = zones.find(keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES));
    const side = zone && partners.outgoing(zone.id);
    if (!zone || !side || zone.key.length !== query.nameEnd - HEADER_BYTES || query.class !== CLASS.IN) return undefined;
    if (query.edns && query.edns.version > 0) return undefined;
    const record = readTsig(packet);
    if (!record) return side.admits(client.address, undefined) ? { query, zone, signature: undefined } : undefined;
    const nowSeconds = (): number => Math.floor(clock.nowMs() / 1000);
    const { error, key } = verifyRequest(packet, record, side.keys, nowSeconds());
    if (error !== TSIG_ERROR.NONE || !key || !side.admits(client.address, key)) return undefined;
    return { query, zone, signature: { key, sign: createAnswerSigner(key, record.mac, nowSeconds) } };
  };

  const recordsFor = (zone: ZoneIndex, packet: Buffer, query: Query): { kind: Kind; records: Iterator<TransferRecord, void> } => {
    const serial = query.type === TYPE.IXFR ? knownSerial(packet, zone) : undefined;
    if (serial !== undefined && !isSerialAfter(serialOf(zone), serial)) return { kind: "current", records: soaAlone(zone) };
    const versions = serial === undefined ? undefined : journal.since(zone, serial);
    if (versions && areDifferences(zone, versions) && isWorthIt(zone, versions)) {
      return { kind: "ixfr", records: differences(zone, edge, versions) };
    }
    return { kind: "axfr", records: wholeZone(zone, edge, addresses) };
  };

  const start = (packet: Buffer, client: Client, { query, zone, signature }: Granted, release: () => void): MessageStream => {
    const { kind, records } = recordsFor(zone, packet, query);
    const stream = createAnswerStream({ packet, query, records, signature, payloadBytes: deps.payloadBytes });
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
    return {
      next: () => {
        if (clock.monotonicMs() - startedMs > limits.transferTimeoutMs) throw new RangeError("the transfer takes too long");
        const message = stream.next();
        if (!message) state = "sent";
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

  return {
    open: (packet, client) => {
      if (!isTransferRequest(packet)) return undefined;
      const granted = grantOrUndefined(() => grant(packet, client));
      const release = granted && slots.take(Buffer.from(client.address).toString("hex"));
      if (!granted || !release) {
        refused.value += 1;
        return undefined;
      }
      try {
        return start(packet, client, granted, release);
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

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

function grantOrUndefined(grant: () => Granted | undefined): Granted | undefined {
  try {
    return grant();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The serial of the SOA that an IXFR request has in its authority section (RFC 1995 §3). */
function knownSerial(packet: Buffer, zone: ZoneIndex): number | undefined {
  const soa = decodeMessage(packet).authorities.find((record) => record.type === TYPE.SOA && keyOf(record.name) === zone.key);
  return soa && soaSerial(soa.rdata);
}

/** More differences than there are names are longer than the zone itself. */
const isWorthIt = (zone: ZoneIndex, versions: readonly { readonly names: readonly unknown[] }[]): boolean =>
  versions.reduce((sum, { names }) => sum + names.length, 0) <= zone.nodes.size;
