import type { Viewer } from "#snapshot/zone-directory.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { type DnsName, type NameKey, keyOf } from "#wire/dns/name.ts";
import { addReferral, addTargets } from "./additional-section.ts";
import type { Answer, AnswerSet, Denial, SetOrigin } from "./answer-rrset.ts";
import type { AnswerDraft, Question, Work } from "./answer-context.ts";
import { aliasAt, flatten } from "./flatten.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { type Lookup, lookup, visibleSet } from "#nameserver/zones/lookup.ts";
import type { FindExternal } from "#nameserver/external/external-names.ts";
import { substituteDname } from "./dname.ts";
import type { RRset } from "#nameserver/zones/rrset.ts";
import type { Zones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/** Limit of an alias chain; resolvers have similar limits. */
const ALIASES_MAX = 16;

type Found = Extract<Lookup, { kind: "found" }>;
/** Without lookups of external names. */
const NOWHERE: FindExternal = () => ({ rdatas: [], ttl: Number.POSITIVE_INFINITY, state: "unknown", keepMs: 0 });

/** The authoritative answer to a query of class IN (RFC 1034 §4.3.2). Pure: depends only on its arguments. */
export function answer(zones: Zones, edge: EdgeFront, question: Question, findOutside = NOWHERE): Answer {
  const draft: AnswerDraft = {
    rcode: RCODE.NOERROR,
    authoritative: true,
    answers: [],
    authorities: [],
    glue: [],
    additionals: [],
    denial: undefined,
    zones: new Set(),
  };
  const work: Work = { draft, zones, edge, findOutside };
  const seen = new Set<NameKey>();
  let name: DnsName | undefined = question.name;
  let viewer: Viewer = null;
  for (let hops = 0; name !== undefined && hops <= ALIASES_MAX; hops++) {
    const key = keyOf(name);
    if (seen.has(key)) break;
    seen.add(key);
    const found = lookup(zones, key, question.type, viewer);
    name = step(work, { name, type: question.type }, found, hops === 0);
    // From here on, a record of an account determines the next name.
    if (found.kind !== "outside") viewer = found.zone.entry.account_id;
  }
  return draft;
}

/** Adds the records of one name of the chain. Returns the name it is an alias of, or undefined. */
function step(work: Work, question: Question, found: Lookup, first: boolean): DnsName | undefined {
  const { draft, edge } = work;
  if (found.kind === "outside") {
    // The resolver follows an alias that leaves the zones by itself; a query for a name outside the zones is refused.
    if (first) Object.assign(draft, { rcode: RCODE.REFUSED, authoritative: false });
    return undefined;
  }
  const { zone } = found;
  draft.zones.add(zone.key);
  if (found.kind === "expired") {
    // RFC 1034 §4.3.5. Behind an alias, the resolver queries again and then gets the error.
    if (first) Object.assign(draft, { rcode: RCODE.SERVFAIL, authoritative: false });
    return undefined;
  }
  if (found.kind === "delegated") {
    // AA describes the first name (RFC 1035 §4.1.1).
    if (first) draft.authoritative = false;
    addReferral(work, zone, found.cut, found.set);
    return undefined;
  }
  if (found.kind === "redirected") return redirect(draft, question, found);
  if (found.kind === "absent") {
    draft.rcode = RCODE.NXDOMAIN;
    deny(draft, { kind: "no_name", zone, name: question.name });
    return undefined;
  }
  const { name, type } = question;
  const origin: SetOrigin = { zone, source: found.source };
  const set =
    type === TYPE.ANY ? minimalAny(edge, found) : (visibleSet(edge, zone, found.source, found.node, type) ?? flatten(work, found, type));
  if (set && set.rdatas.length > 0) {
    draft.answers.push({ name, type: set.type, ttl: set.ttl, rdatas: set.rdatas, origin });
    addTargets(work, zone, name, set);
    return undefined;
  }
  const alias = set || type === TYPE.ANY || type === TYPE.CNAME || found.source === zone.key ? undefined : aliasAt(found);
  const target = alias?.set.rdatas[0];
  if (alias === undefined || target === undefined) {
    deny(draft, { kind: "no_data", zone, name, type, source: found.source, node: found.node }, set?.ttl);
    return undefined;
  }
  // One target only: a name can have only one CNAME (RFC 2181 §10.1).
  draft.answers.push({ name, type: TYPE.CNAME, ttl: alias.set.ttl, rdatas: [target], origin });
  return Buffer.from(target);
}

/** `ttl`: upper limit, if external servers contributed. */
function deny(draft: AnswerDraft, denial: Exclude<Denial, { kind: "delegation" }>, ttl = Number.POSITIVE_INFINITY): void {
  const soa = negativeSoa(denial.zone);
  draft.authorities.push({ ...soa, ttl: Math.min(soa.ttl, ttl) });
  draft.denial = denial;
}

/**
 * Adds the DNAME and the CNAME it produces for the name (RFC 6672 §3.1); YXDOMAIN if the result is too long (§2.2).
 * A DNAME that points to names above itself applies again to what it produced (§3.2), which gets shorter each time; any other
 * applies once: it would produce ever longer names, or the same, and the resolver continues by itself.
 */
function redirect(draft: AnswerDraft, question: Question, found: Extract<Lookup, { kind: "redirected" }>): DnsName | undefined {
  const { name, type } = question;
  const { zone, owner, set } = found;
  const isGiven = draft.answers.some((given) => given.type === TYPE.DNAME && given.origin?.zone === zone && given.origin.source === owner);
  if (isGiven && (set.rdatas[0]?.length ?? 0) >= owner.length) return undefined;
  const target = substituteDname(name, found);
  if (!isGiven)
    draft.answers.push({
      name: name.subarray(name.length - owner.length),
      type: TYPE.DNAME,
      ttl: set.ttl,
      rdatas: set.rdatas.slice(0, 1),
      origin: { zone, source: owner },
    });
  if (target === undefined) {
    draft.rcode = RCODE.YXDOMAIN;
    return undefined;
  }
  draft.answers.push({ name, type: TYPE.CNAME, ttl: set.ttl, rdatas: [target] });
  return type === TYPE.CNAME || type === TYPE.ANY ? undefined : target;
}

/** RFC 2308 §5: a negative answer lives for the smaller of the SOA's TTL and its minimum. */
const negativeSoa = (zone: ZoneIndex): AnswerSet => ({
  name: zone.name,
  type: TYPE.SOA,
  ttl: zone.negativeTtl,
  rdatas: zone.apex.get(TYPE.SOA)?.rdatas ?? [],
  origin: { zone, source: zone.key },
});

const RFC8482_HINFO: RRset = { type: TYPE.HINFO, ttl: 3600, rdatas: [Buffer.from("\u0007RFC8482\u0000", "latin1")], proxied: false };

/** One small RRset for ANY, instead of all data of a name (RFC 8482 §4.2); an alias stays visible. */
function minimalAny(edge: EdgeFront, { zone, source, node }: Found): RRset | undefined {
  const exists = source === zone.key || (node !== undefined && node.sets.size > 0);
  return exists ? (visibleSet(edge, zone, source, node, TYPE.CNAME) ?? RFC8482_HINFO) : undefined;
}
