import { createPattern } from "./pattern.ts";

/** Whether a tag or message is meant by a directive: a pattern, which most of the time is a plain text. Throws PatternError. */
export function namePattern(source: string): (text: string) => boolean {
  if (/^[\w /-]*$/.test(source)) return (text) => text.includes(source);
  const pattern = createPattern(source);
  return (text) => pattern.test(text);
}
