const BLOCK = 512;

/** Receives the files of an archive, one after the other. */
export interface TarTaker {
  begin(name: string, size: number): Promise<void> | void;
  bytes(bytes: Buffer): Promise<void> | void;
  end(): Promise<void> | void;
}

/** Reads an archive written by `writeTar` or by tar itself, with regular files only. Throws if it has others, or is incomplete. */
export async function readTar(source: AsyncIterable<Buffer>, taker: TarTaker): Promise<void> {
  const header = Buffer.alloc(BLOCK);
  let headerBytes = 0;
  let left = 0;
  let padding = 0;
  let isOver = false;
  for await (const piece of source) {
    for (let at = 0; at < piece.length && !isOver;) {
      if (left > 0) {
        const bytes = piece.subarray(at, at + left);
        await taker.bytes(bytes);
        at += bytes.length;
        left -= bytes.length;
        if (left === 0) await taker.end();
      } else if (padding > 0) {
        const skipped = Math.min(padding, piece.length - at);
        at += skipped;
        padding -= skipped;
      } else {
        const copied = piece.copy(header, headerBytes, at, at + BLOCK - headerBytes);
        at += copied;
        headerBytes += copied;
        if (headerBytes < BLOCK) continue;
        headerBytes = 0;
        isOver = header.every((byte) => byte === 0);
        if (isOver) continue;
        const { name, size } = read(header);
        left = size;
        padding = (BLOCK - (size % BLOCK)) % BLOCK;
        await taker.begin(name, size);
        if (size === 0) await taker.end();
      }
    }
  }
  if (!isOver) throw new Error("the archive is incomplete");
}

function read(header: Buffer): { readonly name: string; readonly size: number } {
  const text = (from: number, to: number): string => header.toString("utf8", from, to).split("\0", 1)[0] ?? "";
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  if (Number.parseInt(text(148, 156), 8) !== sum) throw new Error("the archive is damaged");
  if (text(257, 262) !== "ustar" || text(156, 157) !== "0" || text(345, 500) !== "")
    throw new Error("the archive contains something other than regular files");
  const size = (header[124] ?? 0) & 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 136), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error("the archive is damaged");
  return { name: text(0, 100), size };
}
