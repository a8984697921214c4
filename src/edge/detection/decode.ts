import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { type Encoding, SCANNED_BYTES_MAX } from "./job.ts";

export interface Decoder {
  /** `taken` is called once the bytes are no longer needed, whatever became of them. */
  write(bytes: Uint8Array, taken: () => void): void;
  /** No more bytes come. `onEnd` follows. */
  end(): void;
}

export interface DecoderDeps {
  onData(bytes: Uint8Array): void;
  /** Once: everything was decoded, the bound was reached, or the rest is damaged. */
  onEnd(): void;
}

/** Undoes the codings, the last one first; null for none. */
export function createDecoders(codings: readonly Encoding[], deps: DecoderDeps): Decoder | null {
  let decoder: Decoder | null = null;
  for (const coding of codings) decoder = createDecoder(coding, decoder === null ? deps : writingTo(decoder));
  return decoder;
}

const writingTo = (decoder: Decoder): DecoderDeps => ({
  onData: (bytes) => decoder.write(bytes, () => undefined),
  onEnd: () => decoder.end(),
});

/** Undoes a content coding, stopping after 1 MiB of output: 1 GiB of zeros is 1.04 MB of gzip (sensitive-data.md). */
function createDecoder(encoding: Encoding, { onData, onEnd }: DecoderDeps): Decoder {
  let stream: Transform | null = null;
  let left = SCANNED_BYTES_MAX;
  let over = false;
  /** Of the bytes that zlib has not dealt with: of a body that is damaged it never says so. */
  const untaken = new Set<() => void>();

  const finish = (): void => {
    if (over) return;
    over = true;
    stream?.destroy();
    for (const release of untaken) release();
    onEnd();
  };

  const open = (first: number): Transform => {
    const opened = OPENERS[encoding](first);
    opened.on("data", (bytes: Buffer) => {
      if (over) return;
      onData(bytes.length > left ? bytes.subarray(0, left) : bytes);
      left -= bytes.length;
      if (left <= 0) finish();
    });
    opened.on("end", finish);
    opened.on("error", finish);
    return opened;
  };

  return {
    write: (bytes, taken) => {
      if (over || bytes.length === 0) return taken();
      stream ??= open(bytes[0] ?? 0);
      const release = (): void => {
        if (untaken.delete(release)) taken();
      };
      untaken.add(release);
      // The edge writes over it while zlib works on another thread, hence the copy.
      stream.write(Buffer.from(bytes), release);
    },
    end: () => {
      if (stream === null) finish();
      else if (!over) stream.end();
    },
  };
}

// A body may be cut at 1 MB, so an early end is no error: what came out so far counts.
const ZLIB = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
const ZSTD = { finishFlush: constants.ZSTD_e_flush };

const OPENERS: Readonly<Record<Encoding, (first: number) => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
  // RFC 9110 §8.4.1.2: some servers send "deflate" without the zlib header, whose low four bits are 8.
  deflate: (first) => ((first & 15) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB)),
  zstd: () => createZstdDecompress(ZSTD),
};
