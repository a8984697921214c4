import { keepSpelling } from "./kept-spelling.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { classifyIp, type IpClass } from "#kernel/net/ip-class.ts";
import { formatIp, type IpAddress, parseIp, unmapIp } from "#kernel/net/ip.ts";
import { contentKey, readText, type TxtContent } from "./dns-text.ts";
import { type NameRule, ownerName } from "./dns-name.ts";
import type { DnsRecordWrite } from "./dns-record.ts";
import { type Plan, planOf } from "#model/zones/plan.ts";
import { describe, encodeContent, encodeData, RECORD_TYPES, RdataError, recordTypeOf, type RecordType } from "#wire/dns/record-types.ts";

/** A record with validated fields in their stored form. */
export interface PreparedRecord {
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly content_key: string;
  /** JSON. */
  readonly data: string | null;
  readonly priority: number | null;
  readonly ttl: number;
  readonly proxied: number;
  /** JSON. */
  readonly settings: string;
  readonly comment: string | null;
  /** JSON. */
  readonly tags: string;
  /** Base64. */
  readonly rdata: string;
}

/** Decides which addresses the edge may use as origins. */
export interface OriginPolicy {
  /** Called for loopback and private addresses only. */
  localOriginAllowed(address: IpAddress): boolean;
  /** Canonical addresses at which the edge itself answers. */
  readonly edgeAddresses: ReadonlySet<string>;
}

/** The operator's settings for records. */
export interface RecordPolicy extends OriginPolicy {
  readonly names: NameRule;
  readonly txtContent: TxtContent;
}

/** A `ttl` of 1 means automatic, which is 300 seconds (SPEC 2.2, dns.md). */
export const TTL_AUTOMATIC = 1;
export const TTL_SECONDS_MAX = 86_400;
const RDATA_BYTES_MAX = 4096;
/** 4096 bytes, each written as `\DDD`, and the quotes. */
const CONTENT_LENGTH_MAX = 17_000;
const TAG = /^[A-Za-z0-9_-]{1,32}(?::[^\x00-\x1f\x7f]{0,100})?$/;

/**
 * Throws the first violation in the order of dns.md: type, name, TTL, content, size, tags and comment. `known` has fields
 * that were validated before, or came from another server; fields of `write` that are equal to them are not validated
 * again.
 */
export function prepareRecord(
  write: DnsRecordWrite,
  zone: { readonly name: string; readonly plan: string },
  policy: RecordPolicy,
  known: Partial<PreparedRecord> = {},
): PreparedRecord {
  const descriptor = recordType(write.type);
  const type = descriptor.name;
  const plan = planOf(zone.plan);
  const name =
    known.type === type && known.name !== undefined && isSameName(write.name, known.name, zone.name)
      ? known.name
      : ownerName(write.name, zone.name, type, policy.names);
  const ttl = typeof write.ttl === "number" && write.ttl === known.ttl ? known.ttl : checkTtl(write.ttl ?? TTL_AUTOMATIC, plan);
  const kept = keptContent(type, write, known);
  const { content, data, priority, rdata } = kept ?? encode(descriptor, write, zone.name, policy.txtContent);
  if (type === "CNAME" && content.toLowerCase() === name && (kept === undefined || name !== known.name))
    throw contentError(type, "/content", "Content for CNAME record is invalid: the record cannot point to itself.");
  const proxied = write.proxied === true;
  if (proxied && !(kept && known.proxied === 1)) checkProxied(descriptor, content, policy);
  if (rdata.length > RDATA_BYTES_MAX && !(kept && name === known.name))
    throw new PlatformError("dns_content_too_long", { source: "/content" });
  const tags = JSON.stringify(write.tags ?? []) === known.tags ? (write.tags ?? []) : checkTags(write.tags ?? [], plan);
  const comment = write.comment === known.comment ? (known.comment ?? null) : checkComment(write.comment ?? null, plan);
  return {
    name,
    type,
    content,
    content_key: contentKey(content),
    data: data === null ? null : JSON.stringify(data),
    priority,
    ttl: proxied ? TTL_AUTOMATIC : ttl,
    proxied: proxied ? 1 : 0,
    settings: JSON.stringify(pickSettings(write.settings ?? {}, type)),
    comment,
    tags: JSON.stringify(tags),
    rdata: Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength).toString("base64"),
  };
}

/**
 * SPEC 2.3: the service itself creates the SOA record and the records of DNSSEC. A type given as a number (RFC 3597 §5)
 * must be one that the service does not know by name.
 */
function recordType(name: string | undefined): RecordType {
  const type = name?.toUpperCase() ?? "";
  const descriptor = recordTypeOf(type);
  if (descriptor === undefined)
    throw new PlatformError("dns_type_invalid", {
      source: "/type",
      message: type === "" ? "DNS record type is required." : `DNS record type ${JSON.stringify(type.slice(0, 32))} is invalid.`,
    });
  if (descriptor.generated)
    throw new PlatformError("dns_type_invalid", {
      source: "/type",
      message: `The ${descriptor.name} record is created by the service; change its values in the zone's DNS settings.`,
    });
  return descriptor;
}

function checkTtl(ttl: number, plan: Plan): number {
  if (ttl === TTL_AUTOMATIC || (ttl >= plan.ttl_seconds_min && ttl <= TTL_SECONDS_MAX)) return ttl;
  throw new PlatformError("dns_ttl_invalid", {
    source: "/ttl",
    message: `TTL must be between ${plan.ttl_seconds_min} and ${TTL_SECONDS_MAX} seconds, or 1 for Automatic.`,
  });
}

interface Encoded {
  readonly content: string;
  readonly data: object | null;
  readonly priority: number | null;
  readonly rdata: Uint8Array;
}

/** Equal to the name in responses, with a final dot, or relative to the zone. */
const isSameName = (input: string | undefined, name: string, zoneName: string): boolean => {
  const lower = input?.toLowerCase();
  return lower === name || lower === `${name}.` || `${lower}.${zoneName}` === name;
};

/** The known content, if the write does not change it. */
function keptContent(type: string, { content, data, priority }: DnsRecordWrite, known: Partial<PreparedRecord>): Encoded | undefined {
  if (known.rdata === undefined || known.content === undefined || known.type !== type) return undefined;
  const isSame = (data ?? null) === null ? content === known.content : JSON.stringify(data) === known.data;
  if (!isSame || (priority ?? null) !== (known.priority ?? null)) return undefined;
  return {
    content: known.content,
    data: (known.data ?? null) === null ? null : (JSON.parse(known.data as string) as object),
    priority: known.priority ?? null,
    rdata: Buffer.from(known.rdata, "base64"),
  };
}

function encode(descriptor: RecordType, write: DnsRecordWrite, origin: string, txtContent: TxtContent): Encoded {
  const type = descriptor.name;
  const data = descriptor.structured ? (write.data ?? null) : null;
  const source = data === null ? "/content" : "/data";
  const content = write.content ?? "";
  if (data === null && content === "") throw contentError(type, source, `Content for ${type} record is required.`);
  if (content.length > CONTENT_LENGTH_MAX) throw new PlatformError("dns_content_too_long", { source });
  const options = { origin, ...(typeof write.priority === "number" ? { priority: write.priority } : {}) };
  // `\\#` begins RDATA in hexadecimal (RFC 3597 §5), which is not text.
  const isText = type === "TXT" && !content.startsWith("\\#");
  const read = isText ? readText(content, txtContent) : { text: content, shown: content };
  if (read === undefined)
    throw contentError(type, source, "Content for TXT record is invalid: quotation marks must enclose every string, or none.");
  try {
    const rdata = data === null ? encodeContent(type, read.text, options) : encodeData(type, data, options);
    const shown = keepSpelling(type, describe(type, rdata), { content, data });
    // TXT content stays as sent, however it is split on the wire (dns.md, "TXT").
    return { content: isText ? read.shown : shown.content, data: shown.data, priority: shown.priority, rdata };
  } catch (error) {
    if (error instanceof RdataError) throw contentError(type, faultyMember(descriptor, write, error, source), error.message);
    throw error;
  }
}

/** The member of the write at fault. A priority stands beside the content, or is its first word. */
function faultyMember(
  type: RecordType,
  { content, priority }: DnsRecordWrite,
  { field }: RdataError,
  source: "/content" | "/data",
): string {
  const isApart = source === "/data" ? type.priority === "apart" : (content ?? "").trim().split(/\s+/).length < type.fields.length;
  if (field === "priority" && type.priority !== undefined && (isApart || typeof priority === "number")) return "/priority";
  return source === "/data" && field !== undefined ? `/data/${field}` : source;
}

function contentError(type: string, source: string, message: string): PlatformError {
  if (type === "A") return new PlatformError("dns_content_a", { source });
  if (type === "AAAA") return new PlatformError("dns_content_aaaa", { source });
  return new PlatformError("dns_content_invalid", { source, message });
}

/** Addresses that cannot be an origin. */
const NO_ORIGIN: ReadonlySet<IpClass> = new Set(["unspecified", "multicast", "broadcast", "reserved"]);
const LOCAL: ReadonlySet<IpClass> = new Set(["loopback", "private", "shared", "link_local", "metadata", "unique_local"]);

/** Whether the record can be proxied: an address type whose address the edge may connect to (SPEC 1.2). */
export function isProxiable(type: string, content: string, origins: OriginPolicy): boolean {
  if (RECORD_TYPES[type]?.proxiable !== true) return false;
  if (type !== "A" && type !== "AAAA") return true;
  const address = parseIp(content);
  if (address === undefined) return false;
  const ipClass = classifyIp(address);
  return !NO_ORIGIN.has(ipClass) && (!LOCAL.has(ipClass) || origins.localOriginAllowed(address));
}

function checkProxied(descriptor: RecordType, content: string, origins: OriginPolicy): void {
  if (!isProxiable(descriptor.name, content, origins)) throw new PlatformError("dns_proxied_invalid", { source: "/proxied" });
  const address = descriptor.name === "CNAME" ? undefined : parseIp(content);
  // SPEC 2.3. On loopback, the edge and its origins share the address and use different ports.
  if (address !== undefined && classifyIp(address) !== "loopback" && origins.edgeAddresses.has(formatIp(unmapIp(address)))) {
    throw new PlatformError("dns_origin_own_address", { source: "/content" });
  }
}

function checkTags(tags: readonly string[], plan: Plan): readonly string[] {
  if (tags.length > plan.tags_max)
    throw new PlatformError("dns_tags_quota", {
      source: "/tags",
      message: `DNS record has ${tags.length} tags, exceeding the quota of ${plan.tags_max}.`,
    });
  for (const [index, tag] of tags.entries()) {
    if (!TAG.test(tag)) throw new PlatformError("dns_tag_invalid", { source: `/tags/${index}` });
  }
  return [...new Set(tags)];
}

function checkComment(comment: string | null, plan: Plan): string | null {
  if (comment === null || comment === "") return null;
  if (/[\r\n]/.test(comment))
    throw new PlatformError("dns_comment_invalid", { source: "/comment", message: "DNS record comment must be one line." });
  if ([...comment].length <= plan.comment_length_max) return comment;
  throw new PlatformError("dns_comment_invalid", {
    source: "/comment",
    message: `DNS record comment has more than ${plan.comment_length_max} characters.`,
  });
}

/** Keeps enabled settings that the type supports. */
function pickSettings(settings: NonNullable<DnsRecordWrite["settings"]>, type: string): object {
  const known = type === "CNAME" ? (["ipv4_only", "ipv6_only", "flatten_cname"] as const) : (["ipv4_only", "ipv6_only"] as const);
  const kept: Record<string, boolean> = {};
  for (const key of known) if (settings[key] === true) kept[key] = true;
  return kept;
}
