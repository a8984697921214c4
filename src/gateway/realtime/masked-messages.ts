import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { MessageTurns } from "#kernel/process/message-turns.ts";
import { addPieces, type EventForm, HELD_BYTES_MAX, MaskedTexts } from "#gateway/streams/masked-texts.ts";
import { jsonPlacedTexts, plainPlacedText } from "#gateway/streams/placed-texts.ts";

const [CONTINUATION, BINARY, CLOSE] = [0, 2, 8];
const FIN = 0x80;
const IS_MASKED = 0x80;
const NOTHING = Buffer.alloc(0);
/** Measured: the work for a frame and for a byte of it, in units of a byte that only passes. */
const [FRAME_COST, BYTE_COST] = [2_048, 8];
type Turns = Pick<MessageTurns, "isLeft" | "spend">;

/** One frame at the start of the bytes (RFC 6455 §5.2); undefined if its header is not complete. */
function frameAt(bytes: Buffer): { readonly first: number; readonly head: number; readonly length: number } | undefined {
  const first = bytes[0];
  const second = bytes[1];
  if (first === undefined || second === undefined) return undefined;
  const short = second & 0x7f;
  const head = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < head) return undefined;
  return { first, head, length: short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short };
}

/**
 * Masks keys that a provider sends in chunks over several messages of a realtime session. Messages are held only while
 * their texts end with the prefix of a key. After an invalid frame, all bytes pass unchanged.
 */
export class MaskedMessages {
  readonly #texts: MaskedTexts;
  #turns: Turns;
  #rest: Buffer = NOTHING;
  /** Frames of a message that has not ended. */
  readonly #frames = new GatheredBytes();
  /** Bytes of a frame too long to hold that are still to come. */
  #passing = 0;
  #isBroken = false;
  #isBehind = false;

  /** A frame is read only while its turn is not over. */
  constructor(keys: readonly string[], turns: Turns = ENDLESS) {
    this.#texts = new MaskedTexts(keys, MESSAGES);
    this.#turns = turns;
  }

  /** Whether the last call left frames that had no turn; the next one reads them, also with no bytes. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether a message waits for others. */
  get isHolding(): boolean {
    return this.#texts.isHolding;
  }

  push(bytes: Buffer): Buffer {
    const out: Buffer[] = [];
    const isOurs = this.#rest.length > 0;
    let rest = !isOurs ? bytes : bytes.length === 0 ? this.#rest : Buffer.concat([this.#rest, bytes]);
    this.#isBehind = false;
    while (rest.length > 0) {
      const isPassing = this.#passing > 0 || this.#isBroken;
      this.#isBehind = !isPassing && !this.#turns.isLeft();
      if (this.#isBehind) break;
      const taken = isPassing ? this.#pass(rest, out) : this.#take(rest, out);
      if (taken === 0) break;
      if (!isPassing) this.#turns.spend(FRAME_COST + taken * BYTE_COST);
      rest = rest.subarray(taken);
    }
    // The bytes may be part of a chunk that others use again. What waits for turns is not copied for each of them.
    this.#rest = rest.length === 0 ? NOTHING : isOurs && this.#isBehind ? rest : Buffer.from(rest);
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
  }

  /** The messages that wait, because the next one does not come soon. What they began to say of a key is remembered. */
  release(): Buffer {
    return Buffer.concat(this.#texts.release());
  }

  /** The rest, after the last bytes. */
  end(bytes: Buffer = NOTHING): Buffer {
    this.#turns = ENDLESS;
    const out = [this.push(bytes), ...this.#texts.end(), this.#frames.take(), this.#rest];
    this.#rest = NOTHING;
    return Buffer.concat(out);
  }

  #pass(bytes: Buffer, out: Buffer[]): number {
    const length = this.#isBroken ? bytes.length : Math.min(bytes.length, this.#passing);
    if (!this.#isBroken) this.#passing -= length;
    out.push(bytes.subarray(0, length));
    return length;
  }

  /** Takes a frame; returns its length, or that of its header if the frame is too long, or 0 if it is not complete. */
  #take(bytes: Buffer, out: Buffer[]): number {
    const frame = frameAt(bytes);
    if (frame === undefined) return 0;
    const { first, head, length } = frame;
    if (((bytes[1] as number) & IS_MASKED) !== 0) {
      this.#release(out);
      this.#isBroken = true;
      return this.#pass(bytes, out);
    }
    if (head + length > HELD_BYTES_MAX) {
      this.#release(out);
      out.push(bytes.subarray(0, head));
      this.#passing = length;
      return head;
    }
    const end = head + length;
    if (bytes.length < end) return 0;
    const raw = Buffer.from(bytes.subarray(0, end));
    const code = first & 0x0f;
    if (code === CLOSE) {
      addPieces(out, this.#texts.end());
      out.push(this.#frames.take(), raw);
    } else if (code > CLOSE) addPieces(out, this.#texts.take(raw));
    else this.#takeData(raw, (first & FIN) !== 0, out);
    return end;
  }

  #takeData(raw: Buffer, isLast: boolean, out: Buffer[]): void {
    this.#frames.push(raw);
    if (this.#frames.length > HELD_BYTES_MAX) this.#release(out);
    else if (isLast) addPieces(out, this.#texts.take(this.#frames.take()));
  }

  #release(out: Buffer[]): void {
    addPieces(out, this.#texts.release());
    out.push(this.#frames.take());
  }
}

const ENDLESS: Turns = { isLeft: () => true, spend: () => undefined };

/** The payloads of a message's frames; empty for control messages, and for rests of messages. */
function payloadsOf(raw: Buffer): readonly { readonly at: number; readonly length: number }[] {
  const payloads: { at: number; length: number }[] = [];
  for (let at = 0; at < raw.length;) {
    const frame = frameAt(raw.subarray(at));
    const code = frame === undefined ? CLOSE : frame.first & 0x0f;
    if (frame === undefined || code >= CLOSE || (code === CONTINUATION) !== payloads.length > 0) return [];
    payloads.push({ at: at + frame.head, length: frame.length });
    at += frame.head + frame.length;
  }
  return payloads;
}

function bytesOf(raw: Buffer): Buffer {
  const payloads = payloadsOf(raw).map(({ at, length }) => raw.subarray(at, at + length));
  return payloads.length === 1 ? (payloads[0] as Buffer) : Buffer.concat(payloads);
}

const MESSAGES: EventForm = {
  bytesOf,
  textsOf: (raw) => {
    const bytes = bytesOf(raw);
    // Some providers send JSON in binary messages.
    if (/^\s{0,64}[{["]/.test(bytes.toString("latin1", 0, 65))) return jsonPlacedTexts(bytes);
    return bytes.length === 0 || ((raw[0] as number) & 0x0f) === BINARY ? [] : [plainPlacedText(bytes)];
  },
  // A message may have several frames, which may divide a text.
  partsOf: (raw, [from, to]) => {
    let start = 0;
    return payloadsOf(raw).flatMap(({ at, length }) => {
      const [begin, end] = [Math.max(from - start, 0), Math.min(to - start, length)];
      start += length;
      return begin < end ? [[at + begin, at + end] as const] : [];
    });
  },
};
