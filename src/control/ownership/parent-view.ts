import { getServers } from "node:dns";
import { queryAuthority, queryResolver, type ResolverAddress } from "#control/dns/scan/query-resolver.ts";
import type { Clock } from "#kernel/clock.ts";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import { formatIp } from "#kernel/net/ip.ts";
import { FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message, ResourceRecord } from "#wire/dns/message.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";

/** A zone's delegation according to the parent's own servers. */
export interface ParentView {
  /** Host names of the NS records, sorted; empty if not delegated. */
  readonly nameServers: readonly string[];
  /** RDATA of the DS records. */
  readonly ds: readonly Uint8Array[];
}

/**
 * Queries the servers of the parent zone directly, because resolvers may return this installation's own answers for a
 * pending zone. Resolvers are only used to find these servers. Never rejects, and takes at most `budgetMs`; `reason`
 * completes "the parent could not be seen:".
 */
export type QueryParentServers = (name: string, budgetMs: number) => Promise<ParentView | { readonly reason: string }>;

export interface ParentViewDeps {
  readonly clock: Clock;
  /** Empty: the system's resolvers. */
  readonly resolvers: readonly ResolverAddress[];
  /** Whether a server at this address may be queried, because names may have any address. */
  readonly isAllowed: AddressPolicy;
  /** Port of the parent's servers; other than 53 in tests only. */
  readonly port?: number;
}

const ASK_MS = 2_000;
/** Asking more of them does not make the result more reliable. */
const RESOLVERS_MAX = 3;
const SERVERS_MAX = 3;
const SERVER_NAMES_MAX = 4;
/** Limit of referrals to a nearer parent. */
const REFERRALS_MAX = 4;
const RECORDS_MAX = 32;

type Ask = (name: string, type: number) => Promise<Message>;

export function createQueryParentServers({ clock, resolvers, isAllowed, port = 53 }: ParentViewDeps): QueryParentServers {
  const look = async (name: string, left: () => number): Promise<ParentView> => {
    const asked = (resolvers.length > 0 ? resolvers : getServers()).slice(0, RESOLVERS_MAX);
    const resolve: Ask = (question, type) => firstGood(asked, (address) => viaResolver(address, question, type, left()));
    let servers = await serversOf(resolve, await zoneAbove(resolve, name));
    for (let referrals = 0; referrals <= REFERRALS_MAX; referrals++) {
      const addresses = await addressesOf(resolve, servers);
      const allowed = addresses.filter((address) => isAllowed(address, port)).slice(0, SERVERS_MAX);
      if (allowed.length === 0)
        throw new Error(`none of ${servers.slice(0, SERVER_NAMES_MAX).join(", ")} has an address that may be queried`);
      const views = await Promise.all(
        allowed.map((address) => viewOf(endpoint(address, port), name, left).catch((error: unknown) => error)),
      );
      const seen = views.filter((view): view is Seen => !(view instanceof Error));
      const [first, ...others] = seen;
      if (first === undefined) throw views[0];
      if (others.some((other) => fingerprint(other) !== fingerprint(first))) throw new Error("its servers do not agree yet");
      if (!("nearer" in first)) return first;
      servers = first.nearer;
    }
    throw new Error("the referrals never end");
  };
  return async (name, budgetMs) => {
    const untilMs = clock.monotonicMs() + budgetMs;
    const left = (): number => {
      const ms = Math.min(ASK_MS, untilMs - clock.monotonicMs());
      if (ms <= 0) throw new Error(`no response within ${budgetMs} ms`);
      return ms;
    };
    try {
      return await look(name, left);
    } catch (error) {
      return { reason: (error as Error).message };
    }
  };
}

async function firstGood(addresses: readonly ResolverAddress[], ask: (address: ResolverAddress) => Promise<Message>): Promise<Message> {
  let failed: unknown = new Error("no resolver is configured");
  for (const address of addresses) {
    try {
      return await ask(address);
    } catch (error) {
      failed = new Error(`${address}: ${(error as Error).message}`, { cause: error });
    }
  }
  throw failed;
}

async function viaResolver(address: ResolverAddress, name: string, type: number, timeoutMs: number): Promise<Message> {
  const answer = await queryResolver(address, parseAbsoluteName(name), type, timeoutMs);
  assertGood(answer);
  if ((answer.flags & (FLAG.AA | FLAG.RA)) === 0) throw new Error("it is not a resolver");
  return answer;
}

function assertGood({ flags }: Message): void {
  const rcode = flags & 0xf;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) throw new Error(`it responded with RCODE ${rcode}`);
}

/**
 * The zone that contains the parent name: its SOA record is in the answer, or in the authority section of a negative one
 * (RFC 2308 §2).
 */
async function zoneAbove(resolve: Ask, name: string): Promise<string> {
  const above = name.slice(name.indexOf(".") + 1);
  const answer = await resolve(above, TYPE.SOA);
  const soa = [...answer.answers, ...answer.authorities].find(
    ({ type, name: owner }) => type === TYPE.SOA && isWithin(above, textOf(owner)),
  );
  if (soa === undefined) throw new Error(`no server says which zone ${above} is in`);
  return textOf(soa.name);
}

async function serversOf(resolve: Ask, zone: string): Promise<readonly string[]> {
  const names = targetsOf((await resolve(zone, TYPE.NS)).answers, zone);
  if (names.length === 0) throw new Error(`${zone} has no name servers`);
  return names;
}

/** IPv6 is only used if no IPv4 address exists, because not every machine has it. */
async function addressesOf(resolve: Ask, names: readonly string[]): Promise<readonly string[]> {
  const found = async (type: number): Promise<readonly string[]> => {
    const some = names.slice(0, SERVER_NAMES_MAX);
    const answers = await Promise.all(some.map((name) => resolve(name, type).catch(() => null)));
    return answers.flatMap((answer) =>
      (answer?.answers ?? [])
        .filter((record) => record.type === type)
        .slice(0, SERVERS_MAX)
        .flatMap(addressIn),
    );
  };
  const v4 = await found(TYPE.A);
  return v4.length > 0 ? v4 : found(TYPE.AAAA);
}

const addressIn = ({ type, rdata }: ResourceRecord): readonly string[] => {
  if (rdata.length !== (type === TYPE.A ? 4 : 16)) return [];
  return [formatIp({ family: type === TYPE.A ? 4 : 6, bytes: rdata })];
};

/** A server's answer about the name, or a referral to a zone in between. */
type Seen = ParentView | { readonly nearer: readonly string[] };

async function viewOf(address: ResolverAddress, name: string, left: () => number): Promise<Seen> {
  const wire = parseAbsoluteName(name);
  const answer = await queryAuthority(address, wire, TYPE.NS, left());
  assertGood(answer);
  if ((answer.flags & FLAG.AA) !== 0) {
    // The child zone wrote these records, so they say nothing about the parent.
    if (targetsOf(answer.answers, name).length > 0) throw new Error(`${address} is authoritative for ${name} itself, not for its parent`);
    return { nameServers: [], ds: [] };
  }
  const nameServers = targetsOf(answer.authorities, name);
  const referral = answer.authorities.find(({ type, name: owner }) => type === TYPE.NS && isWithin(name, textOf(owner)));
  if (referral === undefined) throw new Error(`${address} is not authoritative for the zone above ${name}`);
  if (nameServers.length === 0) return { nearer: targetsOf(answer.authorities, textOf(referral.name)) };
  const ds = await queryAuthority(address, wire, TYPE.DS, left());
  assertGood(ds);
  const records = ds.answers.filter(({ type, name: owner }) => type === TYPE.DS && textOf(owner) === name);
  return { nameServers, ds: records.slice(0, RECORDS_MAX).map(({ rdata }) => rdata) };
}

/** Targets of the NS records of a name, sorted. */
const targetsOf = (records: readonly ResourceRecord[], owner: string): readonly string[] =>
  [...new Set(records.filter(({ type, name }) => type === TYPE.NS && textOf(name) === owner).map(({ rdata }) => textOf(rdata)))]
    .slice(0, RECORDS_MAX)
    .toSorted();

/** The name as stored in the database. */
const textOf = (name: Uint8Array): string => formatName(name).toLowerCase().replace(/\.$/, "");

const fingerprint = (seen: Seen): string =>
  "nearer" in seen
    ? `nearer ${seen.nearer.join()}`
    : `${seen.nameServers.join()} ${seen.ds
        .map((rdata) => Buffer.from(rdata).toString("hex"))
        .toSorted()
        .join()}`;

const endpoint = (address: string, port: number): ResolverAddress =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
