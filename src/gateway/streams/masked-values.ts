import { type BeginningLook, Glance } from "./beginning-look.ts";
import { addPieces, type EventForm, HELD_BYTES_MAX, MaskedTexts } from "./masked-texts.ts";
import { closingQuote, jsonPlacedTexts } from "./placed-texts.ts";

const NOTHING = Buffer.alloc(0);
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/**
 * Masks keys that JSON contains in chunks over several texts: over the items of a list that is streamed, over values one
 * after another (lines of JSON), or within one value. An item waits until it is complete, which its readers wait for too;
 * then it is held only while its texts end with the prefix of a key.
 */
export class MaskedValues {
  readonly #texts: MaskedTexts;
  readonly #glance: Glance;
  /** How deep items are: 1 in a list, 0 for values one after another; undefined before the first byte of a value. */
  #base: 0 | 1 | undefined;
  #isOther = false;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The beginning of an item that has not ended. */
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(keys: readonly string[], look: BeginningLook) {
    this.#texts = new MaskedTexts(keys, VALUES);
    this.#glance = new Glance(look, this.#texts, (bytes) => [bytes]);
  }

  push(bytes: Buffer): Buffer {
    if (this.#isOther) return bytes;
    const out: Buffer[] = [];
    let from = 0;
    if (this.#base === undefined) from = this.#begin(bytes);
    if (this.#base === undefined) return bytes;
    if (from > 0) out.push(bytes.subarray(0, from));
    for (let end = this.#itemEnd(bytes, from); end > 0; end = this.#itemEnd(bytes, from)) {
      this.#take(bytes.subarray(from, end), out);
      from = end;
    }
    if (from < bytes.length) this.#rest.push(Buffer.from(bytes.subarray(from)));
    this.#restBytes += bytes.length - from;
    // Bytes between items wait only for items before them.
    if (this.#depth <= this.#base && !this.#isInString) this.#take(NOTHING, out);
    else if (this.#restBytes > HELD_BYTES_MAX) {
      addPieces(out, this.#texts.release());
      out.push(this.#taken(NOTHING));
    }
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
  }

  end(): Buffer {
    const out: Buffer[] = [];
    this.#take(NOTHING, out);
    return Buffer.concat([...out, ...this.#texts.end()]);
  }

  /** Returns the bytes before the first item. */
  #begin(bytes: Buffer): number {
    const at = bytes.findIndex((byte) => !BLANKS.has(byte));
    const first = bytes[at];
    if (first === OPEN_LIST) this.#base = this.#depth = 1;
    else if (first === OPEN_OBJECT || first === QUOTE) this.#base = 0;
    else this.#isOther = at >= 0;
    return this.#base === 1 ? at + 1 : Math.max(0, at);
  }

  #taken(bytes: Buffer): Buffer {
    const rest = this.#rest;
    this.#rest = [];
    this.#restBytes = 0;
    return rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]);
  }

  /** Passes the item that ends with these bytes, or holds it. */
  #take(bytes: Buffer, out: Buffer[]): void {
    const raw = this.#taken(bytes);
    if (raw.length === 0) return;
    if (this.#glance.passes(raw)) out.push(raw);
    else addPieces(out, this.#texts.take(raw));
  }

  /** The end of the item that ends first at or after `from`; 0 if none does. */
  #itemEnd(bytes: Buffer, from: number): number {
    const base = this.#base as number;
    let at = from;
    while (at < bytes.length) {
      if (this.#isInString) {
        at = this.#stringEnd(bytes, at);
        if (!this.#isInString && this.#depth === base) return at;
        continue;
      }
      const byte = bytes[at++];
      if (byte === QUOTE) this.#isInString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        this.#depth = Math.max(0, this.#depth - 1);
        if (this.#depth === base) return at;
      }
    }
    return 0;
  }

  /** After the closing quote, or the end of the bytes. */
  #stringEnd(bytes: Buffer, from: number): number {
    const start = this.#isEscaped ? from + 1 : from;
    const quote = closingQuote(bytes, start);
    this.#isInString = quote < 0;
    if (quote >= 0) this.#isEscaped = false;
    else if (start <= bytes.length) this.#isEscaped = endsWithEscape(bytes, start);
    return quote < 0 ? bytes.length : quote + 1;
  }
}

/** Whether the last byte of the string so far is a backslash that is not escaped. */
function endsWithEscape(bytes: Buffer, from: number): boolean {
  let at = bytes.length;
  while (at > from && bytes[at - 1] === BACKSLASH) at--;
  return (bytes.length - at) % 2 === 1;
}

const VALUES: EventForm = { textsOf: (raw) => jsonPlacedTexts(raw) };
