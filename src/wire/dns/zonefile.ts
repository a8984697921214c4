import { RdataError } from "./errors.ts";
import { type DnsName, formatName, isWithin, keyOf, parseAbsoluteName, parseName } from "./name.ts";
import type { Token } from "./presentation.ts";
import { type Description, describe, encodeContent, typeCode } from "./record-types.ts";
import { type ZoneFileLine, zoneFileLines } from "./zonefile-lines.ts";

/** A record as the API would be sent it: names absolute and without the final dot. */
export interface ZoneFileRecord extends Description {
  readonly name: string;
  readonly type: string;
  /** Seconds; null where neither the record nor `$TTL` gives one. */
  readonly ttl: number | null;
  readonly line: number;
}

export interface ZoneFileError {
  readonly line: number;
  readonly message: string;
}

export interface ZoneFile {
  readonly records: readonly ZoneFileRecord[];
  readonly errors: readonly ZoneFileError[];
}

/** A file that is no zone file has an error on each line; the first ones say enough. */
const ERRORS_MAX = 100;

const TTL_SECONDS_MAX = 2 ** 31 - 1; // RFC 2181 §8

interface ParserState {
  readonly zone: DnsName;
  origin: DnsName;
  owner: DnsName | undefined;
  defaultTtl: number | null;
  readonly records: ZoneFileRecord[];
}

/**
 * Reads a master file (RFC 1035 §5, RFC 2308 §4). Never throws on what the file holds: what cannot be read
 * is an error with its line, and the lines after it are read as usual. Throws RdataError only for `origin`.
 */
export function parseZoneFile(text: string, { origin }: { readonly origin: string }): ZoneFile {
  const zone = parseAbsoluteName(origin);
  const state: ParserState = { zone, origin: zone, owner: undefined, defaultTtl: null, records: [] };
  const errors: ZoneFileError[] = [];
  for (const entry of zoneFileLines(text)) {
    try {
      if (entry.problem !== undefined) throw new RdataError(`The line has ${entry.problem}.`);
      readEntry(state, entry);
    } catch (error) {
      if (!(error instanceof RdataError)) throw error;
      errors.push({ line: entry.line, message: error.message });
      if (errors.length >= ERRORS_MAX) break;
    }
  }
  return { records: state.records, errors };
}

const DIRECTIVES: Readonly<Record<string, (state: ParserState, words: readonly Token[]) => void>> = {
  $ORIGIN: (state, [word]) => {
    state.origin = nameOf(state, word, "$ORIGIN");
  },
  $TTL: (state, [word]) => {
    const ttl = seconds(word?.raw ?? "");
    if (ttl === undefined) throw new RdataError("$TTL must be followed by a time to live.");
    state.defaultTtl = ttl;
  },
  $INCLUDE: () => {
    throw new RdataError("$INCLUDE directive not allowed.");
  },
};

function readEntry(state: ParserState, { line, indented, tokens }: ZoneFileLine): void {
  const first = tokens[0];
  if (first && !first.quoted && first.raw.startsWith("$")) {
    const directive = DIRECTIVES[first.raw.toUpperCase()];
    if (!directive) throw new RdataError(`${first.raw} is not a directive that can be used here.`);
    directive(state, tokens.slice(1));
    return;
  }
  // Even where the rest is wrong, the lines below belong to this owner.
  if (!indented) {
    state.owner = undefined;
    state.owner = nameOf(state, first, "The owner");
  }
  if (!state.owner) throw new RdataError("The first record has no owner name.");
  const { ttl, type, rdata } = readFields(state, indented ? tokens : tokens.slice(1));
  if (!isWithin(keyOf(state.owner), keyOf(state.zone))) throw new RdataError(`${formatName(state.owner)} is outside the zone.`);
  const content = rdata.map(({ raw, quoted }, index) => (quoted ? `"${raw}"` : soaNumber(type, index, raw))).join(" ");
  const bytes = encodeContent(type, content, { origin: formatName(state.origin), style: "master" });
  state.records.push({ name: formatName(state.owner), type, ttl, ...describe(type, bytes), line });
}

/** `[ttl] [class] type rdata` or `[class] [ttl] type rdata`. */
function readFields(state: ParserState, tokens: readonly Token[]): { ttl: number | null; type: string; rdata: readonly Token[] } {
  let ttl: number | undefined;
  let classSeen = false;
  for (const [index, { raw, quoted }] of tokens.entries()) {
    const word = quoted ? "" : raw.toUpperCase();
    if (!classSeen && (word === "IN" || word === "CLASS1")) classSeen = true;
    else if (!classSeen && /^(?:CH|HS|CS|CLASS\d+)$/.test(word)) throw new RdataError(`Class ${word} cannot be used here.`);
    else if (ttl === undefined && seconds(word) !== undefined) ttl = seconds(word);
    else {
      if (typeCode(word) === undefined) throw new RdataError(`Record type ${JSON.stringify(raw)} is not known.`);
      return { ttl: ttl ?? state.defaultTtl, type: word, rdata: tokens.slice(index + 1) };
    }
  }
  throw new RdataError("The record has no type.");
}

function nameOf(state: ParserState, word: Token | undefined, what: string): DnsName {
  if (!word || word.quoted) throw new RdataError(`${what} must be a name.`);
  try {
    return parseName(word.raw, { origin: state.origin, style: "master" });
  } catch (error) {
    if (error instanceof RdataError) throw new RdataError(`${what} ${error.message}.`);
    throw error;
  }
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { S: 1, M: 60, H: 3600, D: 86_400, W: 604_800 };

/** `3600`, or with the units that name servers commonly take: `1h30m`. */
function seconds(word: string): number | undefined {
  if (!/^(?:\d{1,10}|(?:\d{1,10}[SMHDW])+)$/i.test(word)) return undefined;
  let total = 0;
  for (const [, digits, unit] of word.toUpperCase().matchAll(/(\d+)([SMHDW]?)/g))
    total += Number(digits) * (UNIT_SECONDS[unit || "S"] as number);
  return total > TTL_SECONDS_MAX ? undefined : total;
}

/** The times of a SOA take units as well; its serial does not. */
const soaNumber = (type: string, index: number, raw: string): string => (type === "SOA" && index >= 3 ? String(seconds(raw) ?? raw) : raw);
