import type { Clock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import { keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Query } from "#wire/dns/query.ts";
import { createAnswerSigner, refuseSignature, type TsigKey, tsigBytes, type TsigVerdict, verifyRequest } from "#wire/dns/tsig.ts";
import { readTsig, TSIG_ERROR, type TsigRecord } from "#wire/dns/tsig-record.ts";
import type { TransferPartners } from "./transfer-acl.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

/** The result of verifying a message's TSIG, and how to sign its response (RFC 8945). */
export interface Signature {
  /** The key that signed the message; undefined if the TSIG is missing or refused. */
  readonly key: TsigKey | undefined;
  /** The message must not be answered: the response is NOTAUTH with the reason. */
  readonly isRefused: boolean;
  /** Bytes that signing adds to a message. */
  readonly bytes: number;
  /** Signs the messages of the response, in order. */
  sign(message: Buffer): Buffer;
}

export const UNSIGNED: Signature = { key: undefined, isRefused: false, bytes: 0, sign: (message) => message };

/** Throws WireError if the TSIG record is malformed (RFC 8945 §5.2: FORMERR). */
export type ReadSignature = (packet: Buffer, query: Query) => Signature;

export interface TsigCheckDeps {
  readonly zones: Zones;
  readonly partners: TransferPartners;
  readonly clock: Clock;
}

/**
 * A key is valid for messages about the zones that use it only. Keys of all zones of the name are tried, also of unproved
 * ones, for example when their primary announces a change; a client without any of their keys gets the same response as
 * if these zones did not exist.
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
    // The packet's memory may be reused before the response is signed.
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

/** A refusal repeats the client's names; most are shorter than this. */
const REFUSAL_BYTES = 128;
