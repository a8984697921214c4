import { TYPE } from "#wire/dns/codes.ts";
import { successor } from "#wire/dns/canonical.ts";
import { keyOf, type NameKey, nameOfKey } from "#wire/dns/name.ts";
import { RECORD_TYPES } from "#wire/dns/record-types.ts";
import { typeBitmap } from "#wire/dns/type-bitmap.ts";
import type { AnswerSet, Denial } from "#nameserver/answer/answer-rrset.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { isProxied, visibleTypes } from "#nameserver/zones/lookup.ts";
import type { NameNode } from "#nameserver/zones/rrset.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/**
 * The unsigned proof of a denial: the one NSEC record of compact denial (RFC 9824 §3), which lists the types at the name
 * and says that no name follows it directly; or the DS set of a signed child.
 */
export function proofOf(edge: EdgeFront, denial: Denial): AnswerSet {
  const { zone } = denial;
  // The zone as a whole proves that a name is missing; no name in it holds the proof.
  if (denial.kind === "no_name") return nsecSet(zone, denial.name, zone.key, [TYPE.NXNAME]);
  if (denial.kind === "no_data") return nsecSet(zone, denial.name, denial.source, existing(edge, denial));
  const name = nameOfKey(denial.cut);
  const origin = { zone, source: denial.cut };
  const ds = zone.nodes.get(denial.cut)?.sets.get(TYPE.DS);
  if (ds) return { name, type: ds.type, ttl: ds.ttl, rdatas: ds.rdatas, origin };
  return nsecSet(zone, name, denial.cut, [TYPE.NS]);
}

/** RFC 9077 §3: an NSEC record lives as long as the negative answer that it proves. */
function nsecSet(zone: ZoneIndex, name: Buffer, source: NameKey, types: readonly number[]): AnswerSet {
  const rdata = nsecRdata(nameOfKey(successor(keyOf(name), zone.key)), types);
  return { name, type: TYPE.NSEC, ttl: zone.negativeTtl, rdatas: [rdata], origin: { zone, source } };
}

/** `types` excludes NSEC and RRSIG, which every name of a signed zone has. */
export const nsecRdata = (next: Buffer, types: readonly number[]): Buffer =>
  Buffer.concat([next, typeBitmap([...types, TYPE.RRSIG, TYPE.NSEC])]);

/**
 * The types at the name. Types that are looked up only on a query are listed, so that a resolver asks for them; the type
 * of the query is not.
 */
const existing = (edge: EdgeFront, { zone, source, node, type }: Extract<Denial, { kind: "no_data" }>): number[] =>
  typesAt(edge, zone, source, node).filter((present) => present !== type);

/** All types that the name may have in answers, except NSEC and RRSIG. */
export function typesAt(edge: EdgeFront, zone: ZoneIndex, source: NameKey, node: NameNode | undefined): number[] {
  const types = visibleTypes(edge, zone, source, node);
  if (node?.sets.has(TYPE.CNAME) !== true || types.includes(TYPE.CNAME) || isProxied(zone, node)) return types;
  return [...types, ...(source === zone.key ? ADDRESSES : BEHIND_ALIAS)];
}

const ADDRESSES = [TYPE.A, TYPE.AAAA] as const;

/**
 * Types that an alias may have at its target, although address queries are answered without it: queries for them get the
 * alias. CNAME itself cannot be listed, because the proof would then be invalid (RFC 6840 §4.3); neither can types that
 * make a zone.
 */
const BEHIND_ALIAS: readonly number[] = Object.values(RECORD_TYPES)
  .filter(({ name, generated }) => !generated && !["CNAME", "DNAME", "NS", "DS", "DNSKEY"].includes(name))
  .map(({ code }) => code);
