import type { Transform } from "node:stream";
import { brotliCompressSync, constants, createBrotliCompress, createGzip, createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { Coding } from "#edge/exchange/decisions.ts";

/** Bodies of at most this length are compressed in one go, which is done before a thread of the pool would have begun. */
export const WHOLE_BYTES_MAX = 32_768;

/** A stream holds up to a megabyte: so many at once in a thread, and other responses pass as they are. */
const STREAMS_MAX = 200;

/** What compresses bodies in one worker. */
export interface Codecs {
  /** There is room for one more stream. */
  hasRoom(): boolean;
  /** Writes out what it was given with each write. Destroy it, or take it to its end. */
  open(coding: Coding): Transform;
  whole(coding: Coding, body: Uint8Array): Buffer;
  /** The same of a body that the cache keeps, which does not change: done once, as long as there is room for what came of it. */
  kept(coding: Coding, body: Buffer): Buffer;
}

/** Cached bodies of at most this length are compressed in one go, since it is done once. */
export const KEPT_BODY_BYTES_MAX = 262_144;
/** What is kept of them in one thread, the bodies themselves counted: they may have left the cache. */
const KEPT_BYTES_MAX = 16_777_216;

// Levels at which a core compresses some 50 MB a second and more; windows that keep a stream below a megabyte.
const GZIP = { level: 5, memLevel: 8 };
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 };
const ZSTD = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 18 };

interface Codec {
  readonly open: () => Transform;
  readonly whole: (body: Uint8Array) => Buffer;
}

const CODECS: Readonly<Record<Coding, Codec>> = {
  gzip: { open: () => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }), whole: (body) => gzipSync(body, GZIP) },
  br: {
    open: () => createBrotliCompress({ params: BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
    whole: (body) => brotliCompressSync(body, { params: { ...BROTLI, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  },
  zstd: {
    open: () => createZstdCompress({ params: ZSTD, flush: constants.ZSTD_e_flush }),
    whole: (body) => zstdCompressSync(body, { params: ZSTD }),
  },
};

export function createCodecs(metrics: MetricRegistry): Codecs {
  const open = metrics.gauge("selvedge_edge_compressing", "Response bodies currently being compressed");
  return {
    hasRoom: () => open.value < STREAMS_MAX,
    open: (coding) => {
      const stream = CODECS[coding].open();
      open.value++;
      stream.once("close", () => open.value--);
      return stream;
    },
    whole,
    kept: createKept(whole, metrics.counter("selvedge_edge_compression_cache_hits_total", "Compressed bodies reused from the cache")),
  };
}

const whole: Codecs["whole"] = (coding, body) => CODECS[coding].whole(body);

/** By the very buffer, so that nothing of a body that was replaced or purged is ever sent again. The oldest go first. */
function createKept(compress: Codecs["whole"], again: Metric): Codecs["kept"] {
  const byBody = new Map<Buffer, Map<Coding, Buffer>>();
  let bytes = 0;
  const forgetOldest = (): void => {
    const [oldest] = byBody;
    if (oldest === undefined) return;
    byBody.delete(oldest[0]);
    bytes -= oldest[0].length;
    for (const encoded of oldest[1].values()) bytes -= encoded.length;
  };
  return (coding, body) => {
    let codings = byBody.get(body);
    const known = codings?.get(coding);
    if (known !== undefined) {
      again.value++;
      return known;
    }
    const encoded = compress(coding, body);
    if (codings === undefined) {
      byBody.set(body, (codings = new Map()));
      bytes += body.length;
    }
    codings.set(coding, encoded);
    bytes += encoded.length;
    while (bytes > KEPT_BYTES_MAX) forgetOldest();
    return encoded;
  };
}
