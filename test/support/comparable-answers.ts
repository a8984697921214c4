import { FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, type Question, type ResourceRecord } from "#wire/dns/message.ts";
import { type DnsName, type NameKey, formatName, keyOf } from "#wire/dns/name.ts";
import { recordTypeByCode } from "#wire/dns/record-types.ts";

/** A response in a form in which two that say the same are equal: records as lines of text, sorted, without regard to case. */
export interface ComparableAnswer {
  /** RCODE, then `aa` and `tc` where they are set. */
  readonly head: string;
  readonly answers: readonly string[];
  readonly authorities: readonly string[];
  readonly additionals: readonly string[];
}

/** What DNS leaves to the server is taken out: the name servers of its own zones beside data (RFC 1034 §6.2.1). */
export function comparable(response: Buffer, apexes: ReadonlySet<NameKey>): ComparableAnswer {
  const { flags, answers, authorities, additionals } = decodeMessage(response);
  const optional = ({ name, type }: ResourceRecord): boolean => type === TYPE.NS && (flags & FLAG.AA) !== 0 && apexes.has(keyOf(name));
  return {
    head: [flags & 0xf, ...(["AA", "TC"] as const).filter((bit) => (flags & FLAG[bit]) !== 0)].join(" ").toLowerCase(),
    answers: recordLines(answers),
    authorities: recordLines(authorities.filter((record) => !optional(record))),
    additionals: recordLines(additionals),
  };
}

/** Without repetition: round a loop of aliases the same record may stand twice. */
export const recordLines = (records: readonly ResourceRecord[]): readonly string[] => [...new Set(records.map(recordLine))].sort();

const recordLine = ({ name, type, ttl, rdata }: ResourceRecord): string =>
  `${formatName(name)} ${ttl} ${typeName(type)} ${Buffer.from(rdata).toString("latin1")}`.toLowerCase();

const typeName = (type: number): string => recordTypeByCode(type)?.name ?? `TYPE${type}`;

/** The sets among the records: what to ask for to learn whether they are true. */
export function setsOf(
  records: readonly ResourceRecord[],
): ReadonlyMap<string, { readonly name: DnsName; readonly records: readonly ResourceRecord[] }> {
  const groups = Map.groupBy(records, ({ name, type }) => `${type} ${keyOf(name)}`);
  return new Map(Array.from(groups, ([key, group]) => [key, { name: (group[0] as ResourceRecord).name, records: group }]));
}

export const questionText = ({ name, type }: Question): string => `${formatName(name)} ${typeName(type)}`;
