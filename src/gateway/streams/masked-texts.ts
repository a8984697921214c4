import type { FoundText } from "./text-extraction.ts";

/** A text of one event. Prefixes of keys with fewer characters pass at once, because they reveal nothing of a key. */
const HELD_CHARACTERS_MIN = 3;
/** Events, and their bytes, that wait for the rest of a key; and bytes of one that has not ended. */
const HELD_EVENTS_MAX = 64;
export const HELD_BYTES_MAX = 256 * 1024;

/** How events are written: those of a stream, or the messages of a session. */
export interface EventForm {
  textsOf(raw: Buffer): readonly FoundText[];
  /** The event with these texts, as many and in the order of `textsOf`. */
  withTexts(raw: Buffer, texts: readonly string[]): Buffer;
}

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

/**
 * Masks keys that texts contain in chunks over several events. Events are held only while their texts end with the prefix
 * of a key.
 */
export class MaskedTexts {
  readonly #keys: readonly string[];
  readonly #form: EventForm;
  readonly #channels = new Map<string, Beginning>();
  #held: Held[] = [];
  #events = 0;

  constructor(keys: readonly string[], form: EventForm) {
    this.#keys = keys;
    this.#form = form;
  }

  /** Whether no event waits and no text has ended with the beginning of a key. */
  get isIdle(): boolean {
    return this.#held.length === 0 && this.#channels.size === 0;
  }

  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** Returns the events that may pass. */
  take(raw: Buffer): readonly Buffer[] {
    const found = this.#form.textsOf(raw);
    const held: Held = { raw, texts: found.map(({ text }) => text), isMasked: false };
    for (const [i, { channel, text }] of found.entries()) this.#said(channel, text, { held, text: i, from: 0, to: text.length });
    this.#held.push(held);
    this.#events++;
    for (const [channel, { at }] of this.#channels) if (this.#events - at > HELD_EVENTS_MAX) this.#channels.delete(channel);
    if (this.#held.length > HELD_EVENTS_MAX || bytesOf(this.#held) > HELD_BYTES_MAX) return this.release();
    const needed = new Set(
      Array.from(this.#channels.values()).flatMap(({ said, pieces }) =>
        said.length < HELD_CHARACTERS_MIN ? [] : pieces.map((piece) => piece.held),
      ),
    );
    const first = this.#held.findIndex((one) => needed.has(one));
    return this.#held.splice(0, first < 0 ? this.#held.length : first).map((held) => this.#shown(held));
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
  release(): readonly Buffer[] {
    for (const { said, pieces } of this.#channels.values())
      if (this.#keys.some((key) => key.startsWith(said) && said.length * 2 > key.length)) hide(pieces, 0, said.length);
    this.#channels.clear();
    return this.#held.splice(0).map((held) => this.#shown(held));
  }

  /** The event as it came, or with its texts as they are now. */
  #shown({ raw, texts, isMasked }: Held): Buffer {
    return isMasked ? this.#form.withTexts(raw, texts) : raw;
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
