import type { ValueRange } from "./detector.ts";

/** The value is what stands behind what the pattern takes from the start on. */
export const valueBehind =
  (lead: RegExp): ((text: string) => ValueRange) =>
  (text) => [lead.exec(text)?.[0].length ?? 0, text.length];

/** The value is what the pattern finds, which goes on to the end. */
export const valueAtEnd =
  (tail: RegExp): ((text: string) => ValueRange) =>
  (text) => [tail.exec(text)?.index ?? 0, text.length];
