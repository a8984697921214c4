import type { Transform } from "node:stream";
import { brotliCompressSync, constants, createBrotliCompress, createGzip, createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { Coding } from "#edge/exchange/decisions.ts";

/** Bodies of at most this length are compressed in one call, which ends before a thread of the pool would have begun. Bytes. */
export const WHOLE_BYTES_MAX = 32_768;

/** Streams per thread, each of up to a megabyte; further responses are sent uncompressed. */
const STREAMS_MAX = 200;

/** Compresses bodies in one worker. */
export interface Codecs {
  /** True if one more stream may be opened. */
  hasRoom(): boolean;
  /** Flushes with each write. Must be ended or destroyed. */
  open(coding: Coding): Transform;
  whole(coding: Coding, body: Uint8Array): Buffer;
  /** Like `whole`, for a body in the cache, which never changes: the result is kept while there is room. */
  kept(coding: Coding, body: Buffer): Buffer;
}

/** Cached bodies of at most this length are compressed in one call, since that happens once. Bytes. */
export const CACHED_BODY_BYTES_MAX = 262_144;
/** Kept results of one thread, together with their bodies, which may have left the cache. Bytes. */
const KEPT_BYTES_MAX = 16_777_216;

// Levels at which a core compresses 50 MB a second or more, and windows that keep a stream below a megabyte.
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

/** Keyed by the buffer itself, so that a replaced or purged body is never sent again. Evicts the oldest first. */
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
