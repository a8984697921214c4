import type { FoundValue } from "./tallies.ts";

/** Longest value that is found whole. Heads and forms hold no longer credential. */
export const VALUE_BYTES_MAX = 16_384;
const EQUALS = 0x3d;
const EQUALS_MAX = 2;

/** Characters of tokens in every alphabet that is written without escapes. */
const GOES_ON = new Uint8Array(256);
for (const char of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/")) GOES_ON[char] = 1;

/**
 * Secrets that go on behind the window of their match. They are found whole, also if the rest arrives later: the rest would stay
 * readable beside a masked beginning, and each rule would have another hash of the value.
 */
export class LongValues {
  private open: (FoundValue & { readonly ends: Ends })[] = [];
  private readonly onFound: (found: FoundValue) => void;

  constructor(onFound: (found: FoundValue) => void) {
    this.onFound = onFound;
  }

  get isEmpty(): boolean {
    return this.open.length === 0;
  }

  /**
   * Takes a find that ends at `view[at]`, where its window ends; `base` is the offset of the view. Returns the bytes that were read. A
   * later match inside the same value is part of it.
   */
  add(found: FoundValue, view: Buffer, base: number): number {
    if (this.open.some(({ detector }) => detector === found.detector)) return 0;
    const ends = { equals: 0 };
    const to = runEnd(view, found.to - base, found.valueFrom - base + VALUE_BYTES_MAX, ends);
    const longer = grown(found, view, base, to);
    if (to < view.length || to === longer.valueFrom - base + VALUE_BYTES_MAX) this.onFound(longer);
    else this.open.push({ ...longer, ends });
    return to + base - found.to;
  }

  /** Reads on in a view with further bytes. */
  goOn(view: Buffer, base: number): void {
    if (this.isEmpty) return;
    const waiting = this.open.splice(0);
    for (const { ends, ...found } of waiting) {
      const max = found.valueFrom - base + VALUE_BYTES_MAX;
      const to = runEnd(view, found.to - base, max, ends);
      const longer = grown(found, view, base, to);
      if (to < view.length || to === max) this.onFound(longer);
      else this.open.push({ ...longer, ends });
    }
  }

  /** The text has ended. */
  end(): void {
    for (const found of this.open.splice(0)) this.onFound(found);
  }
}

interface Ends {
  /** Signs at the end of base64, which ends the value. */
  equals: number;
}

function runEnd(view: Buffer, from: number, max: number, ends: Ends): number {
  const stop = Math.min(view.length, max);
  let at = from;
  if (ends.equals === 0) while (at < stop && GOES_ON[view[at]!] === 1) at++;
  while (at < stop && ends.equals < EQUALS_MAX && view[at] === EQUALS) [at, ends.equals] = [at + 1, ends.equals + 1];
  return at;
}

const grown = (found: FoundValue, view: Buffer, base: number, to: number): FoundValue => ({
  ...found,
  to: to + base,
  valueTo: to + base,
  value: found.value + view.toString("latin1", found.to - base, to),
});
