/** TIFF 6.0, "Copyright". */
const COPYRIGHT = 0x8298;
const ASCII = 2;
const ENTRY_BYTES = 12;
const LENGTH_MAX = 2_000;

/** The copyright notice in EXIF data (TIFF 6.0, part 1); null without one. */
export function exifCopyright(exif: Buffer): string | null {
  const data = exif.toString("latin1", 0, 6) === "Exif\0\0" ? exif.subarray(6) : exif;
  if (data.length < 8) return null;
  const isLittle = data.toString("latin1", 0, 2) === "II";
  const u16 = (at: number): number => (at + 2 > data.length ? 0 : isLittle ? data.readUInt16LE(at) : data.readUInt16BE(at));
  const u32 = (at: number): number => (at + 4 > data.length ? 0 : isLittle ? data.readUInt32LE(at) : data.readUInt32BE(at));
  const directory = u32(4);
  const entries = Math.min(u16(directory), 512);
  for (let i = 0; i < entries; i++) {
    const at = directory + 2 + i * ENTRY_BYTES;
    if (at + ENTRY_BYTES > data.length) return null;
    if (u16(at) !== COPYRIGHT || u16(at + 2) !== ASCII) continue;
    const length = u32(at + 4);
    const start = length <= 4 ? at + 8 : u32(at + 8);
    if (length === 0 || length > LENGTH_MAX || start + length > data.length) return null;
    const text = data
      .toString("utf8", start, start + length)
      .replaceAll("\0", " ")
      .trim();
    return text === "" ? null : text;
  }
  return null;
}
