/** Characters that file systems, databases and servers replace by ASCII (the best-fit mapping of Windows, and others). */
export const BEST_FITS: ReadonlyMap<number, string> = new Map([
  ...[0x2044, 0x2215, 0x29f8].map((point): [number, string] => [point, "/"]),
  ...[0x2216, 0x29f5, 0x29f9].map((point): [number, string] => [point, "\\"]),
  ...[0x2024, 0x3002, 0xfe52, 0xff61].map((point): [number, string] => [point, "."]),
  [0x2025, ".."],
  ...[0x2b9, 0x2bc, 0x2c8, 0x2032].map((point): [number, string] => [point, "'"]),
  ...[0x2ba, 0x2033].map((point): [number, string] => [point, '"']),
  ...Array.from("\u0110d\u0111d\u0126h\u0127h\u0130i\u0131i\u0141l\u0142l\u0166t\u0167t\u0180b".matchAll(/(.)(.)/gu)).map(
    ([, from = "", to = ""]): [number, string] => [from.codePointAt(0)!, to],
  ),
]);

/**
 * UTF-8 of the blocks whose characters may fold to ASCII: Latin-1's ordinals and superscripts, Latin with marks, modifiers, signs and
 * letterlike, circled and small forms, ligatures, squared words and the letters of mathematics. Of punctuation, only what best fits names.
 */
export const FOLDING =
  /\xc2[\xaa\xb2\xb3\xb9\xba]|[\xc4-\xcb][\x80-\xbf]|\xe1[\xb4-\xb6\xb8-\xbb][\x80-\xbf]|\xe2(?:\x80[\xa4\xa5\xb2\xb3]|\x81[\x84\xb0-\xbf]|[\x82-\x86\x91-\x93\xb1][\x80-\xbf]|\x88[\x95\x96]|\xa7[\xb5\xb8\xb9])|\xe3(?:\x80\x82|[\x8c-\x8f][\x80-\xbf])|\xef(?:\xac[\x80-\x86]|\xb9[\x80-\xbf])|\xea\x9f[\x80-\xbf]|\xf0(?:\x9c\xb3|\x9d[\x90-\x9f]|\x9f[\x84-\x86])[\x80-\xbf]/g;

/** By the bytes of UTF-8: at most as many as FOLDING matches. */
const folded = new Map<string, string>();

/** The ASCII that programs make of a character when they fold its case, its form or its marks; the same bytes if it is not ASCII. */
export function foldedBytes(bytes: string): string {
  let ascii = folded.get(bytes);
  if (ascii === undefined) {
    ascii = foldedText(Buffer.from(bytes, "latin1").toString("utf8")) ?? bytes;
    folded.set(bytes, ascii);
  }
  return ascii;
}

/** Null if it is not ASCII. */
function foldedText(text: string): string | null {
  const best = BEST_FITS.get(text.codePointAt(0) ?? 0);
  if (best !== undefined) return best;
  // linear: at most 80 bytes (the forms of one character)
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return /^[\x20-\x7e]+$/.test(plain) ? plain : null;
}
