import type { MaskedTexts } from "./masked-texts.ts";

/** Length of a key's prefix that the fast check can find. */
const LOOKED_CHARACTERS = 32;
/** Events, passed without being read, with a text that ends with the first character of a key. */
const PASSED_MAX = 64;
const TEXT_ENDS = ['"', "\n", "\r"] as const;
const COLON = 0x3a;
const HAS_LONG_CHARACTERS = /[\u0080-\u00ff]/;

/** A fast check of events, which have one character per byte. */
export interface BeginningLook {
  /** The most characters of a key's beginning with which a text of the events may end. */
  lengthIn(events: string): number;
  /** Whether a text may begin with the second character of a key. */
  mayContinue(events: string): boolean;
}

export function createBeginningLook(keys: readonly string[]): BeginningLook {
  const beginnings = keys.map((key) => key.slice(0, LOOKED_CHARACTERS));
  const isIn = new Uint8Array(256);
  for (const beginning of beginnings) for (let i = 0; i < beginning.length; i++) isIn[beginning.charCodeAt(i) & 0xff] = 1;
  // Other characters may be escaped in JSON, or have several bytes.
  const mayBeEscaped = keys.some((key) => /[^A-Za-z0-9_.~-]/.test(key));
  // Any character can be written as an escape.
  const isEscaped = (events: string): boolean =>
    events.includes("\\u00") || (mayBeEscaped && (events.includes("\\") || HAS_LONG_CHARACTERS.test(events)));
  const seconds = beginnings.flatMap((one) => [`"${one[1]}`, `:${one[1]}`, `: ${one[1]}`]);
  return {
    lengthIn: (events) => {
      if (isEscaped(events) || beginnings.some((one) => events.includes(one))) return LOOKED_CHARACTERS;
      let longest = 0;
      for (const mark of TEXT_ENDS)
        for (let at = events.indexOf(mark); at >= 0; at = events.indexOf(mark, at + 1))
          // A string before a colon is the name of a member.
          if (at > 0 && events.charCodeAt(at + 1) !== COLON && isIn[events.charCodeAt(at - 1)] === 1)
            for (const beginning of beginnings) longest = Math.max(longest, beginningBefore(events, at, beginning));
      return longest;
    },
    mayContinue: (events) => isEscaped(events) || seconds.some((second) => events.includes(second)),
  };
}

/** The most characters of `beginning` that are before `end`. */
function beginningBefore(text: string, end: number, beginning: string): number {
  for (let length = Math.min(beginning.length, end); length > 0; length--)
    if (text.charCodeAt(end - 1) === beginning.charCodeAt(length - 1) && text.startsWith(beginning.slice(0, length), end - length))
      return length;
  return 0;
}

/** Lets events pass that need not be read. Many words end with the first character of a key, and few go on with its second one. */
export class Glance {
  readonly #look: BeginningLook;
  readonly #texts: MaskedTexts;
  readonly #eventsOf: (bytes: Buffer) => Iterable<Buffer>;
  readonly #passed: Buffer[] = [];

  constructor(look: BeginningLook, texts: MaskedTexts, eventsOf: (bytes: Buffer) => Iterable<Buffer>) {
    this.#look = look;
    this.#texts = texts;
    this.#eventsOf = eventsOf;
  }

  /** Whether these events, which are whole, may pass unread. If not, the mask knows what those before them said. */
  passes(bytes: Buffer): boolean {
    const isPassing = this.#texts.isIdle && this.#isHarmless(bytes);
    if (!isPassing || this.#passed.length > PASSED_MAX)
      for (const before of this.#passed.splice(0)) for (const raw of this.#eventsOf(before)) this.#texts.sent(raw);
    return isPassing;
  }

  #isHarmless(bytes: Buffer): boolean {
    const events = bytes.toString("latin1");
    const length = this.#look.lengthIn(events);
    if (length > 1 || ((length === 1 || this.#passed.length > 0) && this.#look.mayContinue(events))) return false;
    // The bytes may be part of a chunk that others use again.
    if (length === 1) this.#passed.push(Buffer.from(bytes));
    return true;
  }
}
