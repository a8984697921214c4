import { FLAG, TYPE } from "#wire/dns/codes.ts";
import { type Message, type Question, type ResourceRecord } from "#wire/dns/message.ts";
import { type DnsName, type NameKey, formatName, isWithin, keyOf, parentKey } from "#wire/dns/name.ts";
import { recordTypeByCode } from "#wire/dns/record-types.ts";

/** A response in a form in which two that say the same are equal: records as lines of text, sorted, without regard to case. */
export interface ComparableAnswer {
  /** RCODE, then `aa` and `tc` if they are set. */
  readonly head: string;
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  readonly additionals: readonly string[];
}

/** Without the parts that DNS leaves to the server: the name servers of its own zones beside data (RFC 1034 §6.2.1). */
export function comparable(response: Message, apexes: ReadonlySet<NameKey>): ComparableAnswer {
  const { flags, answers, authorities, additionals } = response;
  const optional = ({ name, type }: ResourceRecord): boolean => type === TYPE.NS && (flags & FLAG.AA) !== 0 && apexes.has(keyOf(name));
  return {
    head: [flags & 0xf, ...(["AA", "TC"] as const).filter((bit) => (flags & FLAG[bit]) !== 0)].join(" ").toLowerCase(),
    answers: recordLines(answers),
    authorities: recordLines(authorities.filter((record) => !optional(record))),
    additionals: recordLines(additionals),
  };
}

/** Without repetitions, because a loop of aliases may contain the same record twice. */
export const recordLines = (records: readonly ResourceRecord[]): readonly string[] => [...new Set(records.map(recordLine))].sort();

const recordLine = ({ name, type, ttl, rdata }: ResourceRecord): string =>
  `${formatName(name)} ${ttl} ${typeName(type)} ${Buffer.from(rdata).toString("latin1")}`.toLowerCase();

const typeName = (type: number): string => recordTypeByCode(type)?.name ?? `TYPE${type}`;

/** The RRsets among the records, to query whether they exist. */
export function setsOf(
  records: readonly ResourceRecord[],
): ReadonlyMap<string, { readonly name: DnsName; readonly records: readonly ResourceRecord[] }> {
  const groups = Map.groupBy(records, ({ name, type }) => `${type} ${keyOf(name)}`);
  return new Map(Array.from(groups, ([key, group]) => [key, { name: (group[0] as ResourceRecord).name, records: group }]));
}

export const questionText = ({ name, type }: Question): string => `${formatName(name)} ${typeName(type)}`;

/**
 * The response of a server without flattening, as one would give it that replaces an alias by addresses whenever its
 * own zone has them. `apexes`: of all zones that the server has.
 */
export function flattened(response: Message, apexes: ReadonlySet<NameKey>): Message {
  const [question] = response.questions;
  if (question === undefined || (question.type !== TYPE.A && question.type !== TYPE.AAAA)) return response;
  const kept: ResourceRecord[] = [];
  let name = question.name;
  for (let hops = 0; hops < 20; hops++) {
    const { alias, redirect } = aliasIn(response, name);
    if (alias === undefined) return response;
    const addresses = redirect ? [] : addressesBehind(response, alias, question.type, apexes);
    if (addresses.length > 0) return { ...response, answers: [...kept, ...addresses], authorities: [], additionals: [] };
    kept.push(alias, ...(redirect ? [redirect] : []));
    name = Buffer.from(alias.rdata);
  }
  return response;
}

function aliasIn({ answers }: Message, name: DnsName): { readonly alias?: ResourceRecord; readonly redirect?: ResourceRecord } {
  const key = keyOf(name);
  const alias = answers.find((record) => record.type === TYPE.CNAME && keyOf(record.name) === key);
  const redirect = answers.find((record) => record.type === TYPE.DNAME && isWithin(key, keyOf(record.name)) && keyOf(record.name) !== key);
  return { ...(alias ? { alias } : {}), ...(redirect ? { redirect } : {}) };
}

function addressesBehind(response: Message, start: ResourceRecord, type: number, apexes: ReadonlySet<NameKey>): readonly ResourceRecord[] {
  const zone = zoneOf(keyOf(start.name), apexes);
  let alias: ResourceRecord | undefined = start;
  let ttl = start.ttl;
  for (let hops = 0; alias !== undefined && hops < 20; hops++) {
    const target: NameKey = keyOf(alias.rdata);
    if (zoneOf(target, apexes) !== zone) return [];
    const found = response.answers.filter((record) => record.type === type && keyOf(record.name) === target);
    if (found.length > 0) return found.map((record) => ({ ...record, name: start.name, ttl: Math.min(ttl, record.ttl) }));
    alias = aliasIn(response, Buffer.from(alias.rdata)).alias;
    ttl = Math.min(ttl, alias?.ttl ?? ttl);
  }
  return [];
}

function zoneOf(key: NameKey, apexes: ReadonlySet<NameKey>): NameKey | undefined {
  for (let name: NameKey | undefined = key; name !== undefined; name = parentKey(name)) if (apexes.has(name)) return name;
  return undefined;
}
