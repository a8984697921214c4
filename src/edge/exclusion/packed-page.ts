import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";
import type { MemoryShare } from "#kernel/fair-memory.ts";
import { BodyBuffer } from "#edge/http/body-buffer.ts";

/** Codings of one page that are undone. */
const CODINGS_MAX = 2;
/** Longest page, packed and unpacked. */
const PACKED_BYTES_MAX = 1_048_576;
const PAGE_BYTES_MAX = 4_194_304;
/** A page may grow by this factor, or to this size: a bomb costs its sender little and the edge much. */
const GROWTH_MAX = 100;
const SMALL_BYTES = 65_536;
/** The longest window that decoders of zstd must have (RFC 9659 §3). */
const ZSTD_WINDOW_LOG_MAX = 23;

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }, done: (error: Error | null, page: Buffer) => void) => void;

const unpackGzip: Unpack = (bytes, options, done) => gunzip(bytes, options, done);

/** By name in Content-Encoding (RFC 9110 §8.4.1). The decoders run on other threads, and refuse what ends too early. */
const CODINGS: Readonly<Record<string, Unpack>> = {
  gzip: unpackGzip,
  "x-gzip": unpackGzip,
  // Some servers leave out the header of zlib, whose low four bits are 8.
  deflate: (bytes, options, done) => (((bytes[0] ?? 8) & 15) === 8 ? inflate : inflateRaw)(bytes, options, done),
  br: (bytes, options, done) => brotliDecompress(bytes, options, done),
  zstd: (bytes, options, done) =>
    zstdDecompress(bytes, { ...options, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }, done),
};

/** The codings that the edge can undo, in the order in which they were applied. Visitors ignore unknown ones, and read such bytes as they are. */
export const knownCodings = (values: readonly string[]): readonly string[] =>
  values
    .flatMap((value) => value.toLowerCase().split(","))
    .map((coding) => coding.trim())
    .filter((coding) => Object.hasOwn(CODINGS, coding));

/** A page whose origin has compressed it. It is gathered, and then unpacked as a whole, since a damaged one must not be shown in part. */
export class PackedPage {
  private readonly codings: readonly string[];
  private readonly memory: MemoryShare;
  private readonly bytes = new BodyBuffer(null);
  private taken = 0;

  constructor(codings: readonly string[], memory: MemoryShare) {
    this.codings = codings;
    this.memory = memory;
  }

  /** False if the page is too long, or memory is used up. */
  append(buffer: Buffer, start: number, end: number): boolean {
    this.bytes.append(buffer, start, end);
    const more = this.bytes.allocated - this.taken;
    this.taken += more;
    return this.bytes.length <= PACKED_BYTES_MAX && this.memory.take(more);
  }

  /** The page, later; or why it cannot be read within the bounds. */
  async unpack(): Promise<Buffer | "origin_malformed" | "overloaded"> {
    if (this.codings.length > CODINGS_MAX) return "origin_malformed";
    let page: Buffer = Buffer.concat(this.bytes.finish());
    // An empty response has nothing to decompress.
    if (page.length === 0) return page;
    for (const coding of this.codings.toReversed()) {
      const maxOutputLength = Math.min(PAGE_BYTES_MAX, Math.max(page.length * GROWTH_MAX, SMALL_BYTES));
      const unpack = CODINGS[coding];
      if (unpack === undefined) return "origin_malformed";
      if (!this.memory.take(maxOutputLength)) return "overloaded";
      const packed = page;
      const unpacked = await new Promise<Buffer | null>((resolve) =>
        unpack(packed, { maxOutputLength }, (error, bytes) => resolve(error === null ? bytes : null)),
      );
      if (unpacked === null) return "origin_malformed";
      page = unpacked;
    }
    return page;
  }

  /** Gives the memory back. */
  release(): void {
    this.memory.release();
  }
}
