/** The two letters of countries, in either case. */
export interface Countries {
  /** Whether the two bytes at the place, which are letters, are one of them. */
  has(bytes: Uint8Array, at: number): boolean;
}

export function countriesOf(names: readonly string[]): Countries {
  const known = new Uint8Array(2 ** 10);
  for (const name of names) known[place(name.charCodeAt(0), name.charCodeAt(1))] = 1;
  return { has: (bytes, at) => known[place(bytes[at] ?? 0, bytes[at + 1] ?? 0)] === 1 };
}

/** Letters differ in their lower five bits. */
const place = (first: number, second: number): number => ((first & 31) << 5) | (second & 31);
