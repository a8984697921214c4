import { createMetrics } from "#kernel/process/metrics.ts";
import { systemClock, type Clock } from "#kernel/clock.ts";
import type { Client } from "#nameserver/message/client.ts";
import { NAMESERVER_LIMITS, type NameserverLimits } from "#nameserver/config.ts";
import { createSigner } from "#nameserver/dnssec/signer.ts";
import type { MessageStream } from "#nameserver/transfers/message-stream.ts";
import { createTransferPartners } from "#nameserver/tsig/transfer-acl.ts";
import { createTransfersOut } from "#nameserver/transfers/xfr-server.ts";
import { createZoneJournal } from "#nameserver/zones/zone-journal.ts";
import { createZones } from "#nameserver/zones/zones.ts";
import type { Op, TransferEntry, TransferPeerEntry, TsigEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { formatName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { createTransferReader, type Transfer } from "#wire/dns/transfer-reader.ts";
import { clientAt, SEALER } from "./nameserver.ts";

export const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };

/** A peer that needs no key. */
export const PLAIN_PEER: TransferPeerEntry = { ip: "198.51.100.100", port: 53, tsig: null };

export const tsigEntry = (id: string, name: string, secret: Uint8Array, algorithm = "hmac-sha256"): TsigEntry => ({
  id,
  name,
  algorithm,
  secret: SEALER.seal(Buffer.from(secret).toString("base64"), `tsig:${id}`),
});

export const transferOp = (zoneId: string, peers: readonly TransferPeerEntry[], acl: readonly string[] = []): Op => ({
  kind: "transfer",
  id: zoneId,
  value: { outgoing: { peers, acl }, incoming: null } satisfies TransferEntry,
});

/** A request for the zone, or for the changes since the serial. */
export function transferRequest(zone: string, serial?: number): Buffer {
  const name = parseAbsoluteName(zone);
  const soa = Buffer.alloc(22);
  soa.writeUInt32BE(serial ?? 0, 2);
  return encodeMessage({
    id: 4711,
    flags: 0,
    questions: [{ name, type: serial === undefined ? TYPE.AXFR : TYPE.IXFR, class: CLASS.IN }],
    answers: [],
    authorities: serial === undefined ? [] : [{ name, type: TYPE.SOA, class: CLASS.IN, ttl: 0, rdata: soa }],
    additionals: [],
  }) as Buffer;
}

/** The transfer server, over a snapshot that the test changes. */
export function transfersOver(ops: readonly Op[], limits: Partial<NameserverLimits> = {}, clock: Clock = systemClock) {
  const replica = createMemoryReplica(ops);
  const metrics = createMetrics();
  const all = { ...NAMESERVER_LIMITS, ...limits };
  const partners = createTransferPartners(replica.snapshot, SEALER);
  const journal = createZoneJournal({ wants: (id) => partners.outgoing(id) !== undefined, weightMax: all.journalWeightMax });
  const zones = createZones([journal]);
  zones.rebuild(replica.snapshot);
  replica.onApplied((applied) => {
    if (applied) zones.apply(applied);
    else {
      zones.rebuild(replica.snapshot);
      journal.clear();
    }
  });
  const log: string[] = [];
  const { signatures: zoneSignatures } = createSigner({ edge: EDGE, clock, sealer: SEALER, metrics, log: () => {} });
  const transfers = createTransfersOut({
    zones,
    edge: EDGE,
    partners,
    journal,
    zoneSignatures,
    findOutside: () => undefined,
    clock,
    metrics,
    limits: all,
    log: (_level, message, { kind, messages, reason = "" }) =>
      log.push(`${message}: ${String(kind)}, ${String(messages)} messages ${String(reason)}`),
  });
  return { replica, zones, transfers, partners, metrics, log };
}

/** The rest of a stream, put together as a secondary does. Throws TransferError. */
export function readTransfer(zone: string, serial: number | undefined, stream: MessageStream, first: readonly Buffer[] = []): Transfer {
  const reader = createTransferReader({ zone: keyOf(parseAbsoluteName(zone)), serial: serial ?? null, recordsMax: 1_000_000 });
  const take = (message: Buffer): void => {
    for (const record of decodeMessage(message).answers) reader.take(record);
    reader.endMessage();
  };
  first.forEach(take);
  for (let message = stream.next(); message !== undefined; message = stream.next()) if (message) take(message);
  stream.close();
  if (!reader.transfer) throw new Error("the transfer is not whole");
  return reader.transfer;
}

export const PEER: Client = clientAt("tcp");

/** A record as a unique line. */
export const lineOf = ({ name, type, ttl, rdata }: Omit<ResourceRecord, "class">): string =>
  `${formatName(name)} ${ttl} ${type} ${Buffer.from(rdata).toString("hex")}`.toLowerCase();
