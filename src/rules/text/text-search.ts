import { charge } from "#rules/budget.ts";
import { rememberTexts } from "./memo.ts";

/** The engine's search is linear for parts up to this length; beyond, it takes their product. */
const PART_BYTES_MAX = 250;

/** Like `indexOf`, but charges for the bytes that it passes. */
export function indexOfPart(text: string, part: string, from = 0): number {
  if (part.length > PART_BYTES_MAX) return indexOfLongPart(text, part, from);
  const found = text.indexOf(part, from);
  chargeSearch(text, part, (found === -1 ? text.length : found) - from);
  return found;
}

/** Searches with the part's prefix table (Knuth, Morris and Pratt). */
function indexOfLongPart(text: string, part: string, from: number): number {
  const start = indexOfPart(text, part.slice(0, PART_BYTES_MAX), from);
  if (start === -1) return -1;
  const borders = bordersOf(part);
  let matched = 0;
  let at = start;
  for (; at < text.length && matched < part.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === code) matched++;
  }
  charge((at - start + part.length) * START_STEPS);
  return matched === part.length ? at - matched : -1;
}

function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let i = 1; i < part.length; i++) {
    while (length > 0 && part.charCodeAt(length) !== part.charCodeAt(i)) length = borders[length - 1]!;
    if (part.charCodeAt(length) === part.charCodeAt(i)) length++;
    borders[i] = length;
  }
  return borders;
}

// Steps of a search that ends at once; per byte at which the part may begin; and the other bytes per step.
const SEARCH_STEPS = 30;
const START_STEPS = 6;
const BYTES_PER_STEP = 4;
/** From this length on, these bytes are counted. */
const COUNTED_BYTES_MIN = 1024;

function chargeSearch(text: string, part: string, walked: number): void {
  const most = SEARCH_STEPS + walked * START_STEPS;
  if (walked < COUNTED_BYTES_MIN) return charge(most);
  const starts = bytesOf(text)[part.charCodeAt(0)] ?? 0;
  charge(Math.min(most, starts * START_STEPS + Math.ceil(walked / BYTES_PER_STEP)));
}

/** How often each byte is in a text. */
const bytesOf = rememberTexts((text: string): Uint32Array => {
  const counts = new Uint32Array(256);
  for (let i = 0; i < text.length; i++) counts[text.charCodeAt(i) & 0xff]!++;
  return counts;
}, 2);
