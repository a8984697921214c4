import type { Clock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Query } from "#wire/dns/query.ts";
import { createAnswerSigner, refuseSignature, type TsigKey, tsigBytes, type TsigVerdict, verifyRequest } from "#wire/dns/tsig.ts";
import { readTsig, TSIG_ERROR, type TsigRecord } from "#wire/dns/tsig-record.ts";
import type { TransferPartners } from "./transfer-acl.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

/** What the signature of a message is worth, and how its response is signed (RFC 8945). */
export interface Signature {
  /** The key that made it; undefined where it is missing or refused. */
  readonly key: TsigKey | undefined;
  /** Nothing of what the message asks for may be told: the response says NOTAUTH, and why. */
  readonly isRefused: boolean;
  /** By how much signing makes a message longer. */
  readonly bytes: number;
  /** Signs the messages of the response, in their order. */
  sign(message: Buffer): Buffer;
}

export const UNSIGNED: Signature = { key: undefined, isRefused: false, bytes: 0, sign: (message) => message };

/** Throws WireError where the signature is none (RFC 8945 §5.2: FORMERR). */
export type ReadSignature = (packet: Buffer, query: Query) => Signature;

export interface TsigCheckDeps {
  readonly zones: Zones;
  readonly partners: TransferPartners;
  readonly clock: Clock;
}

/**
 * A key counts for messages about the zones of those who manage it, whatever they are about. Those that wait under the name may be
 * meant as well, as where their primary announces a change; for who has none of their keys the answer is the same without them.
 */
export function createTsigCheck({ zones, partners, clock }: TsigCheckDeps): ReadSignature {
  const nowSeconds = (): number => Math.floor(clock.nowMs() / 1000);
  const byOthers = (packet: Buffer, record: TsigRecord, name: NameKey): TsigVerdict | undefined => {
    const keys = zones.named(name).flatMap(({ id }) => partners.keys(id));
    const verdict = verifyRequest(packet, record, keys, nowSeconds());
    return verdict.error === TSIG_ERROR.NONE ? verdict : undefined;
  };
  return (packet, query) => {
    const record = query.isSigned ? readTsig(packet) : undefined;
    if (!record) return UNSIGNED;
    const name = keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES);
    const zone = zones.nearestZone(name, null);
    const own = verifyRequest(packet, record, zone ? partners.keys(zone.id) : [], nowSeconds());
    const verdict = own.key ? own : (byOthers(packet, record, name) ?? own);
    const { error, key } = verdict;
    // The packet's memory may be somebody else's when the response is signed.
    const request: TsigRecord = { ...record, mac: Buffer.from(record.mac) };
    if (error === TSIG_ERROR.NONE && key)
      return { key, isRefused: false, bytes: tsigBytes(key), sign: createAnswerSigner(key, request.mac, nowSeconds) };
    return {
      key: undefined,
      isRefused: true,
      bytes: REFUSAL_BYTES,
      sign: (message) => refuseSignature(message, request, verdict, nowSeconds()),
    };
  };
}

/** A refusal carries the names that the client has sent; most have less. */
const REFUSAL_BYTES = 128;
