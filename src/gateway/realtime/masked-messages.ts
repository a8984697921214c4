import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { type EventForm, HELD_BYTES_MAX, MaskedTexts } from "#gateway/streams/masked-texts.ts";
import { eventTexts, withTexts } from "#gateway/streams/text-extraction.ts";

const [CONTINUATION, TEXT, CLOSE] = [0, 1, 8];
const FIN = 0x80;
const IS_MASKED = 0x80;
const NOTHING = Buffer.alloc(0);

/** One frame at the start of the bytes (RFC 6455 §5.2); undefined if its header is not complete. */
function frameAt(bytes: Buffer): { readonly first: number; readonly head: number; readonly length: number } | undefined {
  const [first, second] = bytes;
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
  #rest: Buffer = NOTHING;
  /** Frames of a message that has not ended. */
  #frames: Buffer[] = [];
  #framesBytes = 0;
  /** Bytes of a frame too long to hold that are still to come. */
  #passing = 0;
  #isBroken = false;

  constructor(keys: readonly string[]) {
    this.#texts = new MaskedTexts(keys, MESSAGES);
  }

  /** Whether a message waits for others. */
  get isHolding(): boolean {
    return this.#texts.isHolding;
  }

  push(bytes: Buffer): Buffer {
    const out: Buffer[] = [];
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (rest.length > 0) {
      const taken = this.#passing > 0 || this.#isBroken ? this.#pass(rest, out) : this.#take(rest, out);
      if (taken === 0) break;
      rest = rest.subarray(taken);
    }
    // The bytes may be part of a chunk that others use again.
    this.#rest = rest.length === 0 ? NOTHING : Buffer.from(rest);
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
  }

  /** The messages that wait, since nothing follows, or not soon. */
  release(): Buffer {
    return Buffer.concat(this.#texts.release());
  }

  end(): Buffer {
    const out = this.#released();
    out.push(this.#rest);
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
      out.push(...this.#released());
      this.#isBroken = true;
      return this.#pass(bytes, out);
    }
    if (head + length > HELD_BYTES_MAX) {
      out.push(...this.#released(), bytes.subarray(0, head));
      this.#passing = length;
      return head;
    }
    const end = head + length;
    if (bytes.length < end) return 0;
    const raw = Buffer.from(bytes.subarray(0, end));
    const code = first & 0x0f;
    if (code === CLOSE) out.push(...this.#released(), raw);
    else if (code > CLOSE) out.push(...this.#texts.take(raw));
    else this.#takeData(raw, (first & FIN) !== 0, out);
    return end;
  }

  #takeData(raw: Buffer, isLast: boolean, out: Buffer[]): void {
    this.#frames.push(raw);
    this.#framesBytes += raw.length;
    if (this.#framesBytes > HELD_BYTES_MAX) out.push(...this.#released());
    else if (isLast) {
      const message = Buffer.concat(this.#frames);
      this.#frames = [];
      this.#framesBytes = 0;
      out.push(...this.#texts.take(message));
    }
  }

  #released(): Buffer[] {
    const out = [...this.#texts.release(), ...this.#frames];
    this.#frames = [];
    this.#framesBytes = 0;
    return out;
  }
}

/** The text of a message; undefined for other messages, and for rests of messages. */
function textOf(raw: Buffer): string | undefined {
  const payloads: Buffer[] = [];
  for (let rest = raw; rest.length > 0;) {
    const frame = frameAt(rest);
    if (frame === undefined || (frame.first & 0x0f) !== (payloads.length === 0 ? TEXT : CONTINUATION)) return undefined;
    payloads.push(rest.subarray(frame.head, frame.head + frame.length));
    rest = rest.subarray(frame.head + frame.length);
  }
  return Buffer.concat(payloads).toString("utf8");
}

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 0x1_0000 ? 4 : 10);
  head[0] = FIN | TEXT;
  if (head.length === 2) head[1] = payload.length;
  else if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, payload]);
}

const MESSAGES: EventForm = {
  textsOf: (raw) => {
    const text = textOf(raw);
    if (text === undefined || text === "") return [];
    const value = objectOf(parsedJson(text));
    if (value === undefined) return [{ channel: "", text }];
    try {
      // Messages of several types come in turns, and have their texts at the same place.
      const kind = `${String(value["type"])} ${String(value["item_id"])} `;
      return eventTexts(value).map((found) => ({ channel: kind + found.channel, text: found.text }));
    } catch {
      // No text of a model is nested as deeply.
      return [];
    }
  },
  withTexts: (raw, texts) => {
    const value = objectOf(parsedJson(textOf(raw) ?? ""));
    return textFrame(value === undefined ? (texts[0] as string) : JSON.stringify(withTexts(value, texts)));
  },
};
