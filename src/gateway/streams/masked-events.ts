import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { eventTexts, withTexts } from "./text-extraction.ts";

/** A text of one event. Prefixes of keys with fewer characters pass at once, because they reveal nothing of a key. */
const HELD_CHARACTERS_MIN = 3;
/** Length of a key's prefix that the fast check can find in separate chunks. */
const LOOKED_CHARACTERS = 32;
/** Events, and their bytes, that wait for the rest of a key; and bytes of an event that has not ended. */
const HELD_EVENTS_MAX = 64;
const HELD_BYTES_MAX = 256 * 1024;
const PASSED_CHUNKS_MAX = 4;
const NOTHING = Buffer.alloc(0);

interface Held {
  readonly raw: Buffer;
  readonly texts: string[];
  isMasked: boolean;
}

/** Some characters of a text of an event. */
interface Piece {
  readonly held: Held;
  readonly text: number;
  readonly from: number;
  readonly to: number;
}

/** The prefix of a key at the end of a channel's text. */
interface Beginning {
  readonly said: string;
  readonly pieces: readonly Piece[];
  /** The number of the event with the last of them. */
  readonly at: number;
}

/** A fast check of chunks, which have one character per byte. */
export interface BeginningLook {
  /** The most characters of a key's beginning with which a text of the chunk may end. */
  lengthIn(chunk: string): number;
  /** Whether a text may start with the second character of a key. */
  mayContinue(chunk: string): boolean;
}

export function createBeginningLook(keys: readonly string[]): BeginningLook {
  const beginnings = keys.map((key) => key.slice(0, LOOKED_CHARACTERS));
  const isIn = new Uint8Array(256);
  for (const beginning of beginnings) for (let i = 0; i < beginning.length; i++) isIn[beginning.charCodeAt(i) & 0xff] = 1;
  // Other characters may be escaped in JSON, or have several bytes.
  const mayBeEscaped = keys.some((key) => /[^A-Za-z0-9_.~-]/.test(key));
  const isEscaped = (chunk: string): boolean => mayBeEscaped && (chunk.includes("\\") || HAS_LONG_CHARACTERS.test(chunk));
  return {
    lengthIn: (chunk) => {
      if (isEscaped(chunk) || beginnings.some((one) => one.length === LOOKED_CHARACTERS && chunk.includes(one))) return LOOKED_CHARACTERS;
      let longest = 0;
      for (const mark of TEXT_ENDS)
        for (let at = chunk.indexOf(mark); at > 0; at = chunk.indexOf(mark, at + 1))
          if (isIn[chunk.charCodeAt(at - 1)] === 1)
            for (const beginning of beginnings) longest = Math.max(longest, beginningBefore(chunk, at, beginning));
      return longest;
    },
    mayContinue: (chunk) => isEscaped(chunk) || beginnings.some((one) => chunk.includes(`"${one[1]}`) || chunk.includes(`: ${one[1]}`)),
  };
}

const TEXT_ENDS = ['"', "\n", "\r"] as const;
const HAS_LONG_CHARACTERS = /[\u0080-\u00ff]/;

/** The most characters of `beginning` that are before `end`. */
function beginningBefore(text: string, end: number, beginning: string): number {
  for (let length = Math.min(beginning.length, end); length > 0; length--)
    if (text.charCodeAt(end - 1) === beginning.charCodeAt(length - 1) && text.startsWith(beginning.slice(0, length), end - length))
      return length;
  return 0;
}

/**
 * Masks keys that the texts of a `text/event-stream` contain in chunks over several events. Events are held only while
 * their texts end with the prefix of a key.
 */
export class MaskedEvents {
  readonly #keys: readonly string[];
  readonly #look: BeginningLook;
  readonly #channels = new Map<string, Beginning>();
  /** The beginning of an event that has not ended. */
  #rest: Buffer = NOTHING;
  #held: Held[] = [];
  /** The last chunks with a text that ends with the first character of a key. */
  readonly #passed: Buffer[] = [];
  #events = 0;

  constructor(keys: readonly string[], look: BeginningLook) {
    this.#keys = keys;
    this.#look = look;
  }

  push(bytes: Buffer): Buffer {
    const isIdle = this.#rest.length === 0 && this.#held.length === 0 && this.#channels.size === 0;
    if (isIdle && endOfEvents(bytes) === bytes.length && this.#passes(bytes)) return bytes;
    // These events were sent; only their texts matter.
    for (const chunk of this.#passed.splice(0)) for (const raw of eventsOf(chunk)) this.#take(raw);
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const to = endOfEvents(all);
    this.#rest = all.subarray(to);
    const out: Buffer[] = [];
    for (const raw of eventsOf(all.subarray(0, to))) out.push(...this.#take(raw));
    // An event longer than this is not one chunk of a streamed text, so it is not held back.
    if (this.#rest.length > HELD_BYTES_MAX) {
      out.push(...this.#release(), this.#rest);
      this.#rest = NOTHING;
    } else this.#rest = Buffer.from(this.#rest);
    return Buffer.concat(out);
  }

  /** Many words end with the first character of a key, and few continue with its second one. */
  #passes(bytes: Buffer): boolean {
    const chunk = bytes.toString("latin1");
    const length = this.#look.lengthIn(chunk);
    if (length > 1 || (this.#passed.length > 0 && this.#look.mayContinue(chunk))) return false;
    if (length === 1 && this.#passed.push(bytes) > PASSED_CHUNKS_MAX) this.#passed.shift();
    return true;
  }

  end(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return Buffer.concat([...(rest.length === 0 ? [] : this.#take(rest)), ...this.#release()]);
  }

  #take(raw: Buffer): readonly Buffer[] {
    const found = textsOf(raw);
    const held: Held = { raw, texts: found.map(({ text }) => text), isMasked: false };
    for (const [i, { channel, text }] of found.entries()) this.#said(channel, text, { held, text: i, from: 0, to: text.length });
    this.#held.push(held);
    this.#events++;
    for (const [channel, { at }] of this.#channels) if (this.#events - at > HELD_EVENTS_MAX) this.#channels.delete(channel);
    if (this.#held.length > HELD_EVENTS_MAX || bytesOf(this.#held) > HELD_BYTES_MAX) return this.#release();
    const needed = new Set(
      Array.from(this.#channels.values()).flatMap(({ said, pieces }) =>
        said.length < HELD_CHARACTERS_MIN ? [] : pieces.map((piece) => piece.held),
      ),
    );
    const first = this.#held.findIndex((one) => needed.has(one));
    return this.#held.splice(0, first < 0 ? this.#held.length : first).map(shown);
  }

  #said(channel: string, text: string, piece: Piece): void {
    const before = this.#channels.get(channel);
    if (text === "") return;
    const said = (before?.said ?? "") + text;
    const pieces = [...(before?.pieces ?? []), piece];
    for (const key of this.#keys)
      for (let at = said.indexOf(key); at >= 0; at = said.indexOf(key, at + 1)) hide(pieces, at, at + key.length);
    const length = beginningAtEnd(said, this.#keys);
    if (length === 0) this.#channels.delete(channel);
    else this.#channels.set(channel, { said: said.slice(-length), pieces: lastOf(pieces, length), at: this.#events });
  }

  /** Half a key is as good as a key. */
  #release(): readonly Buffer[] {
    for (const { said, pieces } of this.#channels.values())
      if (this.#keys.some((key) => key.startsWith(said) && said.length * 2 > key.length)) hide(pieces, 0, said.length);
    this.#channels.clear();
    return this.#held.splice(0).map(shown);
  }
}

const bytesOf = (held: readonly Held[]): number => held.reduce((sum, { raw }) => sum + raw.length, 0);

/** Replaces these characters in the joined text of the chunks. */
function hide(pieces: readonly Piece[], from: number, to: number): void {
  let start = 0;
  for (const { held, text, from: first, to: last } of pieces) {
    const [begin, end] = [Math.max(from - start, 0) + first, Math.min(to - start + first, last)];
    start += last - first;
    if (begin >= end) continue;
    const said = held.texts[text] as string;
    held.texts[text] = said.slice(0, begin) + "*".repeat(end - begin) + said.slice(end);
    held.isMasked = true;
  }
}

/** The chunks of the last `length` characters. */
function lastOf(pieces: readonly Piece[], length: number): readonly Piece[] {
  const kept: Piece[] = [];
  let left = length;
  for (let i = pieces.length - 1; i >= 0 && left > 0; i--) {
    const piece = pieces[i] as Piece;
    const taken = Math.min(left, piece.to - piece.from);
    if (taken > 0) kept.unshift({ ...piece, from: piece.to - taken });
    left -= taken;
  }
  return kept;
}

/** The length of the longest suffix of the text that is a prefix of a key. */
function beginningAtEnd(text: string, keys: readonly string[]): number {
  let longest = 0;
  for (const key of keys)
    for (let length = Math.min(text.length, key.length - 1); length > longest; length--)
      if (text.endsWith(key.slice(0, length))) longest = length;
  return longest;
}

const BLANK_LINES = ["\n\n", "\r\n\r\n", "\r\r"] as const;
const LF = 0x0a;

/** After the last blank line. */
function endOfEvents(bytes: Buffer): number {
  const { length } = bytes;
  if (bytes[length - 1] === LF && bytes[length - 2] === LF) return length;
  return Math.max(...BLANK_LINES.map((line) => (bytes.lastIndexOf(line) < 0 ? 0 : bytes.lastIndexOf(line) + line.length)));
}

function* eventsOf(bytes: Buffer): Generator<Buffer> {
  let from = 0;
  for (const { index, 0: line } of bytes.toString("latin1").matchAll(/\r\n\r\n|\n\n|\r\r/g)) {
    yield bytes.subarray(from, index + line.length);
    from = index + line.length;
  }
}

const DATA_LINE = /^data:[ ]?([^\r\n]*)/gm;

const dataOf = (event: string): string => Array.from(event.matchAll(DATA_LINE), ([, data = ""]) => data).join("\n");

function textsOf(raw: Buffer): readonly { readonly channel: string; readonly text: string }[] {
  const data = dataOf(raw.toString());
  const value = parsedJson(data);
  if (objectOf(value) === undefined && !Array.isArray(value)) return [{ channel: "", text: data }];
  try {
    return eventTexts(value);
  } catch {
    // No text of a model is nested as deeply.
    return [];
  }
}

/** The event as it came, or with its texts as they are now. */
function shown({ raw, texts, isMasked }: Held): Buffer {
  if (!isMasked) return raw;
  const event = raw.toString();
  const value = parsedJson(dataOf(event));
  const data = typeof value === "object" && value !== null ? JSON.stringify(withTexts(value, texts)) : (texts[0] as string);
  const lines = event.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
  return Buffer.from([...lines, ...data.split("\n").map((line) => `data: ${line}`), "", ""].join("\n"));
}
