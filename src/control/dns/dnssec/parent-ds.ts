import { getServers } from "node:dns";
import { queryResolver, type ResolverAddress } from "#control/dns/scan/query-resolver.ts";
import { FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message, ResourceRecord } from "#wire/dns/message.ts";
import { isWithin, keyOf, type NameKey, parseAbsoluteName } from "#wire/dns/name.ts";

/** The DS set of a zone at its parent, as seen by resolvers. */
export interface DsSet {
  /** RDATA of each record; empty if the parent has none. */
  readonly records: readonly Uint8Array[];
  /** Seconds that caches may keep the set; 0 if it is empty. */
  readonly ttl: number;
}

/** Never rejects: `reason` completes "the parent could not be seen:". */
export type QueryParentDs = (zoneName: string) => Promise<DsSet | { readonly reason: string }>;

const TIMEOUT_MS = 2_000;
/** Asking more resolvers does not make the result more reliable. */
const RESOLVERS_MAX = 3;
const RECORDS_MAX = 32;
const RRSIG = 46;
/** Assumed original TTL of an unsigned set, of which resolvers only show the remainder: that of most top-level domains. */
const TTL_UNSIGNED_SECONDS = 86_400;

/** `resolvers`: those to ask; empty: the system's. If they disagree, the result is a failure. */
export const createQueryParentDs =
  (resolvers: readonly ResolverAddress[]): QueryParentDs =>
  async (zoneName) => {
    const asked = (resolvers.length > 0 ? resolvers : getServers()).slice(0, RESOLVERS_MAX);
    if (asked.length === 0) return { reason: "no resolver is configured" };
    const answers = await Promise.all(asked.map((address) => look(address, zoneName)));
    const seen = answers.filter((answer) => "records" in answer);
    const [first, ...others] = seen;
    if (first === undefined) return { reason: answers.map((answer) => ("reason" in answer ? answer.reason : "")).join("; ") };
    if (others.some((other) => fingerprint(other) !== fingerprint(first))) return { reason: "the resolvers do not agree yet" };
    return { records: first.records, ttl: Math.max(...seen.map(({ ttl }) => ttl)) };
  };

async function look(address: ResolverAddress, zoneName: string): Promise<DsSet | { readonly reason: string }> {
  try {
    const name = parseAbsoluteName(zoneName);
    return dsSetOf(await queryResolver(address, name, TYPE.DS, TIMEOUT_MS), keyOf(name));
  } catch (error) {
    return { reason: `${address}: ${(error as Error).message}` };
  }
}

/** Throws if the response does not describe the parent. */
function dsSetOf(answer: Message, zone: NameKey): DsSet {
  const rcode = answer.flags & 0xf;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) throw new Error(`it responded with RCODE ${rcode}`);
  // A referral has neither flag and contains no information about the DS.
  if ((answer.flags & (FLAG.AA | FLAG.RA)) === 0) throw new Error("it is not a resolver");
  const own = answer.answers.filter((record) => keyOf(record.name) === zone);
  const ds = own.filter(({ type }) => type === TYPE.DS).slice(0, RECORDS_MAX);
  if (ds.length === 0) assertAbsent(answer, zone);
  return { records: ds.map(({ rdata }) => rdata), ttl: ds.length === 0 ? 0 : wholeTtl(ds, own) };
}

/**
 * RFC 2308 §2: a negative answer contains the SOA of the zone that it comes from, which must be the parent's (RFC 4035
 * §3.1.4.1).
 */
function assertAbsent(answer: Message, zone: NameKey): void {
  const soa = answer.authorities.find(({ type }) => type === TYPE.SOA);
  const owner = soa && keyOf(soa.name);
  if (owner === undefined || owner === zone || !isWithin(zone, owner))
    throw new Error("its response contains nothing from the parent zone");
}

/** Resolvers return the remaining TTL; the signature contains the original one (RFC 4034 §3.1.4). */
function wholeTtl(ds: readonly ResourceRecord[], own: readonly ResourceRecord[]): number {
  const left = Math.max(...ds.map(({ ttl }) => ttl));
  const signed = own.filter(({ type, rdata }) => type === RRSIG && rdata.length > 8 && Buffer.from(rdata).readUInt16BE(0) === TYPE.DS);
  const whole = signed.map(({ rdata }) => Buffer.from(rdata).readUInt32BE(4));
  return Math.max(left, ...(whole.length > 0 ? whole : [TTL_UNSIGNED_SECONDS]));
}

const fingerprint = ({ records }: DsSet): string =>
  records
    .map((rdata) => Buffer.from(rdata).toString("hex"))
    .sort()
    .join();
