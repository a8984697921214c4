import type { OpenSsl } from "#wire/tls/openssl.ts";
import type { Channel } from "./channel.ts";
import { READ_BUFFER } from "./shared-reads.ts";
import { EAGAIN, EPROTO } from "./socket-calls.ts";

/** What was agreed on in a handshake. */
export interface Agreed {
  /** `TLSv1.3`. */
  readonly version: string;
  /** The suite, by OpenSSL's name. */
  readonly cipher: string;
  /** By ALPN; "" where nothing was. */
  readonly protocol: string;
}

/** As much as one record holds (RFC 8446 §5.1). */
const RECORD_BYTES_MAX = 16_384;
/**
 * OpenSSL reads ahead into a buffer that is a little larger than a record: as long as less than this came since it was
 * empty, no read can have filled it, and the socket had no more.
 */
const UNFILLED_BYTES = RECORD_BYTES_MAX;
/** What a record of each kind has besides its content, where it is not padded (RFC 8446 §5.2, RFC 5288 §3, RFC 7905 §2). */
const OVERHEADS = { new: 22, gcm: 29, chacha: 21 };

/**
 * TLS over a socket, by OpenSSL itself (ADR 0032). What is to be sent is gathered into one buffer of the thread's, since what did not go
 * out must be given again with the next attempt, and as much of it at the least (SSL_write(3)).
 */
export class SecureChannel implements Channel {
  hasMore = false;
  waitsForRoom = false;
  isFull = false;
  private readonly openSsl: OpenSsl;
  private readonly memory: SecureMemory;
  private ssl: number;
  private readonly bio: number;
  private overhead = 0;
  /** By what the BIO has counted: up to the last read, and when nothing of it was left. */
  private counted = 0;
  private countedEmpty = 0;
  /** What a read met after it had read something, and the next call tells. */
  private fate = EAGAIN;

  constructor(openSsl: OpenSsl, memory: SecureMemory, ssl: number) {
    this.openSsl = openSsl;
    this.memory = memory;
    this.ssl = ssl;
    this.bio = openSsl.readingBio(ssl);
  }

  /** 1 once the handshake is over, `EAGAIN` while something is waited for: room where `waitsForRoom`, or the other side. */
  handshake(): number {
    if (this.ssl === 0) return EPROTO;
    const result = this.openSsl.handshake(this.ssl);
    if (result === 1) return 1;
    const failed = this.failed(result);
    return failed === EAGAIN ? EAGAIN : EPROTO;
  }

  /** Once the handshake is over. */
  agreed(): Agreed {
    const { openSsl, ssl } = this;
    const [version, cipher] = [openSsl.version(ssl), openSsl.cipher(ssl)];
    if (version === "TLSv1.3") this.overhead = OVERHEADS.new;
    else this.overhead = cipher.includes("GCM") ? OVERHEADS.gcm : OVERHEADS.chacha;
    return { version, cipher, protocol: openSsl.alpn(ssl) };
  }

  /** The last one that the client sent, as it was sent. */
  serverName(): string | null {
    return this.openSsl.serverName(this.ssl);
  }

  /** Several records at once, as long as there is room for a whole one. */
  receive(): number {
    if (this.fate !== EAGAIN || this.ssl === 0) return this.fate;
    const { readAt } = this.memory;
    let length = 0;
    do {
      const result = this.openSsl.read(this.ssl, readAt + length, READ_BUFFER.length - length);
      if (result <= 0) return this.readNothing(length, result);
      length += result;
      this.account(result);
    } while (this.hasMore && length + RECORD_BYTES_MAX <= READ_BUFFER.length);
    return length;
  }

  sendText(_fd: number, text: string): number {
    this.memory.buffer.write(text, 0, "latin1");
    return this.write(this.memory.at, text.length);
  }

  sendTextAndRead(_fd: number, text: string, start: number, end: number): number {
    const { buffer, at, readAt } = this.memory;
    if (text === "") return this.write(readAt + start, end - start);
    buffer.write(text, 0, "latin1");
    const length = text.length + end - start;
    READ_BUFFER.copy(buffer, text.length, start, end);
    return this.write(at, length);
  }

  send(_fd: number, bytes: Buffer): number {
    const { buffer, at } = this.memory;
    let sent = 0;
    while (sent < bytes.length) {
      const length = bytes.copy(buffer, 0, sent, sent + buffer.length);
      const result = this.write(at, length);
      if (result < 0) return sent > 0 && result === EAGAIN ? sent : result;
      sent += result;
      if (result < length) break;
    }
    return sent;
  }

  sendQueue(_fd: number, queue: readonly Buffer[]): number {
    const { buffer, at } = this.memory;
    let length = 0;
    for (const bytes of queue) {
      length += bytes.copy(buffer, length);
      if (length === buffer.length) break;
    }
    return this.write(at, length);
  }

  sayEnd(): number {
    if (this.ssl === 0) return 0;
    const result = this.openSsl.sayEnd(this.ssl);
    return result >= 0 ? 0 : this.failed(result);
  }

  free(): void {
    if (this.ssl !== 0) this.openSsl.free(this.ssl);
    this.ssl = 0;
  }

  /** One record after the other, until all is taken or the kernel takes no more. */
  private write(at: number, length: number): number {
    if (this.ssl === 0) return EPROTO;
    let sent = 0;
    while (sent < length) {
      const result = this.openSsl.write(this.ssl, at + sent, length - sent);
      if (result <= 0) {
        const failure = this.failed(result);
        this.isFull = true;
        return sent > 0 && failure === EAGAIN ? sent : failure;
      }
      sent += result;
    }
    this.isFull = false;
    return sent;
  }

  /** Whether more can be read at once, without asking the kernel for nothing. */
  private account(length: number): void {
    const counted = this.openSsl.bytesRead(this.bio);
    const since = counted - this.countedEmpty;
    const wasEmpty = this.counted === this.countedEmpty;
    this.counted = counted;
    if (!(wasEmpty && since === length + this.overhead) && this.openSsl.hasPending(this.ssl)) {
      this.hasMore = true;
      return;
    }
    this.countedEmpty = counted;
    this.hasMore = since >= UNFILLED_BYTES;
  }

  /** What was read before it is given first; why nothing came after it is told by the next call. */
  private readNothing(length: number, result: number): number {
    this.fate = this.failed(result);
    this.hasMore = this.fate !== EAGAIN;
    return length > 0 ? length : this.fate;
  }

  private failed(result: number): number {
    const failure = this.openSsl.failure(this.ssl, result);
    this.waitsForRoom = failure === "writing";
    if (failure === "end") return 0;
    return failure === "broken" ? EPROTO : EAGAIN;
  }
}

/** What all connections of a thread send from and read into. */
export interface SecureMemory {
  readonly buffer: Buffer;
  readonly at: number;
  readonly readAt: number;
}
