const BLOCK = 512;
/** The most that eleven octal digits can say; GNU tar writes more in binary. */
const OCTAL_MAX = 0o77777777777;

/** A file of an archive: exactly `size` bytes, even if the file changes meanwhile. */
export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string;
  readonly size: number;
  /** Seconds since 1970. */
  readonly modified: number;
  readonly content: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** The bytes of a ustar archive (POSIX.1-1988) with these files, which only their owner may read. */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Buffer> {
  for await (const { name, size, modified, content } of entries) {
    yield headerOf(name, size, modified);
    let left = size;
    for await (const bytes of content) {
      left -= bytes.length;
      if (left < 0) throw new Error(`${name} grew while it was read`);
      yield bytes;
    }
    if (left > 0) throw new Error(`${name} shrank while it was read`);
    if (size % BLOCK > 0) yield Buffer.alloc(BLOCK - (size % BLOCK));
  }
  yield Buffer.alloc(2 * BLOCK);
}

function headerOf(name: string, size: number, modified: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`the path is too long for an archive: ${name}`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void =>
    void header.write(value.toString(8).padStart(digits, "0"), at, digits, "latin1");
  header.write(name, 0, "utf8");
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (size <= OCTAL_MAX) octal(size, 124, 11);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(Math.floor(modified), 136, 11);
  header.fill(" ", 148, 156);
  header.write("0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}
