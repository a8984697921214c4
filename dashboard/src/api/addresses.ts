/** Addresses and networks from a text, one on each line or with commas between them. */
export const addressesOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter(Boolean);
