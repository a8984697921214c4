import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message } from "#wire/dns/message.ts";
import { type DnsName, keyOf, type NameKey } from "#wire/dns/name.ts";
import { askServer, type Server, type ServerQuestion } from "./ask-server.ts";
import { underDeadline } from "./deadline.ts";

/** What there is behind a name elsewhere. No RDATA: it has nothing of the type. Seconds of the lowest TTL on the way. */
export interface Resolution {
  readonly rdatas: readonly Uint8Array[];
  readonly ttl: number;
  /** The name led to this one of ours, and what is there our own zones know best. */
  readonly ours?: DnsName;
}

/** Rejects when no server gives an answer that can be used. */
export type Resolve = (question: ServerQuestion) => Promise<Resolution>;

export interface ResolveDeps {
  readonly servers: readonly Server[];
  /** Whether our own zones answer for the name. */
  isOurs(key: NameKey): boolean;
  readonly limits: ResolveLimits;
  /** Ends every look-up under way. */
  readonly closing: AbortSignal;
}

export interface ResolveLimits {
  /** For one server to answer. */
  readonly serverTimeoutMs: number;
  /** For the whole look-up, with all servers and aliases. */
  readonly lookupTimeoutMs: number;
}

/** Each server gets so many chances. */
const ROUNDS = 2;
const ALIASES_MAX = 16;
/** Questions of one look-up: a server that does not follow aliases is asked for each target. */
const QUESTIONS_MAX = 8;
/** A name with more addresses than this gets along with the first ones. */
const RDATAS_MAX = 64;
/** Seconds that "nothing there" holds where the answer does not say. */
const NEGATIVE_TTL = 60;

/** Looks up through recursive resolvers, in their order and then again. Aliases are followed where they were not. */
export function createResolve({ servers, isOurs, limits, closing }: ResolveDeps): Resolve {
  const ask = async (question: ServerQuestion, overall: AbortSignal): Promise<Message> => {
    let failure: unknown = new Error("no resolver is configured");
    for (let chance = 0; chance < ROUNDS * servers.length; chance++) {
      overall.throwIfAborted();
      const server = servers[chance % servers.length] as Server;
      try {
        const message = await underDeadline(limits.serverTimeoutMs, overall, (signal) => askServer(server, question, signal));
        if (isUsable(message)) return message;
        failure = new Error(`the resolver answers with code ${message.flags & 0xf}`);
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

/** "No such name" is an answer; a referral to somebody else's servers, as from no resolver, is none. */
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

/** Where the aliases in the answer lead from the name that was asked for; others in it do not count. */
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
  throw new Error("the aliases lead round in a circle");
}

/** RFC 2308 §5; undefined where the answer does not say that there is nothing. */
function negativeTtl({ flags, authorities }: Message): number | undefined {
  const soa = authorities.find((record) => record.type === TYPE.SOA);
  if (soa) return Math.min(soa.ttl, Buffer.from(soa.rdata).readUInt32BE(soa.rdata.length - 4));
  return (flags & 0xf) === RCODE.NXDOMAIN ? NEGATIVE_TTL : undefined;
}
