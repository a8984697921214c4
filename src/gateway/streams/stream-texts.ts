import type { Work } from "#kernel/process/slices.ts";

/** A text that a stream sends in chunks, with the position of each byte in the stream. */
export interface JoinedText {
  readonly bytes: Buffer;
  /** For each chunk: its start in `bytes`, and its start in the stream. */
  readonly ats: readonly number[];
  readonly places: readonly number[];
  /** Lengths of chunks in the stream, for chunks that are encoded there; a span in such a chunk covers the whole chunk. */
  readonly lengths?: readonly number[];
}

/** Each channel has its own text; further channels share one. */
const CHANNELS_MAX = 256;
/** Members of events that hold a model's text, in any dialect. */
const NAMES =
  "content|text|partial_json|arguments|delta|thinking|reasoning_content|reasoning|refusal|input|transcript|completion|generation|outputText|output_text|response|token|output";
/**
 * The number of the choice or call that follows; the start of a text in JSON, or of base64, which Amazon's streams use
 * for other dialects; or, if lines end in CR alone, the start of another event.
 */
// linear: pumped
const MARKS = new RegExp(String.raw`"(?:\w{1,10}_)?index":[ \t]*(\d{1,6})|"(${NAMES}|bytes)":[ \t]*"|(\rdata:)`, "g");
const ENCODED = "bytes";

export interface StreamTexts {
  /**
   * Texts of one name and one choice are joined over all events, because a secret may be split over several of them.
   * The texts keep their JSON escapes, so that positions match. Only texts of several chunks are returned.
   */
  joined(): readonly JoinedText[];
  /**
   * All texts of the stream, mostly once: for an event that differs from an earlier one only in its text, only the text
   * in quotes. The joined texts follow, a line each. Valid until the next call.
   */
  readonly said: Buffer;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACKET = 0x5b;
/** `data:`: its first four bytes as a number. */
const DATA = 0x61746164;
const COLON = 0x3a;
/** Bytes that one step reads, and their measured cost. */
const STEP_BYTES = 64 * 1024;
const TEXT_UNITS = 1 / 40;
/** Large enough for most streams. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

export interface StreamForm {
  /** Start of the stream; the bytes before it are taken unchanged. */
  readonly from: number;
  /**
   * Whether the stream has only events (`data:`); otherwise it is JSON in any framing, such as lines, an array or the
   * messages of Amazon's streams.
   */
  readonly isEvents: boolean;
}

const ONLY_EVENTS: StreamForm = { from: 0, isEvents: true };

/** Of a long stream in steps of some lines each. */
export function* readingTexts(stream: Buffer, { from: streamFrom, isEvents }: StreamForm = ONLY_EVENTS): Work<StreamTexts> {
  const bytesMax = stream.length * 2 + CHANNELS_MAX;
  const said = bytesMax <= scratch.length ? scratch : Buffer.allocUnsafe(bytesMax);
  let nextYield = scratch.length;
  const channels = new Channels(stream, isEvents);
  let length = 0;
  let from = 0;
  for (let at = 0; at < stream.length;) {
    if (at >= nextYield) {
      yield (at - nextYield + STEP_BYTES) * TEXT_UNITS;
      nextYield = at + STEP_BYTES;
    }
    if (stream[at] === LF) {
      at++;
      continue;
    }
    const end = channels.repeated(at);
    if (end > 0) {
      // An empty line separates two events.
      if (at - from > 1) length += copy(stream, from, at, said, length);
      // The output is not longer than the event.
      said[length++] = QUOTE;
      length += copy(stream, channels.pieceStart, channels.pieceEnd, said, length);
      said[length++] = QUOTE;
      said[length++] = LF;
      at = from = end;
      continue;
    }
    const newline = stream.indexOf(LF, at);
    const lineEnd = newline < 0 ? stream.length : newline;
    if (at >= streamFrom) channels.read(at, lineEnd);
    at = lineEnd + 1;
  }
  length += copy(stream, from, stream.length, said, length);
  length += channels.writeJoined(said, length);
  return { joined: () => channels.joined(), said: said.subarray(0, length) };
}

/** For short chunks a call of the native copy costs more than a loop. */
const COPIED_BYTES_MAX = 32;

function copy(source: Buffer, from: number, to: number, into: Buffer, at: number): number {
  if (to - from > COPIED_BYTES_MAX) return source.copy(into, at, from, to);
  for (let i = from; i < to; i++) into[at + i - from] = source[i] as number;
  return to - from;
}

/**
 * The common part of events that differ only in their text, as positions of the first of them; events that repeat it are
 * not parsed.
 */
interface Frame {
  readonly start: number;
  readonly pieceStart: number;
  readonly pieceEnd: number;
  /** After the line end. */
  readonly end: number;
  readonly channel: Channel;
}

interface Channel {
  /** Index of its first and its last chunk. */
  first: number;
  last: number;
  count: number;
  length: number;
}

/** Of each chunk: its position, its length, and the index of the next chunk of its channel. */
const PIECE_NUMBERS = 3;
/** Large enough for most streams. */
const fewPieces = new Int32Array(PIECE_NUMBERS * 2048);

class Channels {
  /** Text of the last repeated line. */
  pieceStart = 0;
  pieceEnd = 0;
  readonly #stream: Buffer;
  readonly #words: DataView;
  readonly #channels = new Map<string, Channel>();
  #frame: Frame | undefined;
  #pieces = fewPieces;
  #used = 0;
  readonly #isEvents: boolean;
  /** Texts that were base64: the decoded text, and the position of the encoded one. */
  readonly #encoded: { readonly text: string; readonly place: number; readonly length: number }[] = [];

  constructor(stream: Buffer, isEvents: boolean) {
    this.#stream = stream;
    this.#isEvents = isEvents;
    // Streams that fit into it are read in one step.
    if (stream.length > scratch.length) this.#pieces = new Int32Array(fewPieces.length);
    this.#words = new DataView(stream.buffer, stream.byteOffset, stream.length);
  }

  /** The end, with its newline, of the line at `at` if the line differs from an earlier one only in its text; otherwise 0. */
  repeated(at: number): number {
    const frame = this.#frame;
    const stream = this.#stream;
    if (frame === undefined) return 0;
    const start = at + frame.pieceStart - frame.start;
    if (start >= stream.length || !this.#isSame(frame.start, at, start - at)) return 0;
    let end = start;
    while (end < stream.length && stream[end] !== QUOTE && stream[end] !== LF) end++;
    const rest = frame.end - frame.pieceEnd;
    if (end + rest > stream.length || !this.#isSame(frame.pieceEnd, end, rest)) return 0;
    this.pieceStart = start;
    this.pieceEnd = end;
    this.#add(frame.channel, end - start, start);
    return end + rest;
  }

  /** Reads the line that starts at `at`. */
  read(at: number, end: number): void {
    const isEvent = end - at >= 5 && this.#words.getInt32(at, true) === DATA && this.#stream[at + 4] === COLON;
    if (isEvent) {
      const start = this.#stream[at + 5] === SPACE ? at + 6 : at + 5;
      const first = this.#stream[start];
      // Some providers send only the text.
      if (first !== BRACE && first !== BRACKET && first !== QUOTE)
        return void this.#addTo("", start, this.#stream[end - 1] === CR ? end - 1 : end);
    } else if (this.#isEvents) return;
    const line = this.#stream.toString("latin1", at, end);
    let found = 0;
    readPieces(line, (key, from, to) => {
      if (key === ENCODED) return this.#decode(line.slice(from, to), at + from);
      const channel = this.#addTo(key, at + from, at + to);
      const isOnly = found++ === 0 && end < this.#stream.length && to < line.length;
      this.#frame = isOnly ? { start: at, pieceStart: at + from, pieceEnd: at + to, end: end + 1, channel } : undefined;
    });
  }

  joined(): readonly JoinedText[] {
    const plain = this.#several().map((channel) => {
      const [ats, places]: [number[], number[]] = [[], []];
      const bytes = Buffer.allocUnsafe(channel.length);
      this.#join(channel, bytes, 0, (at, place) => {
        ats.push(at);
        places.push(place);
      });
      return { bytes, ats, places };
    });
    return this.#encoded.length === 0 ? plain : [...plain, this.#decoded()];
  }

  #decode(piece: string, place: number): void {
    const inner = Buffer.from(piece, "base64").toString("latin1");
    let text = "";
    readPieces(inner, (_key, from, to) => void (text += inner.slice(from, to)));
    this.#encoded.push({ text, place, length: piece.length });
  }

  #decoded(): JoinedText {
    const ats: number[] = [];
    let at = 0;
    for (const { text } of this.#encoded) {
      ats.push(at);
      at += text.length;
    }
    const bytes = Buffer.from(this.#encoded.map(({ text }) => text).join(""), "latin1");
    return { bytes, ats, places: this.#encoded.map(({ place }) => place), lengths: this.#encoded.map(({ length }) => length) };
  }

  /** Writes each text after a line end; returns the number of bytes. */
  writeJoined(into: Buffer, start: number): number {
    let at = start;
    for (const channel of this.#several()) {
      into[at++] = LF;
      this.#join(channel, into, at);
      at += channel.length;
    }
    if (this.#encoded.length > 0) {
      into[at++] = LF;
      at += this.#decoded().bytes.copy(into, at);
    }
    return at - start;
  }

  #several(): readonly Channel[] {
    return Array.from(this.#channels.values()).filter(({ count }) => count > 1);
  }

  #join({ first, count }: Channel, into: Buffer, start: number, onChunk?: (at: number, place: number) => void): void {
    const pieces = this.#pieces;
    let at = 0;
    for (let i = 0, piece = first; i < count; i++, piece = pieces[piece + 2] as number) {
      const [place, length] = [pieces[piece] as number, pieces[piece + 1] as number];
      onChunk?.(at, place);
      at += copy(this.#stream, place, place + length, into, start + at);
    }
  }

  #add(channel: Channel, length: number, place: number): void {
    if (length === 0) return;
    const piece = this.#used;
    this.#used += PIECE_NUMBERS;
    if (this.#used > this.#pieces.length) {
      const roomier = new Int32Array(this.#pieces.length * 2);
      roomier.set(this.#pieces);
      this.#pieces = roomier;
    }
    const pieces = this.#pieces;
    pieces[piece] = place;
    pieces[piece + 1] = length;
    if (channel.count++ === 0) channel.first = piece;
    else pieces[channel.last + 2] = piece;
    channel.last = piece;
    channel.length += length;
  }

  /**
   * Whether the bytes at both positions are equal; compares eight at a time, as numbers (0 and -0 are equal but have
   * different bytes).
   */
  #isSame(one: number, other: number, length: number): boolean {
    const words = this.#words;
    let i = 0;
    for (; i + 8 <= length; i += 8) if (words.getFloat64(one + i, true) !== words.getFloat64(other + i, true)) return false;
    for (; i < length; i++) if (this.#stream[one + i] !== this.#stream[other + i]) return false;
    return true;
  }

  #addTo(key: string, from: number, to: number): Channel {
    const channel = this.#channelOf(key);
    this.#add(channel, to - from, from);
    return channel;
  }

  #channelOf(wanted: string): Channel {
    const key = this.#channels.size < CHANNELS_MAX || this.#channels.has(wanted) ? wanted : "";
    let channel = this.#channels.get(key);
    if (channel === undefined) this.#channels.set(key, (channel = { first: 0, last: 0, count: 0, length: 0 }));
    return channel;
  }
}

/** Calls back for each chunk of text in a line, with its channel and position. An unclosed chunk extends to the line's end. */
function readPieces(line: string, onChunk: (key: string, from: number, to: number) => void): void {
  let index = "";
  MARKS.lastIndex = 0;
  // The callback may call this function, so the position is set again after it.
  for (let match = MARKS.exec(line); match !== null; match = MARKS.exec(line)) {
    const [, number, name, other] = match;
    if (number !== undefined) index += `.${number}`;
    else if (other !== undefined) index = "";
    else {
      const from = MARKS.lastIndex;
      let to = from;
      for (let code = line.charCodeAt(to); to < line.length && code !== QUOTE; code = line.charCodeAt(to)) to += code === BACKSLASH ? 2 : 1;
      to = Math.min(to, line.length);
      onChunk(name === ENCODED ? ENCODED : `${name}${index}`, from, to);
      MARKS.lastIndex = to;
    }
  }
}

/** Calls back with the spans of the stream that a span of the joined text covers. */
export function spansInStream(
  { bytes, ats, places, lengths }: JoinedText,
  from: number,
  to: number,
  onSpan: (from: number, to: number) => void,
): void {
  let [low, high] = [0, ats.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((ats[middle] ?? 0) <= from) low = middle;
    else high = middle;
  }
  for (let i = low; i < ats.length; i++) {
    const [at, place] = [ats[i] as number, places[i] as number];
    if (at >= to) return;
    const end = Math.min(to, ats[i + 1] ?? bytes.length);
    const start = Math.max(from, at);
    if (end <= start) continue;
    if (lengths === undefined) onSpan(place + start - at, place + end - at);
    else onSpan(place, place + (lengths[i] as number));
  }
}
