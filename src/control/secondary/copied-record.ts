import type { PreparedRecord } from "#model/dns/prepared-record.ts";
import { contentKey } from "#model/dns/dns-text.ts";
import { withFinalDot } from "#model/dns/kept-spelling.ts";
import { canonicalRdata } from "#wire/dns/canonical.ts";
import { TYPE } from "#wire/dns/codes.ts";
import type { ResourceRecord } from "#wire/dns/message.ts";
import { formatName, keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";
import { describe, recordTypeByCode, recordTypeOf, typeCode } from "#wire/dns/record-types.ts";
import { TransferError } from "#wire/dns/transfer-reader.ts";

/** Equal for records of a zone that differ at most in TTL (RFC 2181 §5). */
export type RecordKey = string;

export const recordKey = (name: NameKey, type: number, rdata: Uint8Array): RecordKey =>
  `${name}${type} ${Buffer.from(canonicalRdata(type, rdata)).toString("latin1")}`;

export const keyOfRecord = ({ name, type, rdata }: ResourceRecord): RecordKey => recordKey(keyOf(name), type, rdata);

/** The key of a stored record. */
export const keyOfRow = (row: { readonly name: string; readonly type: string; readonly rdata: string }): RecordKey =>
  recordKey(keyOf(parseAbsoluteName(row.name)), typeCode(row.type) ?? 0, Buffer.from(row.rdata, "base64"));

/**
 * Types that a signing primary adds to its zone: SIG, KEY, NXT, RRSIG, NSEC, DNSKEY, NSEC3, NSEC3PARAM, CDS, CDNSKEY,
 * ZONEMD. They would be wrong here, because this server creates and signs answers by the zone's settings.
 */
const SIGNING_TYPES: ReadonlySet<number> = new Set([24, 25, 30, 46, 47, 48, 50, 51, 59, 60, 63]);

/** How a primary's record is used: as part of the apex, as a record, or not at all. */
export function roleOf({ name, type }: Pick<ResourceRecord, "name" | "type">, zone: NameKey): "apex" | "record" | "none" {
  if (SIGNING_TYPES.has(type)) return "none";
  return type === TYPE.NS && keyOf(name) === zone ? "apex" : "record";
}

/** Throws TransferError if a zone here cannot contain the record. */
export function assertServable(record: ResourceRecord, zone: NameKey): void {
  const fail = (problem: string): never => {
    throw new TransferError(`${formatName(record.name).toLowerCase()} ${problem}`);
  };
  const type = typeName(record.type);
  if (recordTypeOf(type) === undefined) fail(`has a record of type ${type}, which this server cannot serve`);
  if (record.type === TYPE.CNAME && keyOf(record.name) === zone) fail("is the zone's name and has a CNAME record");
}

/** The record in stored form. */
export function copiedRecord(record: ResourceRecord, proxied: boolean): PreparedRecord {
  const type = typeName(record.type);
  const name = formatName(record.name).toLowerCase();
  const { content, data, priority } = withFinalDot(type, describe(type, record.rdata));
  return {
    name,
    type,
    content,
    content_key: contentKey(content),
    data: data === null ? null : JSON.stringify(data),
    priority,
    ttl: storedTtl(record.ttl),
    proxied: proxied ? 1 : 0,
    settings: "{}",
    comment: null,
    tags: "[]",
    rdata: Buffer.from(record.rdata).toString("base64"),
  };
}

export const typeName = (code: number): string => recordTypeByCode(code)?.name ?? `TYPE${code}`;

/** RFC 2181 §8: a TTL with the highest bit set means zero. One second also becomes zero, because 1 means "automatic" here. */
export const storedTtl = (ttl: number): number => (ttl === 1 || ttl > 0x7fff_ffff ? 0 : ttl);
