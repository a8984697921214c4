/** Text that a stream says piece by piece, with where each of its bytes stands in the stream. */
export interface JoinedText {
  readonly bytes: Buffer;
  /** For each piece: where it begins in `bytes`, and where in the stream. */
  readonly pieces: readonly Piece[];
}

interface Piece {
  readonly at: number;
  readonly place: number;
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
  readonly joined: readonly JoinedText[];
  /**
   * Everything that is said in the stream, and little of it twice: of an event that differs from the one before by its piece
   * of text alone only that piece, in its quotes.
   */
  readonly distinct: Buffer;
}

export function textsOfStream(stream: Buffer): StreamTexts {
  const channels = new Channels();
  const text = stream.toString("latin1");
  const distinct: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    if (text.startsWith("data:", at)) {
      const piece = channels.line(text.slice(at, end), at);
      if (piece !== undefined) {
        // An empty line stands between two events.
        if (at - from > 1) distinct.push(text.slice(from, at));
        distinct.push('"', piece, '"\n');
        from = end + 1;
      }
    }
    at = end + 1;
  }
  distinct.push(text.slice(from));
  return { joined: channels.joined(), distinct: Buffer.from(distinct.join(""), "latin1") };
}

/** What all events but for their piece of text have in common, which saves reading each. */
interface Frame {
  readonly before: string;
  readonly after: string;
  readonly channel: Channel;
}

interface Channel {
  readonly texts: string[];
  readonly pieces: Piece[];
  length: number;
}

class Channels {
  readonly #channels = new Map<string, Channel>();
  #frame: Frame | undefined;

  /** `at`: where the line begins in the stream. Gives the piece of a line that is otherwise like one before. */
  line(line: string, at: number): string | undefined {
    const frame = this.#frame;
    if (frame !== undefined && line.length >= frame.before.length + frame.after.length) {
      const [from, to] = [frame.before.length, line.length - frame.after.length];
      // Whole pieces are compared many characters at a time, other than by startsWith.
      if (line.slice(0, from) === frame.before && line.slice(to) === frame.after) {
        const piece = line.slice(from, to);
        if (!piece.includes('"')) {
          add(frame.channel, piece, at + from);
          return piece;
        }
      }
    }
    this.#read(line, at);
    return undefined;
  }

  joined(): readonly JoinedText[] {
    return [...this.#channels.values()]
      .filter(({ pieces }) => pieces.length > 1)
      .map(({ texts, pieces }) => ({ bytes: Buffer.from(texts.join(""), "latin1"), pieces }));
  }

  #read(line: string, at: number): void {
    let index = "";
    let found = 0;
    for (const match of line.matchAll(PIECES)) {
      const [whole, number, name = "", piece = ""] = match;
      if (number !== undefined) index += `.${number}`;
      else {
        const channel = this.#channelOf(name + index);
        if (channel === undefined) continue;
        const place = match.index + whole.length - 1 - piece.length;
        add(channel, piece, at + place);
        this.#frame = found++ > 0 ? undefined : { before: line.slice(0, place), after: line.slice(place + piece.length), channel };
      }
    }
  }

  #channelOf(key: string): Channel | undefined {
    let channel = this.#channels.get(key);
    if (channel === undefined && this.#channels.size < CHANNELS_MAX)
      this.#channels.set(key, (channel = { texts: [], pieces: [], length: 0 }));
    return channel;
  }
}

function add(channel: Channel, text: string, place: number): void {
  if (text === "") return;
  channel.texts.push(text);
  channel.pieces.push({ at: channel.length, place });
  channel.length += text.length;
}

/** Tells the spans of the stream that a span of the joined text covers. */
export function spansInStream({ bytes, pieces }: JoinedText, from: number, to: number, onSpan: (from: number, to: number) => void): void {
  let [low, high] = [0, pieces.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((pieces[middle]?.at ?? 0) <= from) low = middle;
    else high = middle;
  }
  for (let i = low; i < pieces.length; i++) {
    const { at, place } = pieces[i] as Piece;
    if (at >= to) return;
    const end = Math.min(to, pieces[i + 1]?.at ?? bytes.length);
    const start = Math.max(from, at);
    if (end > start) onSpan(place + start - at, place + end - at);
  }
}
