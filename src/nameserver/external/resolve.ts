import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message } from "#wire/dns/message.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import { queryServer, type Server, type ServerQuestion } from "./query-server.ts";
import { underDeadline } from "./deadline.ts";

/** The records of an external name; empty if it has none of the type. `ttl`: the lowest on the way, in seconds. */
export interface Resolution {
  readonly rdatas: readonly Uint8Array[];
  readonly ttl: number;
  /** The aliases led to this hosted name, whose records the hosted zones have. */
  readonly ours?: DnsName;
}

/** Rejects if no server gives a usable answer. */
export type Resolve = (question: ServerQuestion) => Promise<Resolution>;

export interface ResolveDeps {
  readonly servers: readonly Server[];
  /** Whether a hosted zone answers for the name. */
  isOurs(key: NameKey): boolean;
  readonly limits: ResolveLimits;
  /** Aborts all running lookups. */
  readonly closing: AbortSignal;
}

export interface ResolveLimits {
  /** Milliseconds for one server to answer. */
  readonly serverTimeoutMs: number;
  /** Milliseconds for the whole lookup, with all servers and aliases. */
  readonly lookupTimeoutMs: number;
}

/** Attempts per server. */
const ROUNDS = 2;
const ALIASES_MAX = 16;
/** Queries of one lookup: a server that does not follow aliases is queried for each target. */
const QUESTIONS_MAX = 8;
/** Records beyond this number are ignored. */
const RDATAS_MAX = 64;
/** TTL in seconds of negative answers without an SOA record. */
const NEGATIVE_TTL = 60;

/** Looks up names through recursive resolvers: in order, then once more. Follows aliases that the resolvers did not follow. */
export function createResolve({ servers, isOurs, limits, closing }: ResolveDeps): Resolve {
  const ask = async (question: ServerQuestion, overall: AbortSignal): Promise<Message> => {
    let failure: unknown = new Error("no resolver is configured");
    for (let chance = 0; chance < ROUNDS * servers.length; chance++) {
      overall.throwIfAborted();
      const server = servers[chance % servers.length] as Server;
      try {
        const message = await underDeadline(limits.serverTimeoutMs, overall, (signal) => queryServer(server, question, signal));
        if (isUsable(message)) return message;
        failure = new Error(`it responded with RCODE ${message.flags & 0xf}`);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };

  const lookUp = async ({ name, type }: ServerQuestion, overall: AbortSignal): Promise<Resolution> => {
    let target = name;
    let ttl = Number.POSITIVE_INFINITY;
    for (let asked = 0; asked < QUESTIONS_MAX; asked++) {
      const message = await ask({ name: target, type }, overall);
      const end = follow(message, target, type, isOurs);
      ttl = Math.min(ttl, end.ttl);
      if (end.ours) return { rdatas: [], ttl, ours: end.target };
      if (end.rdatas.length > 0) return { rdatas: end.rdatas, ttl };
      const nothing = negativeTtl(message);
      if (nothing !== undefined || keyOf(end.target) === keyOf(target)) return { rdatas: [], ttl: Math.min(ttl, nothing ?? NEGATIVE_TTL) };
      target = end.target;
    }
    throw new Error("the chain of aliases is too long");
  };

  return (question) => underDeadline(limits.lookupTimeoutMs, closing, (overall) => lookUp(question, overall));
}

/** NXDOMAIN is an answer. A referral is not: the server does not recurse. */
function isUsable({ flags, answers, authorities }: Message): boolean {
  const rcode = flags & 0xf;
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return false;
  const referral = answers.length === 0 && (flags & FLAG.AA) === 0 && authorities.some((record) => record.type === TYPE.NS);
  return !referral || authorities.some((record) => record.type === TYPE.SOA);
}

interface ChainEnd {
  readonly target: DnsName;
  readonly ttl: number;
  readonly rdatas: readonly Uint8Array[];
  readonly ours: boolean;
}

/** Follows the aliases in the answer, starting at the queried name; ignores unrelated records. */
function follow({ answers }: Message, name: DnsName, type: number, isOurs: (key: NameKey) => boolean): ChainEnd {
  const records = answers.filter((record) => record.class === CLASS.IN);
  let target = name;
  let ttl = Number.POSITIVE_INFINITY;
  for (let hops = 0; hops < ALIASES_MAX; hops++) {
    const key = keyOf(target);
    if (hops > 0 && isOurs(key)) return { target, ttl, rdatas: [], ours: true };
    const own = records.filter((record) => keyOf(record.name) === key);
    const data = own.filter((record) => record.type === type).slice(0, RDATAS_MAX);
    ttl = Math.min(ttl, ...data.map((record) => record.ttl));
    if (data.length > 0) return { target, ttl, rdatas: data.map((record) => record.rdata), ours: false };
    const alias = own.find((record) => record.type === TYPE.CNAME);
    if (!alias) return { target, ttl, rdatas: [], ours: false };
    ttl = Math.min(ttl, alias.ttl);
    target = Buffer.from(alias.rdata);
  }
  throw new Error("the aliases form a loop");
}

/** RFC 2308 §5; undefined if the response is not negative. */
function negativeTtl({ flags, authorities }: Message): number | undefined {
  const soa = authorities.find((record) => record.type === TYPE.SOA);
  if (soa) return Math.min(soa.ttl, Buffer.from(soa.rdata).readUInt32BE(soa.rdata.length - 4));
  return (flags & 0xf) === RCODE.NXDOMAIN ? NEGATIVE_TTL : undefined;
}
