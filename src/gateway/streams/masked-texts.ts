import { ForgottenBeginnings } from "./forgotten-beginnings.ts";
import { bytesOfText, isSaidOnce, type PlacedText } from "./placed-texts.ts";

/** Beginnings of keys with fewer characters pass at once, because they reveal nothing of a key. */
const HELD_CHARACTERS_MIN = 3;
/** A shorter beginning is shown if its events cannot wait for longer; it may be a word. Also what all keys of a provider begin with. */
const SHOWN_CHARACTERS_MAX = 7;
/** Events, and their bytes, that wait for the rest of a key; and bytes of one that has not ended. */
const HELD_EVENTS_MAX = 64;
export const HELD_BYTES_MAX = 256 * 1024;
/** Texts that ended with the beginning of a key. Of more of them, only the beginning is remembered, and not which text it was. */
const CHANNELS_MAX = 1024;
const ASTERISK = 0x2a;

type Span = readonly [from: number, to: number];

/** How events are framed: in a stream, in a list, or as the messages of a session. */
export interface EventForm {
  textsOf(raw: Buffer): readonly PlacedText[];
  /** Calls back with the parts of `raw` that hold the bytes of this span of a text. Without it they are the span itself. */
  partsOf?(raw: Buffer, span: Span): readonly Span[];
  /** The bytes in which texts have their positions. Without it they are `raw`. */
  bytesOf?(raw: Buffer): Buffer;
  /** Writes what must agree with the masked bytes. */
  seal?(shown: Buffer): void;
}

interface Held {
  readonly raw: Buffer;
  /** Its number among all events. */
  readonly at: number;
  /** The bytes to mask in it. */
  readonly spans: Span[];
}

/** Some characters of a text of an event. */
interface Piece {
  /** Undefined once the event has been passed. */
  readonly held: Held | undefined;
  /** Undefined if only the number of characters matters. */
  readonly text: PlacedText | undefined;
  readonly from: number;
  readonly to: number;
}

/** The prefix of a key at the end of a channel's text. */
interface Beginning {
  readonly said: string;
  readonly pieces: readonly Piece[];
}

/**
 * Masks keys that texts contain in chunks over several events, in place. Events are held only while their texts end with the
 * prefix of a key. What a channel has said of a key is remembered until it says something else, however long that takes.
 */
export class MaskedTexts {
  readonly #keys: readonly string[];
  readonly #form: EventForm;
  /** Several beginnings if it is not known which of them is the right one. Those that said something last are at the end. */
  readonly #channels = new Map<string, readonly Beginning[]>();
  readonly #forgotten: ForgottenBeginnings;
  #held: Held[] = [];
  #heldBytes = 0;
  #events = 0;

  constructor(keys: readonly string[], form: EventForm) {
    this.#keys = keys;
    this.#form = form;
    this.#forgotten = new ForgottenBeginnings(keys);
  }

  /** Whether no event waits and no text has ended with the beginning of a key. */
  get isIdle(): boolean {
    return this.#held.length === 0 && this.#channels.size === 0 && this.#forgotten.size === 0;
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Returns the events that may pass. */
  take(raw: Buffer): readonly Buffer[] {
    const held: Held = { raw, at: this.#events++, spans: [] };
    this.#held.push(held);
    this.#heldBytes += raw.length;
    this.#read(raw, held);
    if (this.#held.length > HELD_EVENTS_MAX || this.#heldBytes > HELD_BYTES_MAX) return this.release();
    let first = this.#events;
    for (const { said, pieces } of this.#beginnings())
      if (said.length >= HELD_CHARACTERS_MIN) first = Math.min(first, pieces.find((piece) => piece.held !== undefined)?.held?.at ?? first);
    return this.#passed(this.#held.length - (this.#events - first));
  }

  /** Takes an event that has been passed already: only its texts matter. */
  sent(raw: Buffer): void {
    this.#read(raw, undefined);
  }

  #read(raw: Buffer, held: Held | undefined): void {
    for (const text of this.#form.textsOf(raw)) {
      // Most texts are of no concern, and their channels need not be known.
      if (this.#channels.size === 0 && this.#forgotten.size === 0 && this.#isOther(text.text)) continue;
      if (text.text === "") continue;
      for (const channel of text.channels()) this.#said(channel, text.text, { held, text, from: 0, to: text.text.length });
    }
    this.#forgotten.endEvent();
  }

  *#beginnings(): Generator<Beginning> {
    for (const beginnings of this.#channels.values()) yield* beginnings;
  }

  /** Whether the text neither contains a key nor ends with the beginning of one. */
  #isOther(text: string): boolean {
    return beginningAtEnd(text, this.#keys) === 0 && !this.#keys.some((key) => text.includes(key));
  }

  #said(channel: string, text: string, piece: Piece): void {
    const before = this.#channels.get(channel) ?? this.#possible(text, isSaidOnce(channel));
    const after: Beginning[] = [];
    for (const { said: first, pieces: firstPieces } of before) {
      const said = first + text;
      const pieces = [...firstPieces, piece];
      for (const key of this.#keys)
        for (let at = said.indexOf(key); at >= 0; at = said.indexOf(key, at + 1)) this.#hide(pieces, at, at + key.length);
      const length = beginningAtEnd(said, this.#keys);
      const end = said.slice(said.length - length);
      if (length > 0 && !after.some((one) => one.said === end)) after.push({ said: end, pieces: lastOf(pieces, length) });
    }
    this.#channels.delete(channel);
    if (after.length > 0) this.#channels.set(channel, after);
    if (this.#channels.size > CHANNELS_MAX) this.#forgetOldest();
  }

  /** The beginnings that a channel may have said before this text though it is not remembered. */
  #possible(text: string, isOnce: boolean): readonly Beginning[] {
    if (this.#forgotten.size === 0) return NOTHING_SAID;
    return [...NOTHING_SAID, ...this.#forgotten.continuedBy(text, isOnce).map((said) => ({ said, pieces: [passedPiece(said)] }))];
  }

  #forgetOldest(): void {
    for (const [channel, beginnings] of this.#channels) {
      for (const one of beginnings) {
        this.#hideLong(one);
        this.#forgotten.add(one.said);
      }
      this.#channels.delete(channel);
      return;
    }
  }

  #hideLong({ said, pieces }: Beginning): void {
    if (said.length > SHOWN_CHARACTERS_MAX || this.#isMostOfAKey(said)) this.#hide(pieces, 0, said.length);
  }

  /** Passes what waits, because it cannot wait for longer. Only a short beginning of a key is shown. */
  release(): readonly Buffer[] {
    for (const one of this.#beginnings()) this.#hideLong(one);
    const passed = this.#passed(this.#held.length);
    // The events are gone, so that only the number of characters matters.
    for (const [channel, beginnings] of this.#channels)
      this.#channels.set(
        channel,
        beginnings.map(({ said }) => ({ said, pieces: [passedPiece(said)] })),
      );
    return passed;
  }

  /** Passes what waits at the end of all texts. Half a key is as good as a key. */
  end(): readonly Buffer[] {
    for (const { said, pieces } of this.#beginnings()) if (this.#isMostOfAKey(said)) this.#hide(pieces, 0, said.length);
    this.#channels.clear();
    return this.#passed(this.#held.length);
  }

  #isMostOfAKey(said: string): boolean {
    return this.#keys.some((key) => key.startsWith(said) && said.length * 2 > key.length);
  }

  #passed(count: number): readonly Buffer[] {
    const passed = this.#held.splice(0, count);
    for (const { raw } of passed) this.#heldBytes -= raw.length;
    return passed.map((held) => this.#shown(held));
  }

  /** Marks these characters in the joined text of the chunks. */
  #hide(pieces: readonly Piece[], from: number, to: number): void {
    let start = 0;
    for (const { held, text, from: first, to: last } of pieces) {
      const [begin, end] = [Math.max(from - start, 0) + first, Math.min(to - start + first, last)];
      start += last - first;
      if (begin < end && held !== undefined && text !== undefined)
        held.spans.push(bytesOfText(this.#form.bytesOf?.(held.raw) ?? held.raw, text, begin, end));
    }
  }

  /** The event as it came, or with asterisks. */
  #shown({ raw, spans }: Held): Buffer {
    if (spans.length === 0) return raw;
    const shown = Buffer.from(raw);
    for (const span of spans) for (const [from, to] of this.#form.partsOf?.(raw, span) ?? [span]) shown.fill(ASTERISK, from, to);
    this.#form.seal?.(shown);
    return shown;
  }
}

const NOTHING_SAID: readonly Beginning[] = [{ said: "", pieces: [] }];

const passedPiece = (said: string): Piece => ({ held: undefined, text: undefined, from: 0, to: said.length });

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
  const last = text.charCodeAt(text.length - 1);
  for (const key of keys)
    for (let length = Math.min(text.length, key.length - 1); length > longest; length--)
      if (key.charCodeAt(length - 1) === last && text.endsWith(key.slice(0, length))) longest = length;
  return longest;
}
