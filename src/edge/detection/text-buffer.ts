/** Keeps the texts of bodies until their findings are known, within one limit for all. */
export interface TextBuffer {
  begin(): BufferedText;
}

export interface BufferedText {
  /** Copies the bytes. */
  add(bytes: Uint8Array): void;
  /** Returns the whole text and forgets it; null if there was no memory for it. */
  take(): Uint8Array | null;
}

const BYTES_MAX = 64 * 1024 * 1024;

export function createTextBuffer(bytesMax = BYTES_MAX): TextBuffer {
  let held = 0;
  return {
    begin: () => {
      let pieces: Buffer[] | null = [];
      let bytesOwn = 0;
      const release = (): void => {
        held -= bytesOwn;
        bytesOwn = 0;
        pieces = null;
      };
      return {
        add: (bytes) => {
          if (pieces === null) return;
          if (held + bytes.length > bytesMax) return release();
          held += bytes.length;
          bytesOwn += bytes.length;
          pieces.push(Buffer.from(bytes));
        },
        take: () => {
          const all = pieces === null ? null : Buffer.concat(pieces);
          release();
          return all;
        },
      };
    },
  };
}
