import { crc32 } from "node:zlib";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";

/** One message of an `application/vnd.amazon.eventstream`: headers with text values by name, and the payload. */
export interface AmazonMessage {
  readonly headers: ReadonlyMap<string, string>;
  readonly payload: Buffer;
}

/** The bytes are not a valid stream, or a message exceeds the reader's limit. */
export class AmazonStreamError extends Error {}

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const HEADERS_MAX = 64;
const STRING = 7;
/** Length of a header's value by type; undefined: a two-byte length precedes it (6: bytes, 7: text). */
const VALUE_BYTES: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/**
 * Parses the stream, regardless of how it is split into chunks (Smithy, "Amazon Event Stream Specification"): total
 * length, header length and a checksum of both, headers, payload, and a checksum of everything. Buffers a limited amount.
 */
export class AmazonEventStreamReader {
  readonly #onMessage: (message: AmazonMessage) => void;
  readonly #messageBytesMax: number;
  readonly #held = new GatheredBytes();
  /** Bytes known to be needed for the current message. */
  #needed = PRELUDE_BYTES;

  constructor(onMessage: (message: AmazonMessage) => void, { messageBytesMax }: { readonly messageBytesMax: number }) {
    this.#onMessage = onMessage;
    this.#messageBytesMax = messageBytesMax;
  }

  /** Whether the stream is between two messages, the only place where it may end. */
  get isBetween(): boolean {
    return this.#held.length === 0;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    // Buffered bytes are copied, because the chunk's memory may be reused.
    if (this.#held.length + chunk.length < this.#needed) return this.#held.push(Buffer.from(chunk));
    this.#held.push(chunk);
    const bytes = this.#held.take();
    let at = 0;
    this.#needed = PRELUDE_BYTES;
    while (bytes.length - at >= PRELUDE_BYTES) {
      this.#needed = this.#lengthAt(bytes, at);
      if (bytes.length - at < this.#needed) break;
      this.#onMessage(messageIn(bytes.subarray(at, at + this.#needed)));
      at += this.#needed;
      this.#needed = PRELUDE_BYTES;
    }
    if (at < bytes.length) this.#held.push(Buffer.from(bytes.subarray(at)));
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const length = bytes.readUInt32BE(at);
    if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) throw new AmazonStreamError("a prelude is damaged");
    const headerBytes = bytes.readUInt32BE(at + 4);
    if (length > this.#messageBytesMax) throw new AmazonStreamError(`a message is larger than ${this.#messageBytesMax} bytes`);
    if (length < PRELUDE_BYTES + headerBytes + CHECKSUM_BYTES) throw new AmazonStreamError("a message is shorter than its parts");
    return length;
  }
}

function messageIn(bytes: Buffer): AmazonMessage {
  const end = bytes.length - CHECKSUM_BYTES;
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw new AmazonStreamError("a message is damaged");
  const payloadAt = PRELUDE_BYTES + bytes.readUInt32BE(4);
  return { headers: headersIn(bytes.subarray(PRELUDE_BYTES, payloadAt)), payload: bytes.subarray(payloadAt, end) };
}

function headersIn(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new AmazonStreamError("a header is longer than the headers");
    at += length;
    return bytes.subarray(at - length, at);
  };
  for (let count = 0; at < bytes.length; count++) {
    if (count >= HEADERS_MAX) throw new AmazonStreamError("a message has too many headers");
    const name = take(take(1).readUInt8()).toString("utf8");
    const type = take(1).readUInt8();
    if (type >= VALUE_BYTES.length) throw new AmazonStreamError(`a header is of the unknown type ${type}`);
    const value = take(VALUE_BYTES[type] ?? take(2).readUInt16BE());
    if (type === STRING) headers.set(name, value.toString("utf8"));
  }
  return headers;
}

/** Writes the checksum of a whole message whose headers or payload have changed. */
export function sealAmazonMessage(message: Buffer): void {
  const end = message.length - CHECKSUM_BYTES;
  message.writeUInt32BE(crc32(message.subarray(0, end)), end);
}

/** Encodes a message; header values are text. */
export function encodeAmazonMessage(headers: Readonly<Record<string, string>>, payload: Buffer): Buffer {
  const fields = Object.entries(headers).map(([name, value]) => {
    const [key, text] = [Buffer.from(name), Buffer.from(value)];
    const size = Buffer.alloc(2);
    size.writeUInt16BE(text.length);
    return Buffer.concat([Buffer.from([key.length]), key, Buffer.from([STRING]), size, text]);
  });
  const headerBytes = Buffer.concat(fields);
  const prelude = Buffer.alloc(PRELUDE_BYTES);
  prelude.writeUInt32BE(PRELUDE_BYTES + headerBytes.length + payload.length + CHECKSUM_BYTES, 0);
  prelude.writeUInt32BE(headerBytes.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headerBytes, payload]);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(message));
  return Buffer.concat([message, checksum]);
}
