/**
 * A parameter's text with one character a byte. What is computed has that form already; what a customer wrote out
 * (`written`) becomes UTF-8. Undefined where there is no text.
 */
export function byteText(value: unknown, written: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return value === written && /[^\x00-\x7f]/.test(value) ? Buffer.from(value).toString("latin1") : value;
}

/** The text as an address may hold it: every other byte percent-encoded (RFC 3986 §2.1). */
export const visibleBytes = (text: string): string =>
  text.replace(/[^\x21-\x7e]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
