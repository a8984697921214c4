import { crc32 } from "node:zlib";

/** Bits per character, from the frequency of each in the text; random text of 20 characters and more has over 3. */
export function entropy(text: string): number {
  for (let place = 0; place < text.length; place++) (counts[text.charCodeAt(place) & 255] as number)++;
  let bits = 0;
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place) & 255;
    const count = counts[code] as number;
    if (count === 0) continue;
    bits -= (count / text.length) * Math.log2(count / text.length);
    counts[code] = 0;
  }
  return bits;
}

/** Counts by character, because scanned text has one char per byte; all 0 between two texts. */
const counts = new Uint16Array(256);

// Documentation uses keys with such words, which generators do not make.
// linear: pumped
const PLACEHOLDER = /example|xxxx|your[_-]?|placeholder|changeme|dummy|redacted|insert|sample|12345678|abcdefg|00000000|(.)\1{7}/i;

/** Whether the text is a placeholder for a secret. */
export const isPlaceholderSecret = (text: string): boolean => PLACEHOLDER.test(text);

/** Random enough, and not a placeholder. */
export const looksRandom = (text: string, bitsMin = 3): boolean => entropy(text) >= bitsMin && !isPlaceholderSecret(text);

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The last six characters hold the CRC-32 of the thirty before them, in base 62 (GitHub, npm). */
export function hasCrcSuffix(text: string): boolean {
  const random = text.slice(-36, -6);
  let rest = crc32(random);
  let suffix = "";
  for (let place = 0; place < 6; place++) {
    suffix = (BASE62[rest % 62] as string) + suffix;
    rest = Math.floor(rest / 62);
  }
  return text.endsWith(suffix);
}

/** A JSON Web Token: its head is a JSON object that names an algorithm (RFC 7519, RFC 7515 §4.1.1). */
export function isJwt(text: string): boolean {
  const [encoded = ""] = text.split(".", 1);
  const head = Buffer.from(encoded, "base64url").toString("utf8");
  // An exception costs ten times as much as this check, and a page may be full of text that only begins like a token.
  if (!head.startsWith("{") || !head.includes('"alg"') || !head.trimEnd().endsWith("}")) return false;
  try {
    const parsed: unknown = JSON.parse(head);
    return typeof parsed === "object" && parsed !== null && "alg" in parsed;
  } catch {
    return false;
  }
}

/** A token with only the public's rights, such as Supabase gives to pages: its claims say so. */
export function isAnonymousJwt(text: string): boolean {
  const claims = Buffer.from(text.split(".", 2)[1] ?? "", "base64url").toString("latin1");
  return /"role"\s{0,4}:\s{0,4}"(?:anon|anonymous|public)"/.test(claims);
}
