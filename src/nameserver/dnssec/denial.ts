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
 * What proves the denial, to be signed: the one NSEC record of compact denial (RFC 9824 §3), which says what exists at the
 * name and that nothing lies right behind it; or of a child that is signed, its DS set.
 */
export function proofOf(edge: EdgeFront, denial: Denial): AnswerSet {
  const { zone } = denial;
  // A name that is made of the zone as a whole: nothing in it holds the proof.
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

/** `types` without those that every name of a signed zone has. */
export const nsecRdata = (next: Buffer, types: readonly number[]): Buffer =>
  Buffer.concat([next, typeBitmap([...types, TYPE.RRSIG, TYPE.NSEC])]);

/**
 * What there is at the name. What is looked up only when it is asked for may be there, so that a resolver has to ask;
 * whatever was asked for is not.
 */
const existing = (edge: EdgeFront, { zone, source, node, type }: Extract<Denial, { kind: "no_data" }>): number[] =>
  typesAt(edge, zone, source, node).filter((present) => present !== type);

/** All types that the name may be seen to have, NSEC and RRSIG apart. */
export function typesAt(edge: EdgeFront, zone: ZoneIndex, source: NameKey, node: NameNode | undefined): number[] {
  const types = visibleTypes(edge, zone, source, node);
  if (node?.sets.has(TYPE.CNAME) !== true || types.includes(TYPE.CNAME) || isProxied(zone, node)) return types;
  return [...types, ...(source === zone.key ? ADDRESSES : BEHIND_ALIAS)];
}

const ADDRESSES = [TYPE.A, TYPE.AAAA] as const;

/**
 * What an alias leads to that addresses stand in for: whoever asks for other types gets the alias. It cannot be named
 * itself, since the proof would speak of itself as void (RFC 6840 §4.3), nor can what makes a zone of its own.
 */
const BEHIND_ALIAS: readonly number[] = Object.values(RECORD_TYPES)
  .filter(({ name, generated }) => !generated && !["CNAME", "DNAME", "NS", "DS", "DNSKEY"].includes(name))
  .map(({ code }) => code);
