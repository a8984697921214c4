import { type BeginningLook, Glance } from "./beginning-look.ts";
import { addPieces, type EventForm, HELD_BYTES_MAX, MaskedTexts } from "./masked-texts.ts";
import { jsonPlacedTexts, type PlacedText, plainPlacedText } from "./placed-texts.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Masks keys that the texts of a `text/event-stream` contain in chunks over several events. Events are held only while
 * their texts end with the prefix of a key.
 */
export class MaskedEvents {
  readonly #texts: MaskedTexts;
  readonly #glance: Glance;
  /** The beginning of an event that has not ended. */
  #rest: Buffer = NOTHING;

  constructor(keys: readonly string[], look: BeginningLook) {
    this.#texts = new MaskedTexts(keys, EVENTS);
    this.#glance = new Glance(look, this.#texts, eventsOf);
  }

  push(bytes: Buffer): Buffer {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const to = endOfEvents(all);
    const events = to === all.length ? all : all.subarray(0, to);
    const isPassing = to === 0 || this.#glance.passes(events);
    if (isPassing && events === bytes) return bytes;
    this.#rest = all.subarray(to);
    const out: Buffer[] = [];
    if (isPassing) out.push(events);
    else for (const raw of eventsOf(events)) addPieces(out, this.#texts.take(raw));
    // An event longer than this is not one chunk of a streamed text, so it is not held back.
    if (this.#rest.length > HELD_BYTES_MAX) {
      addPieces(out, this.#texts.release());
      out.push(this.#rest);
      this.#rest = NOTHING;
    } else this.#rest = Buffer.from(this.#rest);
    return Buffer.concat(out);
  }

  end(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return Buffer.concat([...(rest.length === 0 ? [] : this.#texts.take(rest)), ...this.#texts.end()]);
  }
}

const BLANK_LINES = ["\n\n", "\r\n\r\n", "\r\r"] as const;
const LF = 0x0a;
const SPACE = 0x20;

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
  if (from < bytes.length) yield bytes.subarray(from);
}

const DATA_LINE = /^data:[ ]?([^\r\n]*)/gm;

/** The lines of data; positions are those in the event. */
function textsOf(raw: Buffer): readonly PlacedText[] {
  const lines = Array.from(raw.toString("latin1").matchAll(DATA_LINE), ({ index, 0: line, 1: data = "" }) => ({
    data,
    from: index + line.length - data.length,
    to: index + line.length,
  }));
  if (!/^[ \t]*[{["]/.test(lines[0]?.data ?? "")) return lines.map(({ from, to }) => plainPlacedText(raw, from, to));
  if (lines.length === 1) return lines.flatMap(({ from, to }) => jsonPlacedTexts(raw, from, to));
  // A value may have several lines, with blanks at its ends of lines.
  const value = Buffer.alloc(raw.length, SPACE);
  for (const { from, to } of lines) raw.copy(value, from, from, to);
  return jsonPlacedTexts(value);
}

const EVENTS: EventForm = { textsOf };
