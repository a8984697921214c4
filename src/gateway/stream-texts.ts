/** Text that a stream says piece by piece, with where each of its bytes stands in the stream. */
export interface JoinedText {
  readonly bytes: Buffer;
  /** For each piece: where it begins in `bytes`, and where in the stream. */
  readonly ats: readonly number[];
  readonly places: readonly number[];
}

/** A longer piece is no token of a model's. */
const PIECE_CHARACTERS_MAX = 4096;
const CHANNELS_MAX = 256;
/** Under which members of an event models say something, in any dialect. */
const NAMES = "content|text|partial_json|arguments|delta|thinking|reasoning_content|reasoning|refusal";
/** The number of the choice or the call that follows, or a piece of text as it is written in JSON. */
const PIECES = new RegExp(
  String.raw`"(?:\w{1,10}_)?index":\s*(\d{1,6})|"(${NAMES})":\s*"((?:[^"\\]|\\.){1,${PIECE_CHARACTERS_MAX}})"`,
  "g",
);

export interface StreamTexts {
  /**
   * What is said under one name for one choice belongs together, however many events bring it: a secret may be spread over
   * several of them. The texts stay as they are written in JSON, so that places agree. Only those of several pieces are given.
   */
  joined(): readonly JoinedText[];
  /**
   * Everything that is said in the stream, and little of it twice: of an event that differs from one before by its piece
   * of text alone only that piece, in its quotes. Then the joined texts, a line each. Good until the next call.
   */
  readonly said: Buffer;
}

const LF = 0x0a;
const QUOTE = 0x22;
/** `data:`, the first four of it as a number. */
const DATA = 0x61746164;
const COLON = 0x3a;
/** What is left of most streams fits. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

export function textsOfStream(stream: Buffer): StreamTexts {
  const bytesMax = stream.length * 2 + CHANNELS_MAX;
  const said = bytesMax <= scratch.length ? scratch : Buffer.allocUnsafe(bytesMax);
  const channels = new Channels(stream);
  let length = 0;
  let from = 0;
  for (let at = 0; at < stream.length;) {
    if (stream[at] === LF) {
      at++;
      continue;
    }
    const end = channels.repeated(at);
    if (end > 0) {
      // An empty line stands between two events.
      if (at - from > 1) length += copy(stream, from, at, said, length);
      // No longer than the event was.
      said[length++] = QUOTE;
      length += copy(stream, channels.pieceStart, channels.pieceEnd, said, length);
      said[length++] = QUOTE;
      said[length++] = LF;
      at = from = end;
      continue;
    }
    const newline = stream.indexOf(LF, at);
    const lineEnd = newline < 0 ? stream.length : newline;
    channels.read(at, lineEnd);
    at = lineEnd + 1;
  }
  length += copy(stream, from, stream.length, said, length);
  length += channels.writeJoined(said, length);
  return { joined: () => channels.joined(), said: said.subarray(0, length) };
}

/** Short pieces cost more to hand over than to copy. */
const COPIED_BYTES_MAX = 32;

function copy(source: Buffer, from: number, to: number, into: Buffer, at: number): number {
  if (to - from > COPIED_BYTES_MAX) return source.copy(into, at, from, to);
  for (let i = from; i < to; i++) into[at + i - from] = source[i] as number;
  return to - from;
}

/** What all events but for their piece of text have in common, which saves reading each: where the first of them has it. */
interface Frame {
  readonly start: number;
  readonly pieceStart: number;
  readonly pieceEnd: number;
  /** Behind the end of its line. */
  readonly end: number;
  readonly channel: Channel;
}

interface Channel {
  /** Of its first piece and its last. */
  first: number;
  last: number;
  count: number;
  length: number;
}

/** Of each piece: where it stands, how long it is, and where the next one of its channel is told. */
const PIECE_NUMBERS = 3;
/** Those of most streams fit. */
const fewPieces = new Int32Array(PIECE_NUMBERS * 2048);

class Channels {
  /** Of the last line that was repeated. */
  pieceStart = 0;
  pieceEnd = 0;
  readonly #stream: Buffer;
  readonly #words: DataView;
  readonly #channels = new Map<string, Channel>();
  #frame: Frame | undefined;
  #pieces = fewPieces;
  #used = 0;

  constructor(stream: Buffer) {
    this.#stream = stream;
    this.#words = new DataView(stream.buffer, stream.byteOffset, stream.length);
  }

  /** Where the line at `at` ends, with its newline, that is like one before but for its piece of text; 0 of any other. */
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

  /** A line that begins at `at`. */
  read(at: number, end: number): void {
    if (end - at < 5 || this.#words.getInt32(at, true) !== DATA || this.#stream[at + 4] !== COLON) return;
    const line = this.#stream.toString("latin1", at, end);
    let index = "";
    let found = 0;
    PIECES.lastIndex = 0;
    for (let match = PIECES.exec(line); match !== null; match = PIECES.exec(line)) {
      const [whole, number, name = "", piece = ""] = match;
      if (number !== undefined) index += `.${number}`;
      else {
        const channel = this.#channelOf(name + index);
        if (channel === undefined) continue;
        const start = at + match.index + whole.length - 1 - piece.length;
        const pieceEnd = start + piece.length;
        this.#add(channel, piece.length, start);
        const isOnly = found++ === 0 && end < this.#stream.length;
        this.#frame = isOnly ? { start: at, pieceStart: start, pieceEnd, end: end + 1, channel } : undefined;
      }
    }
  }

  joined(): readonly JoinedText[] {
    return this.#several().map((channel) => {
      const [ats, places]: [number[], number[]] = [[], []];
      const bytes = Buffer.allocUnsafe(channel.length);
      this.#join(channel, bytes, 0, (at, place) => {
        ats.push(at);
        places.push(place);
      });
      return { bytes, ats, places };
    });
  }

  /** Each text behind the end of a line; gives how many bytes that are. */
  writeJoined(into: Buffer, start: number): number {
    let at = start;
    for (const channel of this.#several()) {
      into[at++] = LF;
      this.#join(channel, into, at);
      at += channel.length;
    }
    return at - start;
  }

  #several(): readonly Channel[] {
    return Array.from(this.#channels.values()).filter(({ count }) => count > 1);
  }

  #join({ first, count }: Channel, into: Buffer, start: number, onPiece?: (at: number, place: number) => void): void {
    const pieces = this.#pieces;
    let at = 0;
    for (let i = 0, piece = first; i < count; i++, piece = pieces[piece + 2] as number) {
      const [place, length] = [pieces[piece] as number, pieces[piece + 1] as number];
      onPiece?.(at, place);
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

  /** Whether as many bytes stand at both places; eight at a time, as numbers, of which only zeros are alike in several writings. */
  #isSame(one: number, other: number, length: number): boolean {
    const words = this.#words;
    let i = 0;
    for (; i + 8 <= length; i += 8) if (words.getFloat64(one + i, true) !== words.getFloat64(other + i, true)) return false;
    for (; i < length; i++) if (this.#stream[one + i] !== this.#stream[other + i]) return false;
    return true;
  }

  #channelOf(key: string): Channel | undefined {
    let channel = this.#channels.get(key);
    if (channel === undefined && this.#channels.size < CHANNELS_MAX)
      this.#channels.set(key, (channel = { first: 0, last: 0, count: 0, length: 0 }));
    return channel;
  }
}

/** Tells the spans of the stream that a span of the joined text covers. */
export function spansInStream(
  { bytes, ats, places }: JoinedText,
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
    if (end > start) onSpan(place + start - at, place + end - at);
  }
}
