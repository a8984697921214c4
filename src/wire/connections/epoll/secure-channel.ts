import type { OpenSsl } from "#wire/native/openssl.ts";
import type { Channel } from "./channel.ts";
import { keepForSecure } from "#wire/connections/buffers/pinned-buffers.ts";
import { readPlaces } from "#wire/connections/buffers/buffer-slots.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import { EAGAIN, EPROTO, gather, type SecureCalls } from "./socket-calls.ts";

/** What was agreed on in a handshake. */
export interface Agreed {
  /** `TLSv1.3`. */
  readonly version: string;
  /** The suite, by OpenSSL's name. */
  readonly cipher: string;
  /** By ALPN; "" where nothing was. */
  readonly protocol: string;
}

/** What a record has besides its content, where it is not padded (RFC 8446 §5.2, RFC 5288 §3, RFC 7905 §2). */
const OVERHEADS = { new: 22, gcm: 29, chacha: 21 };
/** Reads of one handshake before others have their turn. */
const HANDSHAKE_READS_MAX = 4;
/** Reads one after the other of records without content. Keys that are renewed have no limit of OpenSSL's, and take two (RFC 8446 §4.6.3). */
const VAIN_READS_MAX = 64;

/**
 * TLS over a socket, by OpenSSL itself (ADR 0032).
 *
 * What comes is read by us and goes to OpenSSL through one place in memory that all connections of the thread share, so
 * that what one call works on has a bound, and whether there is more is known. Nothing is left in that place when a
 * method returns: by then OpenSSL has asked for more, or has taken the one record that came, or the rest was taken back.
 *
 * What is sent, OpenSSL gives to the kernel itself. It is gathered into one buffer of the thread's, since what did not go out
 * must be given again with the next attempt, and as much of it at the least (SSL_write(3)).
 */
export class SecureChannel implements Channel {
  readonly read = READ_BUFFER;
  hasMore = false;
  waitsForRoom = false;
  isFull = false;
  private readonly calls: SecureCalls;
  private readonly openSsl: OpenSsl;
  /** 0 once it is freed. */
  private ssl: number;
  private overhead = 0;
  /** A part of a record was read. */
  private isMidRecord = false;
  /** Since the last one with content. */
  private vainReads = 0;
  /** What comes before that which the socket has. */
  private first: Buffer | null;
  /** What a read met after it had read something, and the next one tells. */
  private fate = EAGAIN;

  /** Takes over a connection of OpenSSL's, and what was read of it before. */
  constructor(calls: SecureCalls, ssl: number, first: Buffer | null) {
    this.calls = calls;
    this.openSsl = calls.openSsl;
    this.ssl = ssl;
    this.first = first;
  }

  /** 1 once it is over, `EAGAIN` while something is waited for: room where `waitsForRoom`, or the other side; else it has failed. */
  handshake(fd: number): number {
    for (let reads = 0; reads < HANDSHAKE_READS_MAX; reads++) {
      if (this.ssl === 0) return EPROTO;
      const fed = this.feed(fd);
      if (fed === EAGAIN) return EAGAIN;
      if (fed <= 0) return EPROTO;
      const result = this.openSsl.handshake(this.ssl);
      if (result === 1) return 1;
      if (this.failed(result) !== EAGAIN) return EPROTO;
      if (this.waitsForRoom || !this.hasMore) return EAGAIN;
    }
    return EAGAIN;
  }

  /** Right after the handshake: reads what came along with its end. */
  receiveRest(): number {
    keepForSecure();
    return this.ssl === 0 ? 0 : this.take(0);
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

  receive(fd: number): number {
    if (this.fate !== EAGAIN || this.ssl === 0) return this.fate;
    keepForSecure();
    const fed = this.feed(fd);
    return fed > 0 ? this.take(fed) : fed;
  }

  sendText(_fd: number, text: string): number {
    const { buffer, at } = this.calls;
    return this.write(at, buffer.write(text, 0, "latin1"));
  }

  sendTextAndBytes(_fd: number, text: string, bytes: Buffer, start: number, end: number, tail: string): number {
    const { buffer, at } = this.calls;
    const readAt = text === "" && tail === "" ? readPlaces.addressOf(bytes) : 0;
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

  /** One record after the other, until all is taken or the kernel takes no more. */
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

  /** Gives OpenSSL more to read; 0 at the other side's end. One that could not send before goes on with what it has. */
  private feed(fd: number): number {
    const { calls, first, waitsForRoom } = this;
    this.waitsForRoom = false;
    if (first === null && waitsForRoom) {
      this.hasMore = true;
      return 1;
    }
    const length = first === null ? calls.receive(fd) : first.copy(calls.raw);
    if (first !== null) this.first = length < first.length ? first.subarray(length) : null;
    // Whether the socket has more is only known where it was asked.
    this.hasMore = first !== null || length === calls.raw.length;
    if (length <= 0) return length;
    this.openSsl.feed(length);
    return length;
  }

  /** Reads until OpenSSL asks for more than was fed. A read of the socket and what is left of a record before it have room in our buffer. */
  private take(fed: number): number {
    const { openSsl, ssl, calls } = this;
    let length = 0;
    for (;;) {
      const result = openSsl.read(ssl, calls.readAt + length, READ_BUFFER.length - length);
      if (result > 0) {
        this.vainReads = 0;
        // One record that came by itself: nothing is left, and OpenSSL need not be asked.
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
      // What came was not for us; what comes next may be there already.
      if (length === 0) this.hasMore = true;
      if (length === 0 && !this.isMidRecord && ++this.vainReads > VAIN_READS_MAX) fate = EPROTO;
    }
    if (fate !== EAGAIN) {
      this.fate = fate;
      this.hasMore = true;
    }
    return length > 0 ? length : fate;
  }

  /** Of a handshake or a read. */
  private failed(result: number): number {
    const { openSsl } = this;
    const failure = openSsl.failure(this.ssl, result);
    if (failure === "reading") return EAGAIN;
    const left = openSsl.takeBack();
    if (failure !== "writing") return failure === "end" ? 0 : EPROTO;
    this.waitsForRoom = true;
    // few: what was read with the hello, and what of it is left
    if (left !== null) this.first = this.first === null ? left : Buffer.concat([left, this.first]);
    return EAGAIN;
  }
}
