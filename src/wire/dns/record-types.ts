import { RdataError, WireError } from "./errors.ts";
import { type DnsName, type NameContext, formatName, parseAbsoluteName } from "./name.ts";
import { type Token, tokenize } from "./presentation.ts";
import { NUMBERS_BY_NAME, RECORD_TYPE_ROWS, type RdataField, type RecordType } from "./record-type-rows.ts";
import { serviceParams } from "./service-params.ts";
import { WireReader } from "./wire-reader.ts";

export { RdataError } from "./errors.ts";
export type { RecordType } from "./record-type-rows.ts";

/** Every record type with a known format, by name. */
export const RECORD_TYPES: Readonly<Record<string, RecordType>> = Object.freeze(
  Object.fromEntries(RECORD_TYPE_ROWS.map((type) => [type.name, type])),
);

const BY_CODE: ReadonlyMap<number, RecordType> = new Map(RECORD_TYPE_ROWS.map((type) => [type.code, type]));

export const recordTypeByCode = (code: number): RecordType | undefined => BY_CODE.get(code);

/** The number of a type's name, including `TYPE65280` (RFC 3597 §5); undefined for an unknown name. */
export function typeCode(type: string): number | undefined {
  const known = Object.hasOwn(RECORD_TYPES, type) ? RECORD_TYPES[type]?.code : NUMBERS_BY_NAME.get(type);
  if (known !== undefined) return known;
  const digits = /^TYPE(0|[1-9]\d{0,4})$/.exec(type)?.[1];
  return digits === undefined || Number(digits) > 65_535 ? undefined : Number(digits);
}

/** Question and meta types, which zones cannot contain (RFC 6895 §3.1). */
const isQuestionType = (code: number): boolean => code === 0 || code === 41 || (code >= 128 && code <= 255) || code === 65_535;

/** Types that only the signer of a zone creates. */
const UNSTORED_CODES: ReadonlySet<number> = new Set([24, 30, 50, 51, 63]);

/**
 * The record type of a name: a row of RECORD_TYPES, also by number (`TYPE1` is A), or an unknown type with a number (RFC
 * 3597 §5). Undefined if a zone cannot contain it.
 */
export function recordTypeOf(type: string): RecordType | undefined {
  const code = typeCode(type);
  if (code === undefined) return undefined;
  const known = BY_CODE.get(code);
  if (known !== undefined || isQuestionType(code) || UNSTORED_CODES.has(code)) return known;
  return { name: `TYPE${code}`, code, proxiable: false, structured: false, fields: [] };
}

export interface EncodeOptions {
  /** The zone's name, or the `$ORIGIN` of a zone file: absolute, with or without the final dot. */
  readonly origin: string;
  /** For MX, URI and SRV, whose priority the API has beside the content. */
  readonly priority?: number | undefined;
  /** How names are parsed (see NameContext); default `api`. In `master` the priority is part of the text. */
  readonly style?: NameContext["style"];
}

/**
 * Encodes a record's content as uncompressed RDATA. If the priority is not given, it is the first word of the content.
 * Throws RdataError with a message for the author.
 */
export function encodeContent(type: string, content: string, options: EncodeOptions): Uint8Array {
  const known = needType(type);
  const names = contextOf(options);
  const tokens = explain(known, undefined, () => contentTokens(known, content, names));
  const given = known.priority !== undefined && options.priority !== undefined && !isGeneric(known, tokens);
  if (!given && known.priority !== undefined && tokens.length === known.fields.length - 1) {
    throw new RdataError(`Content for ${type} record is invalid: priority is required.`, "priority");
  }
  return encodeTokens(known, given ? [{ raw: String(options.priority), quoted: false }, ...tokens] : tokens, names);
}

/** Encodes the words of a master file as uncompressed RDATA. Throws RdataError. */
export function encodeTokens(known: RecordType, words: readonly Token[], names: NameContext): Uint8Array {
  if (isGeneric(known, words)) return genericRdata(known, words);
  return encodeFields(known, (field, index, last) => {
    // For a type with a single field, its codec gives the best error for a wrong number of words.
    if (known.fields.length === 1 && !field.codec.greedy && words.length !== 1)
      return field.codec.parse([{ raw: words.map(({ raw }) => raw).join(" "), quoted: false }], names);
    const mine = last && field.codec.greedy ? words.slice(index) : words.slice(index, index + 1);
    if (mine.length === 0 && !field.codec.greedy) throw new RdataError("is missing");
    if (last && !field.codec.greedy && words.length > known.fields.length)
      throw new RdataError("is followed by more text than the type has");
    return field.codec.parse(mine, names);
  });
}

/** Encodes the API's `data` as uncompressed RDATA. Throws RdataError with the field at fault. */
export function encodeData(type: string, data: unknown, options: EncodeOptions): Uint8Array {
  const known = needType(type);
  if (!known.structured) throw new RdataError(`Data is not a field of ${type} records; send content.`);
  if (typeof data !== "object" || data === null || Array.isArray(data)) throw new RdataError(`Data for ${type} record must be an object.`);
  const members = data as Readonly<Record<string, unknown>>;
  const names = contextOf(options);
  return encodeFields(known, (field, index) => {
    const outside = index === 0 && known.priority !== undefined ? options.priority : undefined;
    const own = field.codec.spread ? members : index === 0 && known.priority === "apart" ? undefined : members[field.key];
    const value = own ?? outside ?? (field.codec === serviceParams ? "" : undefined);
    if (value === undefined) throw new RdataError("is required");
    return field.codec.fromData(value, names);
  });
}

export interface Description {
  readonly content: string;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly priority: number | null;
}

/** RDATA in the form of the API (contract.md §3). Throws WireError if the RDATA does not match the type. */
export function describe(type: string, rdata: Uint8Array): Description {
  const known = needType(type);
  if (known.fields.length === 0)
    return {
      content: `\\# ${rdata.length}${rdata.length === 0 ? "" : ` ${Buffer.from(rdata).toString("hex")}`}`,
      data: null,
      priority: null,
    };
  const values = readFields(known, new WireReader(rdata, { pointers: false }));
  const shown = known.fields.map((field, i) => ({ field, value: values[i] }));
  const inContent = known.priority === undefined ? shown : shown.slice(1);
  const inData = known.priority === "apart" ? shown.slice(1) : shown;
  return {
    content: inContent
      .map(({ field, value }) => field.codec.format(value))
      .filter((word) => word !== "")
      .join(" "),
    data: known.structured ? Object.assign({}, ...inData.map(({ field, value }) => dataOf(field, value))) : null,
    priority: known.priority === undefined ? null : (values[0] as number),
  };
}

const dataOf = ({ key, codec }: RdataField, value: unknown): object =>
  codec.spread ? (codec.toData(value) as object) : { [key]: codec.toData(value) };

/** RDATA in master file format: with the priority, and absolute names. Throws WireError. */
export function presentationText(type: string, rdata: Uint8Array): string {
  const known = needType(type);
  if (known.fields.length === 0) return describe(type, rdata).content;
  const values = readFields(known, new WireReader(rdata, { pointers: false }));
  return known.fields
    .map(({ codec }, i) => (codec.isName ? absoluteText(values[i] as DnsName) : codec.format(values[i])))
    .filter((word) => word !== "")
    .join(" ");
}

/** A name with its final dot, so that no `$ORIGIN` is appended. */
export const absoluteText = (name: DnsName): string => (name.length === 1 ? "." : `${formatName(name)}.`);

/** Reads RDATA without compression pointers and validates it against its type. Throws WireError. */
export function readRdata(code: number, reader: WireReader): Buffer {
  const known = BY_CODE.get(code);
  if (known === undefined) return Buffer.from(reader.rest());
  const values = readFields(known, reader);
  return Buffer.concat(known.fields.map((field, i) => field.codec.bytes(values[i])));
}

function readFields(type: RecordType, reader: WireReader): unknown[] {
  const values = type.fields.map((field) => field.codec.read(reader));
  if (!reader.done) throw new WireError("trailing_bytes");
  return values;
}

function needType(type: string): RecordType {
  const known = recordTypeOf(type);
  if (known === undefined) throw new RdataError(`Record type ${JSON.stringify(type)} is not known.`);
  return known;
}

/** The last parsed origin, because consecutive writes usually concern one zone. */
let lastOrigin = { text: ".", name: parseAbsoluteName(".") };

function contextOf({ origin, style = "api" }: EncodeOptions): NameContext {
  if (origin !== lastOrigin.text) lastOrigin = { text: origin, name: parseAbsoluteName(origin) };
  return { origin: lastOrigin.name, style };
}

/** Types of which content without quotes is one string, including spaces (SPEC 2.2; RFC 7208 §3.1 for SPF). */
const TEXT_TYPES: ReadonlySet<string> = new Set(["TXT", "SPF"]);

function contentTokens(type: RecordType, content: string, names: NameContext): Token[] {
  const bare = TEXT_TYPES.has(type.name) && names.style === "api" && !/(?:^|[^\\])"/.test(content) && !content.startsWith("\\#");
  if (!bare) return tokenize(content);
  return content.trim() === "" ? [] : [{ raw: content, quoted: true }];
}

/** RFC 3597 §5: `\# length hex`, which every type accepts, and the only format of types without fields. */
const isGeneric = (type: RecordType, tokens: readonly Token[]): boolean =>
  type.fields.length === 0 || (tokens[0]?.raw === "\\#" && !tokens[0].quoted);

function genericRdata(type: RecordType, tokens: readonly Token[]): Uint8Array {
  const [mark, length, ...words] = tokens.map((token) => token.raw);
  const digits = words.join("");
  const valid =
    mark === "\\#" && /^\d{1,5}$/.test(length ?? "") && /^(?:[0-9A-Fa-f]{2})*$/.test(digits) && digits.length === 2 * Number(length);
  const invalid = `Content for ${type.name} record is invalid: it must be \\# with the number of bytes and the bytes in hexadecimal.`;
  if (!valid || digits.length > 2 * RDATA_BYTES_MAX) throw new RdataError(invalid);
  const rdata = Buffer.from(digits, "hex");
  const reader = new WireReader(rdata, { pointers: false });
  try {
    if (type.fields.length > 0) checkTogether(type, readFields(type, reader));
  } catch (error) {
    if (error instanceof WireError)
      throw new RdataError(`Content for ${type.name} record is invalid: the bytes are not RDATA of this type.`);
    throw error;
  }
  return rdata;
}

const RDATA_BYTES_MAX = 65_535;

function encodeFields(type: RecordType, read: (field: RdataField, index: number, last: boolean) => unknown): Uint8Array {
  const values = type.fields.map((field, index) => explain(type, field, () => read(field, index, index === type.fields.length - 1)));
  checkTogether(type, values);
  const rdata = Buffer.concat(type.fields.map((field, index) => explain(type, field, () => field.codec.bytes(values[index]))));
  if (rdata.length > RDATA_BYTES_MAX) throw new RdataError(`Content for ${type.name} record is longer than 65535 bytes.`);
  return rdata;
}

function checkTogether(type: RecordType, values: readonly unknown[]): void {
  const conflict = type.conflict?.(values);
  if (conflict === undefined) return;
  throw new RdataError(`Content for ${type.name} record is invalid: ${conflict.field ?? "it"} ${conflict.reason}.`, conflict.field);
}

/** Converts a codec's reason to a sentence with the record type and, if it has several fields, the field. */
function explain<T>(type: RecordType, field: RdataField | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RdataError)) throw error;
    if (field === undefined || type.fields.length === 1)
      throw new RdataError(`Content for ${type.name} record ${error.message}.`, error.field);
    throw new RdataError(`Content for ${type.name} record is invalid: ${field.key} ${error.message}.`, field.key);
  }
}
