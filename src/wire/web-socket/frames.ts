import { GatheredBytes } from "#kernel/gathered-bytes.ts";

/** Why a connection is closed, as sent in its last frame (RFC 6455 §7.4.1). */
export class WebSocketError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface MessageHandler {
  onText(text: string): void;
  onPing(payload: Buffer): void;
  /** `code`: the client's reason; null if it gives none. Nothing is read afterwards. */
  onClose(code: number | null): void;
}

export interface ClientFrameOptions {
  readonly messageBytesMax: number;
  /** Asked before each frame: whether it may be read now. */
  readonly takeTurn?: () => boolean;
}

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
export type Opcode = keyof typeof OPCODES;
const PROTOCOL_ERROR = 1002;
const UNSUPPORTED = 1003;
const NOT_UTF8 = 1007;
const TOO_BIG = 1009;
const CONTROL_BYTES_MAX = 125;
const HEAD_BYTES_MAX = 14;
const MASK_BYTES = 4;

interface Head {
  readonly isFinal: boolean;
  readonly opcode: number;
  /** Length of the frame header, including the mask. */
  readonly bytes: number;
  readonly length: number;
}

/**
 * Parses a client's frames, regardless of how they are split into chunks (RFC 6455 §5.2). Throws WebSocketError; buffers
 * a limited amount.
 */
export class ClientFrameReader {
  readonly #handler: MessageHandler;
  readonly #messageBytesMax: number;
  readonly #takeTurn: () => boolean;
  readonly #held = new GatheredBytes();
  #needed = 2;
  readonly #message = new GatheredBytes();
  #isWithin = false;
  #isClosed = false;

  constructor(handler: MessageHandler, { messageBytesMax, takeTurn = () => true }: ClientFrameOptions) {
    this.#handler = handler;
    this.#messageBytesMax = messageBytesMax;
    this.#takeTurn = takeTurn;
  }

  /** False if whole frames are left that have no turn yet; the next call reads them, also with an empty chunk. */
  push(chunk: Buffer): boolean {
    if (this.#isClosed) return true;
    this.#held.push(chunk);
    if (this.#held.length < this.#needed) return true;
    const bytes = this.#held.take();
    let at = 0;
    this.#needed = 2;
    for (let head = headAt(bytes, at); head !== undefined; head = headAt(bytes, at)) {
      this.#check(head);
      this.#needed = head.bytes + head.length;
      if (bytes.length - at < this.#needed) break;
      if (!this.#takeTurn()) {
        // Not a copy: the next turn may come after a few frames of many.
        this.#held.push(bytes.subarray(at));
        return false;
      }
      this.#frame(head, unmasked(bytes.subarray(at, at + this.#needed), head.bytes));
      if (this.#isClosed) return true;
      at += this.#needed;
      this.#needed = 2;
    }
    const left = bytes.length - at;
    if (left > 0) this.#held.push(Buffer.from(bytes.subarray(at)));
    // An incomplete header needs at least one more byte.
    if (left >= this.#needed) this.#needed = Math.min(left + 1, HEAD_BYTES_MAX);
    return true;
  }

  #check({ isFinal, opcode, length }: Head): void {
    if (opcode >= OPCODES.close) {
      if (!isFinal || length > CONTROL_BYTES_MAX) throw new WebSocketError(PROTOCOL_ERROR, "a control frame is too long or in parts");
    } else if ((opcode === OPCODES.continuation) !== this.#isWithin) throw new WebSocketError(PROTOCOL_ERROR, "a frame is out of turn");
    else if (this.#message.length + length > this.#messageBytesMax) throw new WebSocketError(TOO_BIG, "the message is too long");
  }

  #frame({ isFinal, opcode }: Head, payload: Buffer): void {
    if (opcode === OPCODES.close) return this.#close(payload);
    if (opcode === OPCODES.ping) return this.#handler.onPing(payload);
    if (opcode === OPCODES.pong) return;
    if (opcode === OPCODES.binary) throw new WebSocketError(UNSUPPORTED, "messages are text");
    this.#message.push(payload);
    this.#isWithin = !isFinal;
    if (isFinal) this.#handler.onText(textOf(this.#message.take()));
  }

  /** RFC 6455 §5.5.1 and §7.4. */
  #close(payload: Buffer): void {
    const code = payload.length < 2 ? null : payload.readUInt16BE(0);
    if (payload.length === 1 || (code !== null && !isCloseCode(code)))
      throw new WebSocketError(PROTOCOL_ERROR, "a close gives no valid reason");
    textOf(payload.subarray(2));
    this.#isClosed = true;
    this.#handler.onClose(code);
  }
}

/** The smallest length that may use each number of extended length bytes. */
const LEAST_LENGTHS: Readonly<Record<number, number>> = { 0: 0, 2: 126, 8: 65_536 };

/** RFC 6455 §7.4.2, and the registered codes that may be sent: the others are reserved, or mean that no code was sent. */
const isCloseCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999);

/** Undefined if incomplete. */
function headAt(bytes: Buffer, at: number): Head | undefined {
  if (bytes.length - at < 2) return undefined;
  const [first, second] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)];
  const opcode = first & 0x0f;
  if ((first & 0x70) !== 0 || (opcode > 2 && opcode < 8) || opcode > 10)
    throw new WebSocketError(PROTOCOL_ERROR, "a frame of an unknown kind");
  if ((second & 0x80) === 0) throw new WebSocketError(PROTOCOL_ERROR, "a client's frame is not masked");
  const short = second & 0x7f;
  const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
  if (bytes.length - at < 2 + extended) return undefined;
  const length = extended === 0 ? short : extended === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
  // Only the shortest form is allowed, and the first bit of the longest form must be zero.
  if (length < LEAST_LENGTHS[extended]! || length >= 2 ** 63)
    throw new WebSocketError(PROTOCOL_ERROR, "a length is written in a wrong form");
  return { isFinal: (first & 0x80) !== 0, opcode, bytes: 2 + extended + MASK_BYTES, length };
}

function unmasked(frame: Buffer, headBytes: number): Buffer {
  const payload = Buffer.from(frame.subarray(headBytes));
  const maskAt = headBytes - MASK_BYTES;
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] as number) ^ (frame[maskAt + (i & 3)] as number);
  return payload;
}

function textOf(message: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message);
  } catch {
    throw new WebSocketError(NOT_UTF8, "a message is no UTF-8");
  }
}

/** A whole unmasked frame from the server. */
export function serverFrame(opcode: Opcode, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head.writeUInt8(0x80 | OPCODES[opcode], 0);
  if (length < 126) head.writeUInt8(length, 1);
  else if (length < 65_536) {
    head.writeUInt8(126, 1);
    head.writeUInt16BE(length, 2);
  } else {
    head.writeUInt8(127, 1);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, payload]);
}

export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason).subarray(0, CONTROL_BYTES_MAX - 2);
  const payload = Buffer.alloc(2 + text.length);
  payload.writeUInt16BE(code, 0);
  text.copy(payload, 2);
  return serverFrame("close", payload);
}
