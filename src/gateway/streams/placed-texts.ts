import { isUtf8 } from "node:buffer";
import { isFact } from "./text-extraction.ts";

/** A text in the bytes of an event, with its position. */
export interface PlacedText {
  /**
   * Each names the same place in every event. A text has several, because readers differ in what they join: the texts of
   * one place, of one place in any item of a list, or all of them.
   */
  channels(): readonly string[];
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly coding: "json" | "utf8" | "latin1";
}

/** Members that distinguish parallel items. */
const INDEXES: ReadonlySet<string> = new Set(["index", "output_index", "content_index", "summary_index", "contentBlockIndex"]);
/** Members of a whole event that say of which kind it is. */
const KINDS: ReadonlySet<string> = new Set(["type", "item_id"]);
const NAME_BYTES_MAX = 64;
const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d];
const LETTER_U = 0x75;

/** An object or a list. */
interface Container {
  readonly parent: Container | undefined;
  readonly isList: boolean;
  /** Its name in an object, or its position in a list. */
  readonly label: string;
  /** The values of its indexes, which may stand after its texts. */
  indexes: string;
  kind: string;
  exact?: string;
  loose?: string;
}

interface Found {
  readonly inside: Container | undefined;
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** The strings of a JSON text, at any depth. Also reads what is not quite JSON. */
export function jsonPlacedTexts(bytes: Buffer, from = 0, to = bytes.length): readonly PlacedText[] {
  return readStrings(to === bytes.length ? bytes : bytes.subarray(0, to), from).map((found) => ({
    channels: () => channelsOf(found),
    ...textAt(bytes, found.from, found.to, true),
    from: found.from,
    to: found.to,
  }));
}

function channelsOf({ inside, label }: Found): readonly string[] {
  const isOfList = inside === undefined || inside.isList;
  const exact = `=${inside === undefined ? "" : exactOf(inside)}${isOfList ? `[${label}]` : `.${label}`}`;
  if (!isOfList && isFact(label)) return [exact];
  return [exact, `~${inside === undefined ? "" : looseOf(inside)}${isOfList ? "" : `.${label}`}`, ""];
}

/** Whether the channel is a place with its positions in lists, which an event says once. */
export const isSaidOnce = (channel: string): boolean => channel.startsWith("=");

const ALL_TEXTS: readonly string[] = [""];

/** A text without quotes and escapes. */
export const plainPlacedText = (bytes: Buffer, from = 0, to = bytes.length): PlacedText => ({
  channels: () => ALL_TEXTS,
  ...textAt(bytes, from, to, false),
  from,
  to,
});

function readStrings(bytes: Buffer, start: number): readonly Found[] {
  const found: Found[] = [];
  let inside: Container | undefined;
  /** The member that is being read; undefined before its name. */
  let name: string | undefined;
  const positions: number[] = [];
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const quote = closingQuote(bytes, at + 1);
      const end = quote < 0 ? bytes.length : quote;
      if (inside !== undefined && !inside.isList && name === undefined)
        name = bytes.toString("latin1", at + 1, Math.min(end, at + 1 + NAME_BYTES_MAX));
      else {
        found.push({ inside, label: labelIn(inside, name, positions), from: at + 1, to: end });
        if (inside !== undefined && inside.parent === undefined && name !== undefined && KINDS.has(name))
          inside.kind += `${bytes.toString("latin1", at + 1, Math.min(end, at + 1 + NAME_BYTES_MAX))} `;
      }
      at = end;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      inside = { parent: inside, isList: byte === OPEN_LIST, label: labelIn(inside, name, positions), indexes: "", kind: "" };
      positions.push(0);
      name = undefined;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      inside = inside?.parent;
      positions.pop();
      name = "";
    } else if (byte === COMMA) {
      name = undefined;
      if (positions.length > 0) positions[positions.length - 1] = (positions.at(-1) as number) + 1;
    } else if (byte === COLON && inside !== undefined && name !== undefined && INDEXES.has(name))
      inside.indexes += `,${numberAfter(bytes, at + 1)}`;
  }
  return found;
}

const labelIn = (inside: Container | undefined, name: string | undefined, positions: readonly number[]): string =>
  inside === undefined || inside.isList ? String(positions.at(-1) ?? 0) : (name ?? "");

const exactOf = (container: Container): string => (container.exact ??= pathOf(container, exactOf, true));
const looseOf = (container: Container): string => (container.loose ??= pathOf(container, looseOf, false));

function pathOf({ parent, label, indexes, kind }: Container, ofParent: (parent: Container) => string, isExact: boolean): string {
  if (parent === undefined) return (isExact ? kind : "") + indexes;
  if (!parent.isList) return `${ofParent(parent)}.${label}${indexes}`;
  return `${ofParent(parent)}[${indexes === "" && isExact ? label : indexes}]`;
}

/** For short strings a native call costs more than a loop. */
const LOOPED_BYTES_MAX = 48;

/** The closing quote of the string that goes on at `from`; -1 if it is not there. */
export function closingQuote(bytes: Buffer, from: number): number {
  let at = from;
  for (const end = Math.min(bytes.length, from + LOOPED_BYTES_MAX); at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote >= 0;) {
    const backslash = bytes.subarray(at, quote).indexOf(BACKSLASH);
    if (backslash < 0) return quote;
    at += backslash + 2;
    if (quote < at) quote = bytes.indexOf(QUOTE, at);
  }
  return -1;
}

const numberAfter = (bytes: Buffer, at: number): string =>
  /^[ \t\r\n]{0,8}(\d{1,9})/.exec(bytes.toString("latin1", at, at + 24))?.[1] ?? "";

function textAt(bytes: Buffer, from: number, to: number, isJson: boolean): Pick<PlacedText, "text" | "coding"> {
  if (!isUtf8(bytes.subarray(from, to))) return { text: bytes.toString("latin1", from, to), coding: "latin1" };
  const text = bytes.toString("utf8", from, to);
  if (!isJson || !text.includes("\\")) return { text, coding: "utf8" };
  try {
    return { text: JSON.parse(`"${text}"`) as string, coding: "json" };
  } catch {
    return { text, coding: "utf8" };
  }
}

/** The bytes of these characters of the text. */
export function bytesOfText(bytes: Buffer, { from, coding }: PlacedText, begin: number, end: number): readonly [number, number] {
  let at = from;
  let start = from;
  for (let character = 0; character < end;) {
    if (character === begin) start = at;
    const byte = bytes[at] as number;
    if (coding === "json" && byte === BACKSLASH) {
      at += bytes[at + 1] === LETTER_U ? 6 : 2;
      character++;
    } else {
      const length = coding === "latin1" || byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      at += length;
      character += length === 4 ? 2 : 1;
    }
  }
  return [start, at];
}
