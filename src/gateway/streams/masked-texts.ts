import { ForgottenBeginnings } from "./forgotten-beginnings.ts";
import { type Beginning, beginningAtEnd, firstHeld, type Held, lastOf, passedPiece, type Piece, type ByteSpan } from "./key-beginnings.ts";
import { bytesOfText, isSaidOnce, type PlacedText } from "./placed-texts.ts";

/** A shorter beginning is shown if its events cannot wait for longer; it may be a word. Also what all keys of a provider begin with. */
const SHOWN_CHARACTERS_MAX = 7;
/** Events, and their bytes, that wait for the rest of a key; and bytes of one that has not ended. */
const HELD_EVENTS_MAX = 64;
export const HELD_BYTES_MAX = 256 * 1024;
/** Texts that ended with the beginning of a key. Of more of them, only the beginning is remembered, and not which text it was. */
const CHANNELS_MAX = 1024;
const ASTERISK = 0x2a;

/** A provider decides how many pieces there are, which may be more than a call can have arguments. */
export function addPieces(out: Buffer[], pieces: readonly Buffer[]): void {
  for (const piece of pieces) out.push(piece);
}

/** How events are framed: in a stream, in a list, or as the messages of a session. */
export interface EventForm {
  textsOf(raw: Buffer): readonly PlacedText[];
  /** Calls back with the parts of `raw` that hold the bytes of this span of a text. Without it they are the span itself. */
  partsOf?(raw: Buffer, span: ByteSpan): readonly ByteSpan[];
  /** The bytes in which texts have their positions. Without it they are `raw`. */
  bytesOf?(raw: Buffer): Buffer;
  /** Writes what must agree with the masked bytes. */
  seal?(shown: Buffer): void;
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
  /** The event that each channel waits for, if its beginning is long enough. */
  readonly #awaited = new Map<string, Held>();
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
    const held: Held = { raw, at: this.#events++, spans: [], waiters: 0, hasPassed: false };
    this.#held.push(held);
    this.#heldBytes += raw.length;
    this.#read(raw, held);
    if (this.#held.length > HELD_EVENTS_MAX || this.#heldBytes > HELD_BYTES_MAX) return this.release();
    const first = this.#held.findIndex(({ waiters }) => waiters > 0);
    return this.#passed(first < 0 ? this.#held.length : first);
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
    this.#forget(channel);
    if (after.length > 0) this.#channels.set(channel, after);
    const awaited = firstHeld(after);
    if (awaited !== undefined) {
      awaited.waiters++;
      this.#awaited.set(channel, awaited);
    }
    if (this.#channels.size > CHANNELS_MAX) this.#forgetOldest();
  }

  #forget(channel: string): void {
    const awaited = this.#awaited.get(channel);
    if (awaited !== undefined) awaited.waiters--;
    this.#awaited.delete(channel);
    this.#channels.delete(channel);
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
      this.#forget(channel);
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
    this.#awaited.clear();
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
    this.#awaited.clear();
    return this.#passed(this.#held.length);
  }

  #isMostOfAKey(said: string): boolean {
    return this.#keys.some((key) => key.startsWith(said) && said.length * 2 > key.length);
  }

  #passed(count: number): readonly Buffer[] {
    const passed = this.#held.splice(0, count);
    for (const one of passed) {
      this.#heldBytes -= one.raw.length;
      one.hasPassed = true;
    }
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
