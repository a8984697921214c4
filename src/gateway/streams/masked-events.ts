import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { type EventForm, HELD_BYTES_MAX, MaskedTexts } from "./masked-texts.ts";
import { eventTexts, withTexts } from "./text-extraction.ts";

/** Length of a key's prefix that the fast check can find in separate chunks. */
const LOOKED_CHARACTERS = 32;
const PASSED_CHUNKS_MAX = 4;
const NOTHING = Buffer.alloc(0);

/** A fast check of chunks, which have one character per byte. */
export interface BeginningLook {
  /** The most characters of a key's beginning with which a text of the chunk may end. */
  lengthIn(chunk: string): number;
  /** Whether a text may begin with the second character of a key. */
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
  readonly #texts: MaskedTexts;
  readonly #look: BeginningLook;
  /** The beginning of an event that has not ended. */
  #rest: Buffer = NOTHING;
  /** The last chunks with a text that ends with the first character of a key. */
  readonly #passed: Buffer[] = [];

  constructor(keys: readonly string[], look: BeginningLook) {
    this.#texts = new MaskedTexts(keys, EVENTS);
    this.#look = look;
  }

  push(bytes: Buffer): Buffer {
    const isIdle = this.#rest.length === 0 && this.#texts.isIdle;
    if (isIdle && endOfEvents(bytes) === bytes.length && this.#passes(bytes)) return bytes;
    // These events were sent; only their texts matter.
    for (const chunk of this.#passed.splice(0)) for (const raw of eventsOf(chunk)) this.#texts.take(raw);
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const to = endOfEvents(all);
    this.#rest = all.subarray(to);
    const out: Buffer[] = [];
    for (const raw of eventsOf(all.subarray(0, to))) out.push(...this.#texts.take(raw));
    // An event longer than this is not one chunk of a streamed text, so it is not held back.
    if (this.#rest.length > HELD_BYTES_MAX) {
      out.push(...this.#texts.release(), this.#rest);
      this.#rest = NOTHING;
    } else this.#rest = Buffer.from(this.#rest);
    return Buffer.concat(out);
  }

  /** Many words end with the first character of a key, and few go on with its second one. */
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
    return Buffer.concat([...(rest.length === 0 ? [] : this.#texts.take(rest)), ...this.#texts.release()]);
  }
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

const EVENTS: EventForm = {
  textsOf,
  withTexts: (raw, texts) => {
    const event = raw.toString();
    const value = parsedJson(dataOf(event));
    const data = typeof value === "object" && value !== null ? JSON.stringify(withTexts(value, texts)) : (texts[0] as string);
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith("data:"));
    return Buffer.from([...lines, ...data.split("\n").map((line) => `data: ${line}`), "", ""].join("\n"));
  },
};
