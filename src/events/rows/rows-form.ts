import { AS_BEFORE, type PackedEvents, type PackedFacet, type PackedRows, type PackedTexts } from "./packed-rows.ts";
import type { EventTable } from "./rows.ts";
import { columnsOf, EVENT_SCHEMA, facetColumns, numberColumns, textColumns } from "./schema.ts";

/** The bytes are not rows, or rows that no table takes. */
export class UnfitRowsError extends Error {}

/** The rows are of a version whose tables have other facets: a newer or older program may take them. */
export class OtherVersionError extends Error {}

const ROWS_MAX = 1_000_000;

interface FacetHead {
  readonly name: string;
  readonly texts: readonly string[];
}

interface TextHead {
  readonly name: string;
  readonly text: string;
}

interface TableHead {
  readonly table: EventTable;
  readonly rows: number;
  readonly facets: readonly FacetHead[];
  readonly texts: readonly TextHead[];
  readonly numbers: readonly string[];
  readonly events?: { readonly rows: number; readonly rule: readonly string[]; readonly matches: string };
}

/**
 * Rows of one table as bytes that another machine reads: the length of a JSON head with the texts and the names of the columns, the
 * head, and then the numbers of each column. Blocks of the file cannot travel, because they hold numbers of that file's tables.
 */
export function encodeRows({ table, rows, facets, texts, numbers, events }: PackedRows): Buffer {
  const names = EVENT_SCHEMA[table].facets;
  const head: TableHead = {
    ...{ table, rows },
    facets: facets.map(({ texts: given }, i) => ({ name: names[i]!, texts: given })),
    texts: textColumns(table).map(({ name }, i) => ({ name, text: texts[i]!.text })),
    numbers: numberColumns(table).map(({ name }) => name),
    ...(events === undefined ? {} : { events: { rows: events.rows, rule: events.rule.texts, matches: events.matches.text } }),
  };
  const columns = [...facets.map(({ combinations }) => combinations), ...texts.map(({ lengths }) => lengths), ...numbers];
  if (events !== undefined) columns.push(events.requests, events.rule.combinations, events.matches.lengths);
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, ...columns.map((column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength))]);
}

/** Throws an UnfitRowsError or OtherVersionError, so that control can store and read every row that it accepts. */
export function decodeRows(bytes: Uint8Array): PackedRows {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headBytes = from.length < 4 ? -1 : from.readUInt32LE(0);
  const head = headOf(from.subarray(4, 4 + headBytes));
  const { table, rows } = head;
  const columns = createColumns(from, 4 + headBytes);
  const facetNames: readonly string[] = EVENT_SCHEMA[table].facets;
  if (head.facets.map(({ name }) => name).join() !== facetNames.join()) throw new OtherVersionError("a table has other facets");
  const facets = EVENT_SCHEMA[table].facets.map((name, i) =>
    facetOf(head.facets[i]!.texts, facetColumns(name).length, columns.integers(rows)),
  );
  const texts = new Map(head.texts.map(({ name, text }) => [name, textsOf(text, columns.integers(rows))]));
  const numbers = new Map(head.numbers.map((name) => [name, columns.numbers(rows)]));
  const events = head.events === undefined ? {} : { events: eventsOf(head.events, rows, columns) };
  if (!columns.isAtEnd()) throw new UnfitRowsError("the length is wrong");
  const packed: PackedRows = {
    ...{ table, rows, facets, ...events },
    texts: textColumns(table).map(({ name }) => texts.get(name) ?? { text: "", lengths: new Uint32Array(rows) }),
    numbers: numberColumns(table).map(({ name, nullable }) => numbers.get(name) ?? new Float64Array(rows).fill(nullable ? Number.NaN : 0)),
  };
  checkCells(packed);
  return packed;
}

const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every((text) => typeof text === "string");
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) > 0 && (value as number) <= ROWS_MAX;
const isList = <T>(value: unknown, isItem: (item: Partial<T> | null) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => isItem(item as Partial<T> | null));

function headOf(json: Buffer): TableHead {
  let head: TableHead;
  try {
    head = JSON.parse(json.toString()) as TableHead;
  } catch {
    throw new UnfitRowsError("the head is not JSON");
  }
  const isHead =
    typeof head === "object" &&
    head !== null &&
    isCount(head.rows) &&
    isList<FacetHead>(head.facets, (facet) => typeof facet?.name === "string" && areTexts(facet.texts)) &&
    isList<TextHead>(head.texts, (column) => typeof column?.name === "string" && typeof column.text === "string") &&
    areTexts(head.numbers);
  if (!isHead) throw new UnfitRowsError("the head is incomplete");
  if (!Object.hasOwn(EVENT_SCHEMA, head.table)) throw new OtherVersionError("the table is unknown");
  const { events } = head;
  const hasEvents = events === undefined || (isCount(events?.rows) && areTexts(events.rule) && typeof events.matches === "string");
  if (!hasEvents || (events !== undefined && head.table !== "requests")) throw new UnfitRowsError("the events are incomplete");
  return head;
}

interface Columns {
  integers(rows: number): Uint32Array;
  numbers(rows: number): Float64Array;
  isAtEnd(): boolean;
}

function createColumns(from: Buffer, start: number): Columns {
  let at = start;
  const copy = (bytes: number): ArrayBuffer => {
    if (at + bytes > from.length) throw new UnfitRowsError("a column is cut off");
    const start = from.byteOffset + at;
    at += bytes;
    // A copy begins where its numbers may begin.
    return from.buffer.slice(start, start + bytes) as ArrayBuffer;
  };
  return {
    integers: (rows) => new Uint32Array(copy(rows * Uint32Array.BYTES_PER_ELEMENT)),
    numbers: (rows) => new Float64Array(copy(rows * Float64Array.BYTES_PER_ELEMENT)),
    isAtEnd: () => at === from.length,
  };
}

function facetOf(texts: readonly string[], width: number, combinations: Uint32Array): PackedFacet {
  if (texts.length % width !== 0 || combinations.some((combination) => combination >= texts.length / width))
    throw new UnfitRowsError("a combination is unknown");
  return { texts, combinations };
}

function textsOf(text: string, lengths: Uint32Array): PackedTexts {
  const sum = lengths.reduce((units, length) => units + (length === AS_BEFORE ? 0 : length), 0);
  if (sum !== text.length || lengths[0] === AS_BEFORE) throw new UnfitRowsError("the lengths of texts are wrong");
  return { text, lengths };
}

function eventsOf({ rows, rule, matches }: NonNullable<TableHead["events"]>, requestRows: number, columns: Columns): PackedEvents {
  const requests = columns.integers(rows);
  if (requests.some((row) => row >= requestRows)) throw new UnfitRowsError("an event is of no request");
  const packed = {
    ...{ rows, requests },
    rule: facetOf(rule, facetColumns("rule").length, columns.integers(rows)),
    matches: textsOf(matches, columns.integers(rows)),
  };
  checkJson(packed.matches);
  return packed;
}

/** STRICT tables refuse fractions in whole columns, and queries parse the texts that are JSON. */
function checkCells({ table, texts, numbers }: PackedRows): void {
  for (const [i, { sql, nullable }] of numberColumns(table).entries()) {
    const isFit = sql === "INTEGER" ? Number.isSafeInteger : Number.isFinite;
    if (!numbers[i]!.every((value) => isFit(value) || (nullable && Number.isNaN(value)))) throw new UnfitRowsError("a number does not fit");
  }
  const json = new Set(columnsOf(table).flatMap(({ name, form }) => (form === "json" ? [name as string] : [])));
  for (const [i, { name }] of textColumns(table).entries()) if (json.has(name)) checkJson(texts[i]!);
}

function checkJson({ text, lengths }: PackedTexts): void {
  let at = 0;
  try {
    for (const length of lengths) if (length !== AS_BEFORE && length > 0) JSON.parse(text.slice(at, (at += length)));
  } catch {
    throw new UnfitRowsError("a value is not JSON");
  }
}
