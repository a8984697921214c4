import { createHash } from "node:crypto";

/** Names of name servers that zones get together. */
export type Pair = readonly string[];

/** The installation's name servers in pairs; an odd one joins the last pair. */
export function pairsOf(names: readonly string[]): readonly Pair[] {
  const count = Math.max(1, Math.floor(names.length / 2));
  return Array.from({ length: count }, (_, at) => names.slice(at * 2, at === count - 1 ? undefined : at * 2 + 2));
}

/**
 * The pair of a new zone: the account's usual one, unless it is taken. A pair is taken if the parent already delegates to
 * it, or if another account has, or recently had, a zone with it at, above or below this name: a delegation would then be
 * ambiguous. Null if none is free.
 */
export function choosePair(pool: readonly Pair[], accountId: string, usual: string | undefined, taken: ReadonlySet<string>): Pair | null {
  const free = pool.filter((pair) => !pair.some((name) => taken.has(name)));
  const found = free.find((pair) => JSON.stringify(pair) === usual);
  // Distributes accounts over the pairs, so that two accounts that claim one name rarely have the same.
  const at = createHash("sha256").update(accountId).digest().readUInt32BE(0) % Math.max(free.length, 1);
  return found ?? free[at] ?? null;
}
