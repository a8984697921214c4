import type { ValueRange } from "./detector.ts";

/** The value follows the text that the pattern matches at the start. */
export const valueBehind =
  (lead: RegExp): ((text: string) => ValueRange) =>
  (text) => [lead.exec(text)?.[0].length ?? 0, text.length];

/** The value is the match of the pattern, which extends to the end. */
export const valueAtEnd =
  (tail: RegExp): ((text: string) => ValueRange) =>
  (text) => [tail.exec(text)?.index ?? 0, text.length];
