/** A seeded sequence (mulberry32): the same texts in every run. */
export function createChoice(seed: number): <T>(items: readonly T[]) => T {
  let state = seed;
  return (items) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length]!;
  };
}

/** Replaces each `‹slot›` by one of its words. */
export const filled = (form: string, slots: Readonly<Record<string, readonly string[]>>, choose: <T>(items: readonly T[]) => T): string =>
  form.replace(/‹([a-z]+)›/g, (_whole, slot: string) => choose(slots[slot] ?? [""]));
