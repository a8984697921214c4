import { RdataError, WireError } from "./errors.ts";
import { type DnsName, type NameContext, formatName, parseAbsoluteName } from "./name.ts";
import { type Token, tokenize } from "./presentation.ts";
import { RECORD_TYPE_ROWS, type RdataField, type RecordType } from "./record-type-rows.ts";
import { serviceParams } from "./service-params.ts";
import { WireReader } from "./wire-reader.ts";

export { RdataError } from "./errors.ts";
export type { RecordType } from "./record-type-rows.ts";

/** Every record type that we know the inside of, by its name. */
export const RECORD_TYPES: Readonly<Record<string, RecordType>> = Object.freeze(
  Object.fromEntries(RECORD_TYPE_ROWS.map((type) => [type.name, type])),
);

const BY_CODE: ReadonlyMap<number, RecordType> = new Map(RECORD_TYPE_ROWS.map((type) => [type.code, type]));

export const recordTypeByCode = (code: number): RecordType | undefined => BY_CODE.get(code);

/** The number of a type's name, `TYPE65280` included (RFC 3597 §5); undefined where there is none. */
export function typeCode(type: string): number | undefined {
  const known = Object.hasOwn(RECORD_TYPES, type) ? RECORD_TYPES[type] : undefined;
  if (known) return known.code;
  const digits = /^TYPE(0|[1-9]\d{0,4})$/.exec(type)?.[1];
  return digits === undefined || Number(digits) > 65_535 ? undefined : Number(digits);
}

/** Question and meta types, which no zone holds (RFC 6895 §3.1). */
const isQuestionType = (code: number): boolean => code === 0 || code === 41 || (code >= 128 && code <= 255) || code === 65_535;

/** What only the signer of a zone can make. */
const UNSTORED_CODES: ReadonlySet<number> = new Set([24, 30, 50, 51, 63]);

/**
 * The type of a name that a record may have: a row of RECORD_TYPES, also by its number (`TYPE1` is A), or a
 * type that we know nothing of but its number (RFC 3597 §5). Undefined where a zone cannot hold it as it is.
 */
export function recordTypeOf(type: string): RecordType | undefined {
  const code = typeCode(type);
  if (code === undefined) return undefined;
  const known = BY_CODE.get(code);
  if (known !== undefined || isQuestionType(code) || UNSTORED_CODES.has(code)) return known;
  return { name: `TYPE${code}`, code, proxiable: false, structured: false, fields: [] };
}

export interface EncodeOptions {
  /** The zone's name, or in a zone file the `$ORIGIN`: absolute, with or without the final dot. */
  readonly origin: string;
  /** For MX, URI and SRV, where the API has it beside the content. */
  readonly priority?: number | undefined;
  /** How names are read (see NameContext); default `api`. In `master` the priority is part of the text. */
  readonly style?: NameContext["style"];
}

/**
 * RDATA in wire format, uncompressed, from a record's content. Where the priority is not given it is read
 * from the content's first word. Throws RdataError with a message for the person who wrote it.
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

/** RDATA in wire format, uncompressed, from the words of a master file. Throws RdataError. */
export function encodeTokens(known: RecordType, words: readonly Token[], names: NameContext): Uint8Array {
  if (isGeneric(known, words)) return genericRdata(known, words);
  return encodeFields(known, (field, index, last) => {
    // A type of one word says best itself what is wrong with several, or with none.
    if (known.fields.length === 1 && !field.codec.greedy && words.length !== 1)
      return field.codec.parse([{ raw: words.map(({ raw }) => raw).join(" "), quoted: false }], names);
    const mine = last && field.codec.greedy ? words.slice(index) : words.slice(index, index + 1);
    if (mine.length === 0 && !field.codec.greedy) throw new RdataError("is missing");
    if (last && !field.codec.greedy && words.length > known.fields.length)
      throw new RdataError("is followed by more text than the type has");
    return field.codec.parse(mine, names);
  });
}

/** RDATA in wire format, uncompressed, from the API's `data`. Throws RdataError with the field at fault. */
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

/** What the API shows of RDATA (contract.md §3). Throws WireError where the RDATA is not of the type. */
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

/** RDATA as a master file holds it: the priority in its place, and names absolute. Throws WireError. */
export function presentationText(type: string, rdata: Uint8Array): string {
  const known = needType(type);
  if (known.fields.length === 0) return describe(type, rdata).content;
  const values = readFields(known, new WireReader(rdata, { pointers: false }));
  return known.fields
    .map(({ codec }, i) => (codec.isName ? absoluteText(values[i] as DnsName) : codec.format(values[i])))
    .filter((word) => word !== "")
    .join(" ");
}

/** With its final dot, so that no `$ORIGIN` is added to it. */
export const absoluteText = (name: DnsName): string => (name.length === 1 ? "." : `${formatName(name)}.`);

/** The RDATA without compression pointers, checked against its type. Throws WireError. */
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

/** The origin that was read last: writes come zone by zone. */
let lastOrigin = { text: ".", name: parseAbsoluteName(".") };

function contextOf({ origin, style = "api" }: EncodeOptions): NameContext {
  if (origin !== lastOrigin.text) lastOrigin = { text: origin, name: parseAbsoluteName(origin) };
  return { origin: lastOrigin.name, style };
}

/** TXT content without any quotes is one string, spaces and all (SPEC 2.2). */
function contentTokens(type: RecordType, content: string, names: NameContext): Token[] {
  const bare = type.name === "TXT" && names.style === "api" && !/(?:^|[^\\])"/.test(content) && !content.startsWith("\\#");
  if (!bare) return tokenize(content);
  return content.trim() === "" ? [] : [{ raw: content, quoted: true }];
}

/** RFC 3597 §5: `\# length hex`, which every type accepts and of which types without fields have nothing else. */
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
  if (type.fields.length === 0) return rdata;
  try {
    checkTogether(type, readFields(type, new WireReader(rdata, { pointers: false })));
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
  const reason = type.conflict?.(values);
  if (reason !== undefined) throw new RdataError(`Content for ${type.name} record is invalid: it ${reason}.`);
}

/** Turns a codec's reason into a sentence that names the record type and, where it has several, the field. */
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
