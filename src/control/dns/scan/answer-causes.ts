import type { DnsQueryResult } from "#model/dns/dns-query.ts";
import { FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import type { Message } from "#wire/dns/message.ts";
import { typeCode } from "#wire/dns/record-types.ts";

interface FoundRow {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly proxied: number;
}

export interface Answered {
  readonly name: string;
  readonly type: string;
  /** The name, then wildcards and ancestors, nearest first. */
  readonly owners: readonly string[];
  /** The zone's records with one of these names. */
  readonly rows: readonly FoundRow[];
  readonly message: Message;
}

type Causes = DnsQueryResult["because"];

/** Offset of the key tag in RRSIG: after type, algorithm, labels, TTL and both times (RFC 4034 §3.1). */
const KEY_TAG_AT = 16;

/** Explains an answer by the zone's records. Uses the answer itself, so a wildcard that did not apply is not listed. */
export function causesOf(answered: Answered): Causes {
  return [...sourceOf(answered), ...signedOf(answered.message)];
}

function sourceOf({ name, type, owners, rows, message }: Answered): Causes {
  const { answers, authorities, flags } = message;
  const isAuthoritative = (flags & FLAG.AA) !== 0;
  if (!isAuthoritative && authorities.some((record) => record.type === TYPE.NS)) {
    const cut = rows.find((row) => row.type === "NS" && owners.includes(row.name));
    return [cause("delegation", `Names at and below ${cut?.name ?? "the cut"} are served by other name servers.`, cut)];
  }
  if ((flags & 0xf) === RCODE.NXDOMAIN) return [cause("no_name", `The zone has no record ${name}, and no wildcard matches it.`)];
  const exact = rows.filter((row) => row.name === name);
  const answered = answers.filter((record) => record.type !== TYPE.RRSIG);
  if (answered.length === 0)
    return [cause("no_type", exact.length === 0 ? `${name} has no records itself.` : `${name} has ${typesOf(exact)}, and no ${type}.`)];
  const owner = exact.length > 0 ? name : owners.find((one) => one.startsWith("*.") && rows.some((row) => row.name === one));
  const own = rows.filter((row) => row.name === owner);
  const wildcard = owner !== undefined && owner !== name ? [cause("wildcard", `The wildcard ${owner} matches ${name}.`)] : [];
  return [...wildcard, ...own.flatMap((row) => contributionOf(row, type, answered))];
}

function contributionOf(row: FoundRow, type: string, answered: Message["answers"]): Causes {
  const isAddress = type === "A" || type === "AAAA";
  const hasAlias = answered.some((record) => record.type === TYPE.CNAME);
  if (row.proxied === 1 && (isAddress || type === "ANY") && !hasAlias)
    return [cause("proxied", `The record ${row.name} ${row.type} is proxied, so the answer contains the edge's addresses.`, row)];
  if (row.type === "CNAME" && type !== "CNAME")
    return hasAlias
      ? [cause("alias", `${row.name} is an alias.`, row)]
      : [cause("flattened", `${row.name} is an alias; the answer contains the records of its target.`, row)];
  const code = typeCode(row.type);
  return answered.some((record) => record.type === code) ? [cause("record", `The record ${row.name} ${row.type} of the zone.`, row)] : [];
}

function signedOf({ answers, authorities }: Message): Causes {
  const tags = [...answers, ...authorities].flatMap(({ type, rdata }) =>
    type === TYPE.RRSIG && rdata.length >= KEY_TAG_AT + 2 ? [Buffer.from(rdata).readUInt16BE(KEY_TAG_AT)] : [],
  );
  const keys = [...new Set(tags)];
  return keys.length === 0 ? [] : [cause("signed", `It is signed by the ${keys.length === 1 ? "key" : "keys"} ${keys.join(" and ")}.`)];
}

const typesOf = (rows: readonly FoundRow[]): string => [...new Set(rows.map(({ type }) => type))].join(", ");

const cause = (name: Causes[number]["cause"], message: string, row?: FoundRow): Causes[number] => ({
  cause: name,
  message,
  ...(row ? { record_id: row.id } : {}),
});
