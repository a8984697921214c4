import { RdataError } from "#wire/dns/errors.ts";
import { type DnsName, formatName, isWithin, keyOf, parseAbsoluteName, parseName } from "#wire/dns/name.ts";
import type { Token } from "#wire/dns/presentation.ts";
import { type Description, describe, encodeTokens, recordTypeOf, typeCode } from "#wire/dns/record-types.ts";
import { generatedCount, generatedEntries } from "./zonefile-generate.ts";
import { type ZoneFileLine, zoneFileLines } from "./zonefile-lines.ts";

/** A record in the form of the API: absolute names without the final dot. */
export interface ZoneFileRecord extends Description {
  readonly name: string;
  readonly type: string;
  /** Seconds; null if the file does not define one. */
  readonly ttl: number | null;
  readonly rdata: Uint8Array;
  /** Text after the semicolon that follows the record. */
  readonly comment: string;
  readonly line: number;
}

export interface ZoneFileError {
  readonly line: number;
  readonly message: string;
}

/**
 * `skipped`: a record that the zone's signer created and the next signer creates again. `end`: number of characters read
 * so far.
 */
export type ZoneFileItem = { readonly end: number } & (
  | { readonly kind: "record"; readonly record: ZoneFileRecord }
  | { readonly kind: "error"; readonly error: ZoneFileError }
  | { readonly kind: "skipped"; readonly line: number }
);

export interface ZoneFile {
  readonly records: readonly ZoneFileRecord[];
  readonly errors: readonly ZoneFileError[];
}

/** A file that is not a zone file has an error on each line; the first ones are enough. */
const ERRORS_MAX = 100;

/** Limit of records from `$GENERATE` directives per file: the names of a /16 network. */
const GENERATED_RECORDS_MAX = 65_536;

const TTL_SECONDS_MAX = 2 ** 31 - 1; // RFC 2181 §8

/** Of RFC 2535 (SIG, NXT), 4034, 5155 and 8976, by name. */
const SIGNER_TYPES: ReadonlyMap<string, number> = new Map([
  ["SIG", 24],
  ["NXT", 30],
  ["RRSIG", 46],
  ["NSEC", 47],
  ["NSEC3", 50],
  ["NSEC3PARAM", 51],
  ["ZONEMD", 63],
]);
const SIGNER_CODES: ReadonlySet<number> = new Set(SIGNER_TYPES.values());

interface ParserState {
  readonly zone: DnsName;
  readonly zoneKey: string;
  origin: DnsName;
  owner: DnsName | undefined;
  /** The value of `$TTL`, or of an SOA record before any TTL (RFC 2308 §4). */
  defaultTtl: number | null;
  /** The last TTL, which RFC 1035 §5.1 repeats without `$TTL`. */
  lastTtl: number | null;
  generated: number;
}

/** Reads a whole master file (see `zoneFileItems`); stops after 100 errors. */
export function parseZoneFile(text: string, options: { readonly origin: string }): ZoneFile {
  const records: ZoneFileRecord[] = [];
  const errors: ZoneFileError[] = [];
  for (const item of zoneFileItems(text, options)) {
    if (item.kind === "record") records.push(item.record);
    if (item.kind === "error") errors.push(item.error);
    if (errors.length >= ERRORS_MAX) break;
  }
  return { records, errors };
}

/**
 * Reads a master file (RFC 1035 §5, RFC 2308 §4, RFC 3597 §5, BIND's `$GENERATE`) record by record, so that the caller
 * can pause. Malformed content never throws: it becomes an error with its line, and reading continues. Throws RdataError
 * for an invalid `origin` only.
 */
export function* zoneFileItems(text: string, { origin }: { readonly origin: string }): Generator<ZoneFileItem> {
  const zone = parseAbsoluteName(origin);
  const state: ParserState = {
    zone,
    zoneKey: keyOf(zone),
    origin: zone,
    owner: undefined,
    defaultTtl: null,
    lastTtl: null,
    generated: 0,
  };
  for (const entry of zoneFileLines(text)) {
    try {
      if (entry.problem !== undefined) throw new RdataError(`The line has ${entry.problem}.`);
      yield* readEntry(state, entry);
    } catch (error) {
      if (!(error instanceof RdataError)) throw error;
      yield { kind: "error", end: entry.end, error: { line: entry.line, message: error.message } };
    }
  }
}

function* readEntry(state: ParserState, entry: ZoneFileLine): Generator<ZoneFileItem> {
  const { indented, tokens } = entry;
  const first = tokens[0];
  if (first && !first.quoted && first.raw.startsWith("$")) {
    yield* readDirective(state, entry, first.raw.toUpperCase(), tokens.slice(1));
    return;
  }
  // Even if the rest of the entry is wrong, the following lines belong to this owner.
  if (!indented) {
    state.owner = undefined;
    state.owner = nameOf(state, first, "The owner");
  }
  if (!state.owner) throw new RdataError("The first record has no owner name.");
  yield readRecord(state, entry, state.owner, indented ? tokens : tokens.slice(1));
}

function* readDirective(state: ParserState, entry: ZoneFileLine, name: string, words: readonly Token[]): Generator<ZoneFileItem> {
  const alone = (): Token | undefined => {
    if (words.length > 1) throw new RdataError(`${name} is followed by more than one word.`);
    return words[0];
  };
  switch (name) {
    case "$ORIGIN":
      state.origin = nameOf(state, alone(), name);
      return;
    case "$TTL": {
      const ttl = seconds(alone()?.raw ?? "");
      if (ttl === undefined) throw new RdataError("$TTL must be followed by a time to live.");
      state.defaultTtl = ttl;
      return;
    }
    case "$GENERATE":
      state.generated += generatedCount(words);
      if (state.generated > GENERATED_RECORDS_MAX)
        throw new RdataError(`The $GENERATE directives make more than ${GENERATED_RECORDS_MAX} records.`);
      for (const [owner, ...rest] of generatedEntries(words)) yield readRecord(state, entry, nameOf(state, owner, "The owner"), rest);
      return;
    case "$INCLUDE":
      throw new RdataError("$INCLUDE directive not allowed.");
    default:
      throw new RdataError(`${name.slice(0, 32)} is not a directive that can be used here.`);
  }
}

function readRecord(state: ParserState, { line, comment, end }: ZoneFileLine, owner: DnsName, tokens: readonly Token[]): ZoneFileItem {
  const { ttl, type, rdata } = readFields(tokens);
  if (ttl !== undefined) state.lastTtl = ttl;
  if (SIGNER_CODES.has(SIGNER_TYPES.get(type) ?? typeCode(type) ?? 0)) return { kind: "skipped", end, line };
  const known = recordTypeOf(type);
  if (known === undefined) throw unknownType(type);
  if (!isWithin(keyOf(owner), state.zoneKey)) throw new RdataError(`${formatName(owner)} is outside the zone.`);
  const words = known.name === "SOA" ? rdata.map(soaNumber) : rdata;
  const bytes = encodeTokens(known, words, { origin: state.origin, style: "master" });
  if (known.name === "SOA" && ttl === undefined && state.defaultTtl === null && state.lastTtl === null)
    state.defaultTtl = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(bytes.length - 4);
  const record = { name: formatName(owner), type: known.name, ttl: ttl ?? state.defaultTtl ?? state.lastTtl, comment, line, rdata: bytes };
  return { kind: "record", end, record: { ...record, ...describe(known.name, bytes) } };
}

const unknownType = (type: string): RdataError => new RdataError(`Record type ${JSON.stringify(type.slice(0, 32))} is not known.`);

/** Windows writes when a record was registered, between its owner and its other fields. */
const isAge = (word: Token | undefined): boolean => word !== undefined && !word.quoted && /^\[AGE:\d{1,10}\]$/i.test(word.raw);

/** Parses `[ttl] [class] type rdata` or `[class] [ttl] type rdata`. */
function readFields(tokens: readonly Token[]): { ttl: number | undefined; type: string; rdata: readonly Token[] } {
  let ttl: number | undefined;
  let classSeen = false;
  const fields = isAge(tokens[0]) ? tokens.slice(1) : tokens;
  for (const [index, { raw, quoted }] of fields.entries()) {
    const word = quoted ? "" : raw.toUpperCase();
    if (!classSeen && (word === "IN" || word === "CLASS1")) classSeen = true;
    else if (!classSeen && /^(?:CH|HS|CS|CLASS\d+)$/.test(word)) throw new RdataError(`Class ${word} cannot be used here.`);
    else if (ttl === undefined && seconds(word) !== undefined) ttl = seconds(word);
    else if (ttl === undefined && startsWithDigit(word))
      throw new RdataError(`${word.slice(0, 32)} is not a time to live: it must be from 0 to ${TTL_SECONDS_MAX} seconds.`);
    else return { ttl, type: word, rdata: fields.slice(index + 1) };
  }
  throw new RdataError("The record has no type.");
}

/** Types and classes do not begin with a digit. */
const startsWithDigit = (word: string): boolean => word >= "0" && word < ":";

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

/** `3600`, or with the units that name servers commonly accept: `1h30m`. */
function seconds(word: string): number | undefined {
  if (!/^(?:\d{1,10}|(?:\d{1,10}[SMHDW])+)$/i.test(word)) return undefined;
  let total = 0;
  // linear: pumped
  for (const [, digits, unit] of word.toUpperCase().matchAll(/(\d+)([SMHDW]?)/g))
    total += Number(digits) * (UNIT_SECONDS[unit || "S"] as number);
  return total > TTL_SECONDS_MAX ? undefined : total;
}

/** The times of an SOA record also accept units; its serial does not. */
const soaNumber = (word: Token, index: number): Token =>
  index < 3 || word.quoted ? word : { raw: String(seconds(word.raw) ?? word.raw), quoted: false };
