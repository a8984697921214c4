/**
 * A parameter's text with one character per byte. Computed values have that form already; a literal one (`written`) is
 * encoded as UTF-8. Undefined if the value is not a text.
 */
export function byteText(value: unknown, written: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value === written && /[^\x00-\x7f]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

/** The text with every byte that a URL cannot have percent-encoded (RFC 3986 §2.1). */
export const visibleBytes = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
