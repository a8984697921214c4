import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { type BodyEnd, worseTruncation } from "./body-cut.ts";
import { type Encoding, SCANNED_BYTES_MAX } from "./scan-plan.ts";
import { createTextBuffer, type TextBuffer, type BufferedText } from "./text-buffer.ts";
import { beginsAsAscii, beginsAsText } from "./text-only.ts";

export interface Decoder {
  write(bytes: Uint8Array): void;
  /** The input has ended; `onEnd` follows. */
  end(how: BodyEnd): void;
  /** Stops decoding; `onEnd` is called for the bytes decoded so far. */
  close(): void;
}

export interface DecoderDeps {
  onData(bytes: Uint8Array): void;
  /** Called once. `partial` if the limit was reached, or the rest is damaged. */
  onEnd(how: BodyEnd): void;
  readonly load: DecodingLoad;
  /** Keeps the coded bytes, so that a damaged body can be decoded again. */
  readonly keeper: TextBuffer;
}

/** The work that all decoders of a thread have before them. */
export interface DecodingLoad {
  /** Coded bytes that wait to be decoded. */
  bytes: number;
  /** Decoders with such bytes, or on the way to their end. */
  decoders: number;
}

/** Decoders for the codings, the last one applied first; null if there are none. */
export function createDecoders(codings: readonly Encoding[], deps: DecoderDeps): Decoder | null {
  let decoder: Decoder | null = null;
  for (const coding of codings) decoder = new Decoding(coding, decoder === null ? deps : writingTo(decoder, deps));
  return decoder;
}

/** Without it, the last 16 KB before damage in a body could not be decoded. */
export const createCodedKeeper = (): TextBuffer => createTextBuffer(KEPT_BYTES_MAX);
const KEPT_BYTES_MAX = 32 * 1024 * 1024;

const writingTo = (decoder: Decoder, deps: DecoderDeps): DecoderDeps => ({
  ...deps,
  onData: (bytes) => decoder.write(bytes),
  onEnd: (how) => decoder.end(how),
});

type Opened = Transform & { readonly bytesWritten: number };

/** Undoes a content coding and stops after 1 MiB of output: 1 GiB of zeros is 1.04 MB of gzip (sensitive-data.md). */
class Decoding implements Decoder {
  readonly #encoding: Encoding;
  readonly #deps: DecoderDeps;
  readonly #waiting: Uint8Array[] = [];
  #stream: Opened | null = null;
  #kept: BufferedText | null = null;
  /** The piece that the stream has now; the bytes it got before that piece, and the bytes it has put out. */
  #current: Uint8Array | null = null;
  #fed = 0;
  #given = 0;
  #frames = 0;
  #left = SCANNED_BYTES_MAX;
  /** Null until enough bytes have come to tell. */
  #isPlain: boolean | null = null;
  #isEnded = false;
  #how: BodyEnd = "whole";
  #isOver = false;
  #isBusy = false;
  #bytesBefore = 0;

  constructor(encoding: Encoding, deps: DecoderDeps) {
    this.#encoding = encoding;
    this.#deps = deps;
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver || bytes.length === 0) return;
    // Copied because the edge reuses the buffer while zlib works on another thread.
    this.#waiting.push(Buffer.from(bytes));
    this.#go();
  }

  end(how: BodyEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#how = how;
    this.#go();
  }

  close(): void {
    this.#finish("partial");
  }

  #go(): void {
    this.#goOn();
    this.#tellLoad();
  }

  #goOn(): void {
    if (this.#isPlain === null && !this.#decide()) return;
    while (!this.#isOver && this.#current === null) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) return this.#isEnded ? this.#endStream() : undefined;
      if (this.#isPlain === true) this.#give(bytes);
      else this.#feed(bytes);
    }
  }

  /** Reports the load. Bytes that wait until the beginning is complete may wait for long, and do not count. */
  #tellLoad(): void {
    const { load } = this.#deps;
    const isIdle = this.#isOver || (this.#isPlain === null && !this.#isEnded);
    const bytes = isIdle ? 0 : this.#waiting.reduce((sum, { length }) => sum + length, this.#current?.length ?? 0);
    const isBusy = !isIdle && (bytes > 0 || this.#isEnded);
    load.bytes += bytes - this.#bytesBefore;
    if (isBusy !== this.#isBusy) load.decoders += isBusy ? 1 : -1;
    this.#bytesBefore = bytes;
    this.#isBusy = isBusy;
  }

  /** Some servers name codings that they did not apply; clients then use the bytes as they are. */
  #decide(): boolean {
    const head = Buffer.concat(this.#waiting);
    if (head.length < HEAD_BYTES && !this.#isEnded) return false;
    this.#waiting.splice(0, Infinity, ...(head.length === 0 ? [] : [head]));
    this.#isPlain = isPlain(this.#encoding, head);
    return true;
  }

  #feed(bytes: Uint8Array): void {
    this.#current = bytes;
    const stream = (this.#stream ??= this.#open(bytes[0] ?? 0));
    this.#kept?.add(bytes);
    stream.write(bytes, (error) => {
      if (error || stream !== this.#stream) return;
      this.#fed += bytes.length;
      this.#current = null;
      this.#go();
    });
  }

  #open(first: number): Opened {
    const stream = OPENERS[this.#encoding](first);
    this.#kept = this.#deps.keeper.begin();
    this.#fed = this.#given = 0;
    stream.on("data", (bytes: Buffer) => {
      this.#given += bytes.length;
      this.#give(bytes);
    });
    stream.on("end", () => this.#atEnd(stream));
    stream.on("error", () => this.#atDamage());
    return stream;
  }

  /** The end of the input, or of a frame: further frames may follow (RFC 8878 §3.1), even empty ones. */
  #atEnd(stream: Opened): void {
    const rest = this.#current?.subarray(stream.bytesWritten - this.#fed);
    if (rest === undefined || rest.length === 0 || this.#encoding !== "zstd") return this.#finish("whole");
    if (++this.#frames === FRAMES_MAX) return this.#finish("partial");
    this.#closeStream();
    this.#current = null;
    this.#waiting.unshift(rest);
    this.#go();
  }

  /** At damage, zlib reports an error and drops its last output, so the input is decoded again in ever smaller pieces. */
  #atDamage(): void {
    const [fed, piece, all] = [this.#fed, this.#current, this.#kept?.take() ?? null];
    if (this.#isOver || piece === null || all === null) return this.#finish("partial");
    const pieces = fed === 0 ? [] : [all.subarray(0, fed)];
    const size = Math.ceil(piece.length / SMALL_PIECES);
    for (let at = fed; at < all.length; at += size) pieces.push(all.subarray(at, at + size));
    let known = this.#given;
    const stream = (this.#stream = OPENERS[this.#encoding](all[0] ?? 0));
    stream.on("data", (bytes: Buffer) => {
      const fresh = bytes.subarray(known);
      known -= bytes.length - fresh.length;
      if (fresh.length > 0) this.#give(fresh);
    });
    const finish = (): void => this.#finish("partial");
    stream.on("end", finish);
    stream.on("error", finish);
    const next = (error?: Error | null): void => {
      const small = pieces.shift();
      if (error || small === undefined) finish();
      else if (!this.#isOver) stream.write(small, next);
    };
    next();
  }

  #endStream(): void {
    if (this.#stream === null) this.#finish(this.#how);
    else this.#stream.end();
  }

  #give(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const isMore = bytes.length > this.#left;
    this.#deps.onData(isMore ? bytes.subarray(0, this.#left) : bytes);
    this.#left -= bytes.length;
    if (isMore) this.#finish("partial");
  }

  #finish(how: BodyEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#closeStream();
    this.#current = null;
    this.#waiting.length = 0;
    this.#tellLoad();
    this.#deps.onEnd(worseTruncation(how, this.#how));
  }

  #closeStream(): void {
    this.#kept?.take();
    this.#stream?.destroy();
    this.#stream = null;
  }
}

/** Bytes needed to distinguish a coding from text. */
const HEAD_BYTES = 16;
/** A writer that flushes makes a frame of each line, so 1 MiB may hold 100,000 empty ones. */
const FRAMES_MAX = 256;
const SMALL_PIECES = 256;

const GZIP_MAGIC = [0x1f, 0x8b, 0x08];
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, index) => bytes[index] === byte);

/** A skippable frame (RFC 8878 §3.1.2). */
const isSkipped = (bytes: Uint8Array): boolean => ((bytes[0] ?? 0) & 0xf0) === 0x50 && startsWith(bytes.subarray(1), [0x2a, 0x4d, 0x18]);

/** The coding of a body whose head names none: some servers send compressed files unchanged. */
export function unnamedCodingOf(bytes: Uint8Array): readonly Encoding[] {
  if (startsWith(bytes, GZIP_MAGIC)) return ["gzip"];
  return startsWith(bytes, ZSTD_MAGIC) ? ["zstd"] : [];
}

/**
 * RFC 1952 §2.3.1 and RFC 8878 §3.1.1 define magic numbers; in brotli and deflate sixteen bytes are hardly ever all
 * printable.
 */
function isPlain(encoding: Encoding, head: Uint8Array): boolean {
  if (encoding === "gzip") return !startsWith(head, GZIP_MAGIC.slice(0, 2)) && beginsAsText(head);
  if (encoding === "zstd") return !startsWith(head, ZSTD_MAGIC) && !isSkipped(head) && beginsAsText(head);
  return head.length >= HEAD_BYTES && beginsAsAscii(head);
}

// A body may be cut at 1 MB, so an early end is not an error: the output so far counts.
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
const ZSTD = { finishFlush: constants.ZSTD_e_flush };

const OPENERS: Readonly<Record<Encoding, (first: number) => Opened>> = {
  // Further members are decoded as well (RFC 1952 §2.2).
  gzip: () => createGunzip(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
  // RFC 9110 §8.4.1.2: some servers send "deflate" without the zlib header, whose low four bits are 8.
  deflate: (first) => ((first & 15) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  zstd: () => createZstdDecompress(ZSTD),
};
