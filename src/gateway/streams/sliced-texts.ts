import type { Work } from "#kernel/process/slices.ts";
import { EventStreamReader, type StreamEvent } from "#wire/http/event-stream.ts";
import { scannedJson, TooManyContainersError } from "#gateway/http/json.ts";
import { jsonPlainTexts, UninspectableError } from "./json-texts.ts";
import { eventTexts, TooDeepError } from "./text-extraction.ts";

/** Bytes that are read as a value in one go, in a millisecond or two. */
const AT_ONCE_BYTES_MAX = 256 * 1024;
const READ_BYTES = 64 * 1024;
/** Microseconds for a byte that is read as JSON. */
const READ_COST = 1 / 100;
const DATA_FIELD = /^data: ?/;

/** A body is one value or lines of text, a stream has events. */
export type TextForm = "body" | "events";

/**
 * All text of a request or an answer, in slices: of a value, of events, of lines that are values, or else the bytes
 * themselves. A text of more than `lengthMax` characters is not read to its end. Throws UninspectableError for text that
 * cannot be read, so that it does not look like none.
 */
export function* slicedText(bytes: Buffer, form: TextForm, lengthMax: number): Work<string> {
  try {
    const whole = yield* valueText(bytes, lengthMax);
    if (whole !== undefined) return whole;
    // An image or a sound.
    if (bytes.includes(0)) return "";
    const texts = new Texts(lengthMax);
    yield* form === "events" ? eventsText(bytes, texts) : linesText(bytes, texts);
    return texts.joined();
  } catch (error) {
    if (error instanceof TooDeepError || error instanceof TooManyContainersError) throw new UninspectableError(error.message);
    throw error;
  }
}

/** Undefined for bytes that are no object or array in JSON. */
function* valueText(bytes: Buffer, lengthMax: number): Work<string | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  const isValue = yield* jsonPlainTexts(bytes, (piece) => {
    if (length <= lengthMax * BYTES_A_CHARACTER_MAX) pieces.push(piece);
    length += piece.length;
    return piece.length * READ_COST;
  });
  // Texts are joined, so none begins with a space.
  return isValue ? Buffer.concat(pieces).toString("utf8").slice(1) : undefined;
}

const BYTES_A_CHARACTER_MAX = 3;

function* eventsText(bytes: Buffer, texts: Texts): Work<void> {
  const events: StreamEvent[] = [];
  const reader = new EventStreamReader((event) => void events.push(event), { eventBytesMax: bytes.length + 1 });
  for (let at = 0; at < bytes.length && !texts.isFull; at += READ_BYTES) {
    reader.push(bytes.subarray(at, at + READ_BYTES));
    if (at + READ_BYTES >= bytes.length) reader.end();
    for (const { data } of events.splice(0)) yield* texts.take(data);
  }
}

/** Also of a stream that does not say that it is one. */
function* linesText(bytes: Buffer, texts: Texts): Work<void> {
  for (let at = 0; at < bytes.length && !texts.isFull;) {
    const newline = bytes.indexOf("\n", at);
    const end = newline < 0 ? bytes.length : newline;
    yield* texts.take(bytes.toString("utf8", at, end).replace(DATA_FIELD, ""));
    at = end + 1;
  }
}

/** Texts of events, each joined over all of them. */
class Texts {
  readonly #texts = new Map<string, string>();
  readonly #lengthMax: number;
  #length = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get isFull(): boolean {
    return this.#length > this.#lengthMax;
  }

  *take(data: string): Work<void> {
    if (data === "[DONE]" || data.trim() === "") return;
    yield 1 + Math.min(data.length, AT_ONCE_BYTES_MAX) * READ_COST;
    if (data.length > AT_ONCE_BYTES_MAX)
      return this.#add(`event ${this.#texts.size}`, (yield* valueText(Buffer.from(data), this.#lengthMax)) ?? data);
    const value = scannedJson(data);
    if (value === undefined) this.#add("", `${data}\n`);
    else for (const { channel, text } of eventTexts(value)) this.#add(channel, text);
  }

  joined(): string {
    return [...this.#texts.values()].join(" ").trim();
  }

  #add(channel: string, text: string): void {
    this.#texts.set(channel, (this.#texts.get(channel) ?? "") + text);
    this.#length += text.length;
  }
}
