import { byteAt, unitAt } from "./hexadecimal.ts";

const char = String.fromCharCode;

/** Decodes `%41` and `+`; invalid escapes stay. */
export const urlDecode = (text: string): string => decodeUrl(text, false);

/** And `%u0041`, as Microsoft's servers read it. */
export const urlDecodeUni = (text: string): string => decodeUrl(text, true);

const PERCENT = 0x25;
const PLUS = 0x2b;

function decodeUrl(text: string, hasUnits: boolean): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  // The decoded text is never longer, so it overwrites the input.
  const bytes = Buffer.from(text, "latin1");
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = bytes[at]!;
    if (code === PERCENT) {
      const isUnit = hasUnits && (text.charCodeAt(at + 1) | 0x20) === 0x75;
      const byte = isUnit ? unitAt(text, at + 2) : byteAt(text, at + 1);
      bytes[length++] = byte === -1 ? code : byte;
      if (byte !== -1) at += isUnit ? 5 : 2;
    } else bytes[length++] = code === PLUS ? 0x20 : code;
  }
  return bytes.toString("latin1", 0, length);
}

export const urlEncode = (text: string): string =>
  text.replace(/[^A-Za-z0-9*]/g, (one) => (one === " " ? "+" : `%${one.charCodeAt(0).toString(16).padStart(2, "0")}`));

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", nbsp: "\xa0" };

/** `&lt;`, `&#60;` and `&#x3c;`, with the semicolon or without. */
export function htmlEntityDecode(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#[xX]([0-9a-fA-F]+)|#([0-9]+)|([A-Za-z]{1,8}));?/g, (whole, hex?: string, decimal?: string, name?: string) => {
    if (hex !== undefined) return char(Number.parseInt(hex.slice(-6), 16) & 0xff);
    if (decimal !== undefined) return char(Number(decimal.slice(-9)) & 0xff);
    return ENTITIES[name!.toLowerCase()] ?? whole;
  });
}

/** Decodes base64 up to the first invalid character. */
export function base64Decode(text: string): string {
  const end = text.search(/[^A-Za-z0-9+/=]/);
  return Buffer.from(end === -1 ? text : text.slice(0, end), "base64").toString("latin1");
}

/** Foreign bytes are removed. */
export const base64DecodeExt = (text: string): string => Buffer.from(text.replace(/[^A-Za-z0-9+/]+/g, ""), "base64").toString("latin1");
export const base64Encode = (text: string): string => Buffer.from(text, "latin1").toString("base64");
export const hexEncode = (text: string): string => Buffer.from(text, "latin1").toString("hex");
export const hexDecode = (text: string): string => Buffer.from(text, "hex").toString("latin1");

/** `0x414243`, as databases read it. */
export const sqlHexDecode = (text: string): string =>
  text.replace(
    /0[xX][0-9a-fA-F]{2,}/g,
    (number) => Buffer.from(number.slice(2), "hex").toString("latin1") + (number.length % 2 === 0 ? "" : number.slice(-1)),
  );
