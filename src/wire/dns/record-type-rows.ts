import {
  base64,
  certificateType,
  characterString,
  characterStrings,
  eui48,
  eui64,
  type FieldCodec,
  hex,
  ipv4,
  ipv6,
  keyAlgorithm,
  name,
  propertyTag,
  text,
  u8,
  u16,
  u32,
} from "./field-codecs.ts";
import { recordTypeCodec, recordTypesCodec, timestamp, type TypeNames } from "./dnssec-codecs.ts";
import { location } from "./location.ts";
import { serviceParams } from "./service-params.ts";

/** One field of RDATA; `key` is its name in the API's `data`. */
export interface RdataField {
  readonly key: string;
  readonly codec: FieldCodec<unknown>;
}

export interface RecordType {
  readonly name: string;
  readonly code: number;
  /** Whether the edge can stand in for the record's addresses (SPEC 1, area 2). */
  readonly proxiable: boolean;
  /** The API takes and shows `data`; `content` is derived from it (contract.md §3). */
  readonly structured: boolean;
  /** In the order of the wire and of the master file. */
  readonly fields: readonly RdataField[];
  /**
   * The first field is shown as the record's own `priority` instead of in `content` (contract.md §3):
   * `apart` keeps it out of `data` too, `both` does not.
   */
  readonly priority?: "apart" | "both";
  /** Made by the service, so that nobody writes it through the API (SPEC 2.3, dns.md "DNSSEC"). */
  readonly generated?: true;
  /** Why values that are fine one by one cannot stand together, to follow the type's name: "must …". */
  readonly conflict?: (values: readonly unknown[]) => string | undefined;
  /** Names in it may be compressed in messages: only the types of RFC 1035 (RFC 3597 §4). */
  readonly compressible?: true;
}

/** In the order of the wire; the keys are the API's. */
type Fields = Readonly<Record<string, FieldCodec<unknown>>>;
type Traits = Partial<Pick<RecordType, "proxiable" | "structured" | "priority" | "generated" | "conflict" | "compressible">>;

const row = (type: string, code: number, fields: Fields, traits: Traits = {}): RecordType => ({
  name: type,
  code,
  proxiable: false,
  structured: false,
  ...traits,
  fields: Object.entries(fields).map(([key, codec]) => ({ key, codec })),
});

const data: Traits = { structured: true };
const generated: Traits = { generated: true };
const DS: Fields = { key_tag: u16, algorithm: keyAlgorithm, digest_type: u8, digest: hex };
const TLSA: Fields = { usage: u8, selector: u8, matching_type: u8, certificate: hex };
const SVCB: Fields = { priority: u16, target: name, value: serviceParams };
const DNSKEY: Fields = { flags: u16, protocol: u8, algorithm: keyAlgorithm, public_key: base64 };
const SOA: Fields = { mname: name, rname: name, serial: u32, refresh: u32, retry: u32, expire: u32, min_ttl: u32 };
const NAPTR: Fields = {
  order: u16,
  preference: u16,
  flags: characterString,
  service: characterString,
  regex: characterString,
  replacement: name,
};

/** The rows below by name; only asked once they are there. */
const typeNames: TypeNames = {
  nameOf: (code) => RECORD_TYPE_ROWS.find((type) => type.code === code)?.name ?? `TYPE${code}`,
  codeOf: (text) => {
    const digits = /^TYPE(\d{1,5})$/.exec(text)?.[1];
    const code = RECORD_TYPE_ROWS.find((type) => type.name === text)?.code ?? Number(digits ?? Number.NaN);
    return code <= 65_535 ? code : undefined;
  },
};
const RRSIG: Fields = {
  type_covered: recordTypeCodec(typeNames),
  algorithm: u8,
  labels: u8,
  original_ttl: u32,
  expiration: timestamp,
  inception: timestamp,
  key_tag: u16,
  signer: name,
  signature: base64,
};
const NSEC: Fields = { next: name, types: recordTypesCodec(typeNames) };

/** RFC 9460 §2.4.2: priority 0 makes an alias, which has no parameters. */
const aliasConflict = ([priority, , params]: readonly unknown[]): string | undefined =>
  priority === 0 && (params as readonly unknown[]).length > 0 ? "must not have parameters with priority 0" : undefined;

export const RECORD_TYPE_ROWS: readonly RecordType[] = [
  row("A", 1, { address: ipv4 }, { proxiable: true }),
  row("NS", 2, { target: name }, { compressible: true }),
  row("CNAME", 5, { target: name }, { proxiable: true, compressible: true }),
  row("SOA", 6, SOA, { compressible: true, generated: true }),
  row("MB", 7, { mailbox: name }, { compressible: true }),
  row("MG", 8, { mailbox: name }, { compressible: true }),
  row("MR", 9, { mailbox: name }, { compressible: true }),
  row("PTR", 12, { target: name }, { compressible: true }),
  row("HINFO", 13, { cpu: characterString, os: characterString }),
  row("MINFO", 14, { mailbox: name, errors: name }, { compressible: true }),
  row("MX", 15, { priority: u16, target: name }, { priority: "apart", compressible: true }),
  row("TXT", 16, { text: characterStrings }),
  row("RP", 17, { mailbox: name, text: name }),
  row("AFSDB", 18, { subtype: u16, target: name }),
  row("X25", 19, { address: characterString }),
  row("ISDN", 20, { address: characterStrings }),
  row("RT", 21, { preference: u16, target: name }),
  row("PX", 26, { preference: u16, map822: name, mapx400: name }),
  row("AAAA", 28, { address: ipv6 }, { proxiable: true }),
  row("LOC", 29, { location }, data),
  row("SRV", 33, { priority: u16, weight: u16, port: u16, target: name }, { structured: true, priority: "both" }),
  row("NAPTR", 35, NAPTR, data),
  row("KX", 36, { preference: u16, target: name }),
  row("CERT", 37, { type: certificateType, key_tag: u16, algorithm: keyAlgorithm, certificate: base64 }, data),
  row("DNAME", 39, { target: name }),
  row("DS", 43, DS, data),
  row("SSHFP", 44, { algorithm: u8, type: u8, fingerprint: hex }, data),
  row("RRSIG", 46, RRSIG, generated),
  row("NSEC", 47, NSEC, generated),
  row("DNSKEY", 48, DNSKEY, data),
  row("DHCID", 49, { digest: base64 }),
  row("TLSA", 52, TLSA, data),
  row("SMIMEA", 53, TLSA, data),
  row("CDS", 59, DS, generated),
  row("CDNSKEY", 60, DNSKEY, generated),
  row("OPENPGPKEY", 61, { key: base64 }),
  row("SVCB", 64, SVCB, { ...data, conflict: aliasConflict }),
  row("HTTPS", 65, SVCB, { ...data, conflict: aliasConflict }),
  row("SPF", 99, { text: characterStrings }),
  row("L32", 105, { preference: u16, locator: ipv4 }),
  row("LP", 107, { preference: u16, target: name }),
  row("EUI48", 108, { address: eui48 }),
  row("EUI64", 109, { address: eui64 }),
  row("URI", 256, { priority: u16, weight: u16, target: text }, { structured: true, priority: "apart" }),
  row("CAA", 257, { flags: u8, tag: propertyTag, value: text }, data),
  row("AVC", 258, { text: characterStrings }),
  row("RESINFO", 261, { text: characterStrings }),
  row("WALLET", 262, { text: characterStrings }),
  row("TA", 32_768, DS),
  row("DLV", 32_769, DS),
];

/**
 * Types whose text we do not read. RFC 3597 §5 has a form for all of them, and for those with names inside it is
 * as good, since no server may compress these.
 */
export const UNREAD_TYPES: ReadonlyMap<string, number> = new Map([
  ["WKS", 11],
  ["NSAP", 22],
  ["NSAP-PTR", 23],
  ["SIG", 24],
  ["KEY", 25],
  ["GPOS", 27],
  ["A6", 38],
  ["SINK", 40],
  ["APL", 42],
  ["IPSECKEY", 45],
  ["HIP", 55],
  ["NINFO", 56],
  ["RKEY", 57],
  ["TALINK", 58],
  ["CSYNC", 62],
  ["NID", 104],
  ["L64", 106],
  ["DOA", 259],
  ["AMTRELAY", 260],
]);
