import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { keyOf } from "#wire/dns/name.ts";
import type { Answer, AnswerSet, Denial } from "#nameserver/answer/answer-rrset.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { visibleSet } from "#nameserver/zones/lookup.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";
import { proofOf, typesAt } from "./denial.ts";
import type { Signatures, Signed } from "./rrsig-cache.ts";
import type { SigningBudget, SigningClient } from "./signing-budget.ts";
import { ALWAYS_FRESH, type Freshness, freshness } from "./validity.ts";

/** An answer with its signatures and proofs, and the time in which they may be used. */
export type SignedAnswer =
  | { readonly kind: "signed"; readonly answer: Answer; readonly fresh: Freshness }
  /** The client has used up its budget of signatures. */
  | { readonly kind: "exhausted" }
  /** A zone that should be signed cannot be. */
  | { readonly kind: "unusable" };

export interface SigningQuestion {
  readonly type: number;
  readonly client: SigningClient;
  /** The client accepts NXDOMAIN with the proof that the name has no data (RFC 9824 §5.1). */
  readonly compactOk: boolean;
}

/**
 * Adds to an answer the signatures and proofs that resolvers need to validate it. Leaves the parts from unsigned zones as
 * they are.
 */
export type SignAnswer = (found: Answer, question: SigningQuestion) => SignedAnswer;

export interface AnswerSignerDeps {
  readonly edge: EdgeFront;
  readonly signatures: Signatures;
  readonly budget: SigningBudget;
}

/** Types that exist only in signed zones. */
export const isSignerType = (type: number): boolean => type === TYPE.RRSIG || type === TYPE.NSEC;

export function createAnswerSigner({ edge, signatures, budget }: AnswerSignerDeps): SignAnswer {
  return (found, { type, client, compactOk }) => {
    const answer = isSignerType(type) ? withSignerTypes(edge, found, type) : withProof(edge, found, compactOk);
    if (!budget.take(client, costOf(answer))) return { kind: "exhausted" };
    let fresh: Freshness = ALWAYS_FRESH;
    let unusable = false;
    const signed = (set: AnswerSet): AnswerSet[] => {
      const signatureOf = signatureFor(signatures, set);
      if (signatureOf === undefined) return [set];
      const made = signatureOf();
      if (made === undefined) {
        unusable = true;
        return [];
      }
      fresh = freshness(fresh, made);
      const rrsigs: AnswerSet = { name: set.name, type: TYPE.RRSIG, ttl: set.ttl, rdatas: made.rrsigs };
      // In an answer to a query for RRSIG, signatures stand alone, except those of the aliases on the way.
      return type === TYPE.RRSIG && set.type !== TYPE.CNAME ? [rrsigs] : [set, rrsigs];
    };
    const answers = answer.answers.flatMap(signed);
    const authorities = answer.authorities.flatMap(signed);
    if (unusable) return { kind: "unusable" };
    // Additional records are optional, so those that cannot be signed are omitted.
    const additionals = answer.additionals.flatMap(signed);
    return { kind: "signed", answer: { ...answer, answers, authorities, additionals }, fresh };
  };
}

/** Makes the set's signatures; undefined if the set is not signed. */
function signatureFor(signatures: Signatures, set: AnswerSet): (() => Signed | undefined) | undefined {
  const { origin, name, type, rdatas } = set;
  if (origin?.zone.dnssec === undefined) return undefined;
  const owner = keyOf(name);
  const ttl = signedTtl(origin.zone, set);
  const signed = { owner, type, ttl, rdatas };
  return () => (owner === origin.source ? signatures.kept(origin.zone, signed) : signatures.made(origin.zone, signed));
}

/** Signatures cover the zone's TTL; a negative answer's TTL may be lower (RFC 2308 §5). */
function signedTtl(zone: ZoneIndex, { type, ttl }: AnswerSet): number {
  if (type === TYPE.NSEC) return zone.negativeTtl;
  return type === TYPE.SOA ? (zone.apex.get(type)?.ttl ?? ttl) : ttl;
}

/**
 * Number of signatures that only this answer needs: for names expanded from a wildcard, which are signed under their own
 * name, and for names that do not exist. All other signatures are bounded by the number of names in the zone.
 */
function costOf({ answers, authorities, additionals }: Answer): number {
  let cost = 0;
  for (const { origin, name } of [...answers, ...authorities, ...additionals])
    if (origin?.zone.dnssec && origin.source !== keyOf(name)) cost += origin.zone.dnssec.keys.filter((key) => key.signs_zone).length;
  return cost;
}

/** RFC 9824 §3: clients without the CO flag get NOERROR without data for a name that does not exist. */
function withProof(edge: EdgeFront, found: Answer, compactOk: boolean): Answer {
  const { denial } = found;
  if (denial?.zone.dnssec === undefined) return found;
  const rcode = denial.kind === "no_name" && !compactOk ? RCODE.NOERROR : found.rcode;
  const proof = proofOf(edge, denial);
  // The proof lives no longer than the negative answer.
  const ttl = found.authorities.reduce((least, set) => (set.type === TYPE.SOA ? Math.min(least, set.ttl) : least), proof.ttl);
  return { ...found, rcode, authorities: [...found.authorities, { ...proof, ttl }] };
}

/** Answers a query for NSEC, and one for RRSIG with the signatures of one set, which is enough (RFC 8482 §4.1). */
function withSignerTypes(edge: EdgeFront, found: Answer, type: number): Answer {
  const { denial } = found;
  if (denial?.kind !== "no_data" || denial.zone.dnssec === undefined) return withProof(edge, found, false);
  const set = type === TYPE.NSEC ? undefined : firstSet(edge, denial.zone, denial);
  return { ...found, answers: [...found.answers, set ?? proofOf(edge, denial)], authorities: [] };
}

function firstSet(edge: EdgeFront, zone: ZoneIndex, { name, source, node }: Extract<Denial, { kind: "no_data" }>): AnswerSet | undefined {
  for (const type of typesAt(edge, zone, source, node)) {
    const set = visibleSet(edge, zone, source, node, type);
    if (set && !(type === TYPE.NS && source !== zone.key))
      return { name, type, ttl: set.ttl, rdatas: set.rdatas, origin: { zone, source } };
  }
  return undefined;
}
