import { isoOf, type TimeRange } from "../../api/time-range.ts";

/** The range as lists of the API take it. */
export const sinceUntil = ({ sinceMs, untilMs }: TimeRange): readonly (readonly [string, string])[] => [
  ["since", isoOf(sinceMs)],
  ["until", isoOf(untilMs)],
];
