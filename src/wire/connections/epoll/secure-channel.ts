import type { OpenSsl } from "#wire/native/openssl.ts";
import type { Channel } from "./channel.ts";
import { keepForSecure } from "#wire/connections/buffers/pinned-buffers.ts";
import { bufferSlots } from "#wire/connections/buffers/buffer-slots.ts";
import { encryptedMax, SECURE_BUFFER } from "#wire/connections/buffers/secure-buffer.ts";
import { EAGAIN, EPROTO, gather, type SecureCalls } from "./socket-calls.ts";

/** The result of a TLS handshake. */
export interface Agreed {
  /** For example `TLSv1.3`. */
  readonly version: string;
  /** The cipher suite, by OpenSSL's name. */
  readonly cipher: string;
  /** The protocol chosen by ALPN; "" if none was. */
  readonly protocol: string;
}

/** Bytes of a record besides its content, without padding (RFC 8446 §5.2, RFC 5288 §3, RFC 7905 §2). */
const OVERHEADS = { new: 22, gcm: 29, chacha: 21 };
/** Reads of one handshake before other sockets have their turn. */
const HANDSHAKE_READS_MAX = 4;
const HANDSHAKE_READ_BYTES = 48_000;
/**
 * Consecutive reads of records without content. OpenSSL does not limit key updates, each of which takes two (RFC 8446
 * §4.6.3).
 */
const VAIN_READS_MAX = 64;

/**
 * TLS over a socket, with OpenSSL called directly (ADR 0032).
 *
 * We read the encrypted bytes and hand them to OpenSSL through one place in memory that all connections of the thread
 * share. So one call works on a bounded number of bytes, and we know whether more are ready. That place is empty when a
 * method returns: OpenSSL has asked for more, or has taken the one record in it, or the rest was taken back.
 *
 * OpenSSL writes to the kernel itself. Bytes to send are gathered in one buffer of the thread, because after a partial
 * write OpenSSL wants the same bytes again, at least as many (SSL_write(3)).
 */
export class SecureChannel implements Channel {
  readonly read = SECURE_BUFFER;
  hasMore = false;
  waitsForRoom = false;
  isFull = false;
  private readonly calls: SecureCalls;
  private readonly openSsl: OpenSsl;
  /** 0 once freed. */
  private ssl: number;
  private overhead = 0;
  /** A part of a record was read. */
  private isMidRecord = false;
  /** Reads without content since the last one with content. */
  private vainReads = 0;
  /** Bytes that were read before those still in the socket. */
  private first: Buffer | null;
  /** The result of a read that had already read some bytes; the next read returns it. */
  private fate = EAGAIN;

  /** Takes over a connection of OpenSSL. `first`: bytes that were read from the socket before. */
  constructor(calls: SecureCalls, ssl: number, first: Buffer | null) {
    this.calls = calls;
    this.openSsl = calls.openSsl;
    this.ssl = ssl;
    this.first = first;
  }

  /**
   * Goes on with the handshake. Returns 1 once it is over; `EAGAIN` while it waits for the other side, or, with
   * `waitsForRoom`, for room to send; any other value if it failed.
   */
  handshake(fd: number): number {
    for (let reads = 0; reads < HANDSHAKE_READS_MAX; reads++) {
      if (this.ssl === 0) return EPROTO;
      const fed = this.feed(fd, HANDSHAKE_READ_BYTES);
      if (fed === EAGAIN) return EAGAIN;
      if (fed <= 0) return EPROTO;
      const result = this.openSsl.handshake(this.ssl);
      if (result === 1) return 1;
      if (this.failed(result) !== EAGAIN) return EPROTO;
      if (this.waitsForRoom || !this.hasMore) return EAGAIN;
    }
    return EAGAIN;
  }

  /** Reads the bytes that arrived with the end of the handshake. Call right after it. */
  receiveRest(): number {
    keepForSecure();
    return this.ssl === 0 ? 0 : this.take(0);
  }

  /** The agreed parameters, once the handshake is over. */
  agreed(): Agreed {
    const { openSsl, ssl } = this;
    const [version, cipher] = [openSsl.version(ssl), openSsl.cipher(ssl)];
    if (version === "TLSv1.3") this.overhead = OVERHEADS.new;
    else this.overhead = cipher.includes("GCM") ? OVERHEADS.gcm : OVERHEADS.chacha;
    return { version, cipher, protocol: openSsl.alpn(ssl) };
  }

  /** The last server name that the client sent, unchanged. */
  serverName(): string | null {
    return this.openSsl.serverName(this.ssl);
  }

  receive(fd: number, bytesMax: number): number {
    if (this.fate !== EAGAIN || this.ssl === 0) return this.fate;
    keepForSecure();
    const fed = this.feed(fd, encryptedMax(bytesMax));
    return fed > 0 ? this.take(fed) : fed;
  }

  sendText(_fd: number, text: string): number {
    const { buffer, at } = this.calls;
    return this.write(at, buffer.write(text, 0, "latin1"));
  }

  sendTextAndBytes(_fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number {
    const { buffer, at } = this.calls;
    const readAt = text === "" && tail === "" ? bufferSlots.addressOf(bytes) : 0;
    if (readAt > 0) return this.write(readAt + start, end - start);
    return this.write(at, gather(buffer, 0, text, bytes, start, end, tail));
  }

  send(_fd: number, bytes: Buffer): number {
    const { buffer, at } = this.calls;
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

  sendGathered(_fd: number, start: number, end: number): number {
    return this.write(this.calls.outboxAt + start, end - start);
  }

  sendQueue(_fd: number, queue: readonly Buffer[]): number {
    const { buffer, at } = this.calls;
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
    return result < 0 ? this.notWritten(result) : 0;
  }

  free(): void {
    if (this.ssl !== 0) this.openSsl.free(this.ssl);
    this.ssl = 0;
    this.first = null;
  }

  /** Writes record by record until all bytes are taken or the kernel takes no more. */
  private write(at: number, length: number): number {
    if (this.ssl === 0) return EPROTO;
    this.isFull = false;
    let sent = 0;
    while (sent < length) {
      const result = this.openSsl.write(this.ssl, at + sent, length - sent);
      if (result <= 0) {
        this.isFull = true;
        const failure = this.notWritten(result);
        return sent > 0 && failure === EAGAIN ? sent : failure;
      }
      sent += result;
    }
    return sent;
  }

  private notWritten(result: number): number {
    return this.openSsl.failure(this.ssl, result) === "writing" ? EAGAIN : EPROTO;
  }

  /**
   * Gives OpenSSL more to read; 0 if the other side has ended. A read that could not send before goes on with the bytes
   * that it has.
   */
  private feed(fd: number, bytesMax: number): number {
    const { calls, first, waitsForRoom } = this;
    this.waitsForRoom = false;
    if (first === null && waitsForRoom) {
      this.hasMore = true;
      return 1;
    }
    const length = first === null ? calls.receive(fd, bytesMax) : first.copy(calls.raw);
    if (first !== null) this.first = length < first.length ? first.subarray(length) : null;
    // Only a read of the socket tells whether it has more.
    this.hasMore = first !== null || length === bytesMax;
    if (length <= 0) return length;
    this.openSsl.feed(length);
    return length;
  }

  /**
   * Reads until OpenSSL needs more than was fed. Our buffer has room for one read of the socket and the rest of a record
   * before it.
   */
  private take(fed: number): number {
    const { openSsl, ssl, calls } = this;
    let length = 0;
    for (;;) {
      const result = openSsl.read(ssl, calls.readAt + length, SECURE_BUFFER.length - length);
      if (result > 0) {
        this.vainReads = 0;
        // Exactly one record arrived: nothing is left, so OpenSSL need not be asked.
        if (fed === result + this.overhead && length === 0 && !this.isMidRecord) return result;
        length += result;
        continue;
      }
      const failed = this.failed(result);
      if (failed !== EAGAIN || !openSsl.isFed()) return this.tookAll(length, failed);
      if (++this.vainReads > VAIN_READS_MAX) {
        openSsl.takeBack();
        return this.tookAll(length, EPROTO);
      }
    }
  }

  private tookAll(length: number, failed: number): number {
    let fate = failed;
    if (fate === EAGAIN) {
      this.isMidRecord = this.openSsl.hasPending(this.ssl);
      // The bytes held no content for us; more may be in the socket already.
      if (length === 0) this.hasMore = true;
      if (length === 0 && !this.isMidRecord && ++this.vainReads > VAIN_READS_MAX) fate = EPROTO;
    }
    if (fate !== EAGAIN) {
      this.fate = fate;
      this.hasMore = true;
    }
    return length > 0 ? length : fate;
  }

  /** Handles a failed handshake or read, and returns its result code. */
  private failed(result: number): number {
    const { openSsl } = this;
    const failure = openSsl.failure(this.ssl, result);
    if (failure === "reading") return EAGAIN;
    const left = openSsl.takeBack();
    if (failure !== "writing") return failure === "end" ? 0 : EPROTO;
    this.waitsForRoom = true;
    // few: bytes that were read with the hello, and the rest of them
    if (left !== null) this.first = this.first === null ? left : Buffer.concat([left, this.first]);
    return EAGAIN;
  }
}
