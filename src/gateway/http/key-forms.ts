/** Shorter values could be ordinary words. */
const KEY_CHARACTERS_MIN = 6;
const BASE64_BITS = 6;

/**
 * The forms in which programs write a key that they repeat: plain, in JSON, in a URL, and in base64 after any other
 * bytes. Empty for a key that is too short to be distinguished from words.
 */
export function keyForms(key: string): readonly Buffer[] {
  if (key.length < KEY_CHARACTERS_MIN) return [];
  const bytes = Buffer.from(key);
  const json = JSON.stringify(key).slice(1, -1);
  const url = encodeURIComponent(key);
  const strict = url.replaceAll(/[!'()*]/g, percent);
  const texts = [
    ...[key, json, json.replaceAll("/", "\\/"), json.replaceAll(/[<>&'+=]/g, unicode)],
    ...[url, strict, strict.replaceAll("%20", "+"), strict.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())],
    ...[0, 1, 2].flatMap((before) => [base64Behind(before, bytes, "base64"), base64Behind(before, bytes, "base64url")]),
  ];
  return Array.from(new Set(texts), (text) => Buffer.from(text));
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The characters that depend only on the key, in base64 of a text with the key after `before` bytes, or a multiple of three more. */
function base64Behind(before: number, key: Buffer, coding: "base64" | "base64url"): string {
  const text = Buffer.concat([Buffer.alloc(before), key]);
  return text.toString(coding).slice(Math.ceil((before * 8) / BASE64_BITS), Math.floor((text.length * 8) / BASE64_BITS));
}
