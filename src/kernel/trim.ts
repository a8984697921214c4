/** The text without trailing `char`s, in linear time; `/x+$/` would restart at each of them. */
export function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return end === text.length ? text : text.slice(0, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** The text without leading and trailing spaces and tabs (RFC 9110 §5.6.3). */
export function trimBlanks(text: string): string {
  let [from, end] = [0, text.length];
  while (from < end && isBlank(text.charCodeAt(from))) from++;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
  return end - from === text.length ? text : text.slice(from, end);
}
