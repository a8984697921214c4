import type { Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { type Encoding, SCANNED_BYTES_MAX } from "./job.ts";

export interface Decoder {
  write(bytes: Uint8Array): void;
  /** No more bytes come. `onEnd` follows. */
  end(): void;
}

export interface DecoderDeps {
  onData(bytes: Uint8Array): void;
  /** Once: everything was decoded, the bound was reached, or the rest is damaged. */
  onEnd(): void;
}

/** What all decoders of a thread together have before them. */
export interface DecodingLoad {
  /** Coded bytes that have not been dealt with. */
  bytes: number;
  /** Decoders that have such bytes, or are on the way to their end. */
  decoders: number;
}

/** Undoes the codings, the last one first; null for none. */
export function createDecoders(codings: readonly Encoding[], load: DecodingLoad, deps: DecoderDeps): Decoder | null {
  let decoder: Decoder | null = null;
  for (const coding of codings)
    decoder = createDecoder(coding, load, decoder === null ? deps : { onData: decoder.write, onEnd: decoder.end });
  return decoder;
}

/** Undoes a content coding, stopping after 1 MiB of output: 1 GiB of zeros is 1.04 MB of gzip (sensitive-data.md). */
function createDecoder(encoding: Encoding, load: DecodingLoad, { onData, onEnd }: DecoderDeps): Decoder {
  let stream: Transform | null = null;
  let left = SCANNED_BYTES_MAX;
  let bytesBefore = 0;
  let [isBusy, isEnding, over] = [false, false, false];

  /** Of a body that is damaged zlib never says that it is done with its bytes. */
  const have = (bytes: number): void => {
    load.bytes += bytes - bytesBefore;
    bytesBefore = bytes;
    const isBusyNow = !over && (bytes > 0 || isEnding);
    if (isBusyNow !== isBusy) load.decoders += isBusyNow ? 1 : -1;
    isBusy = isBusyNow;
  };

  const finish = (): void => {
    if (over) return;
    over = true;
    stream?.destroy();
    have(0);
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
    write: (bytes) => {
      const { length } = bytes;
      if (over || length === 0) return;
      stream ??= open(bytes[0] ?? 0);
      have(bytesBefore + length);
      // The edge writes over it while zlib works on another thread, hence the copy.
      stream.write(Buffer.from(bytes), () => over || have(bytesBefore - length));
    },
    end: () => {
      if (stream === null) return finish();
      isEnding = true;
      have(bytesBefore);
      if (!over) stream.end();
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
