/** Bytes of a string that are decoded at once. */
const PIECE_BYTES = 1024;
const BYTE_COST = 1 / 100;
const ESCAPE_COST = 1 / 8;
const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const LETTER_U = 0x75;
/** Bytes of `\u0041`, and of `\n`. */
const [UNICODE_ESCAPE_BYTES, ESCAPE_BYTES] = [6, 2];

/** Reads the strings of a JSON text in chunks, from its start to its end, in linear time. */
export class JsonStrings {
  /** After the last byte that was read; after the closing quote at the end of the string. */
  at = 0;
  isOver = true;
  /** Microseconds that the last chunk took. */
  cost = 0;
  readonly #bytes: Buffer;
  /** The next one of each kind at or after `at`. */
  #quote = -1;
  #backslash = -1;
  /** The first half of a surrogate pair, whose second half is in the next chunk. */
  #half = "";

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Starts with the string whose first byte after the quote is at `at`. */
  begin(at: number): void {
    this.at = at;
    this.isOver = false;
    this.#half = "";
  }

  /** The next chunk of the string; undefined if it is not a JSON string, or does not end. */
  next(): string | undefined {
    const bytes = this.#bytes;
    const from = this.at;
    const most = from + PIECE_BYTES;
    let to = from;
    let escapes = 0;
    while (to < most) {
      if (this.#quote < to) this.#quote = found(bytes.indexOf(QUOTE, to));
      if (this.#backslash < to) this.#backslash = found(bytes.indexOf(BACKSLASH, to));
      if (this.#quote < this.#backslash) {
        if (this.#quote <= most) {
          to = this.#quote;
          this.isOver = true;
        } else to = characterStart(bytes, most);
        break;
      }
      if (this.#backslash === Number.POSITIVE_INFINITY) return undefined;
      if (this.#backslash >= most) {
        to = characterStart(bytes, most);
        break;
      }
      escapes++;
      to = this.#backslash + (bytes[this.#backslash + 1] === LETTER_U ? UNICODE_ESCAPE_BYTES : ESCAPE_BYTES);
    }
    if (to > bytes.length) return undefined;
    this.cost = (to - from) * BYTE_COST + escapes * ESCAPE_COST;
    this.at = this.isOver ? to + 1 : to;
    const raw = bytes.toString("utf8", from, to);
    const text = escapes > 0 || HAS_CONTROLS.test(raw) ? unescaped(raw) : raw;
    return text === undefined ? undefined : this.#joined(text);
  }

  #joined(text: string): string {
    const whole = this.#half + text;
    this.#half = !this.isOver && HALF_AT_END.test(whole) ? whole.slice(-1) : "";
    return this.#half === "" ? whole : whole.slice(0, -1);
  }
}

const HALF_AT_END = /[\ud800-\udbff]$/;
// oxlint-disable-next-line no-control-regex -- RFC 8259 §7 forbids them
const HAS_CONTROLS = /[\u0000-\u001f]/;

const found = (index: number): number => (index < 0 ? Number.POSITIVE_INFINITY : index);

/** The start of the UTF-8 character at `at`. */
function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function unescaped(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}
