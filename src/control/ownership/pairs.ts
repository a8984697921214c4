import { createHash } from "node:crypto";

/** Name servers that zones are given together, by name. */
export type Pair = readonly string[];

/** The installation's name servers two by two; an odd one belongs to the last pair. */
export function pairsOf(names: readonly string[]): readonly Pair[] {
  const count = Math.max(1, Math.floor(names.length / 2));
  return Array.from({ length: count }, (_, at) => names.slice(at * 2, at === count - 1 ? undefined : at * 2 + 2));
}

/**
 * The pair that a new zone is given: the account's usual one, unless it is taken: the parent names it already, or others have,
 * or had until recently, a zone by it at, above or below this name. Then a delegation to it would not tell who is meant. Null
 * where none is left.
 */
export function choosePair(pool: readonly Pair[], accountId: string, usual: string | undefined, taken: ReadonlySet<string>): Pair | null {
  const free = pool.filter((pair) => !pair.some((name) => taken.has(name)));
  const found = free.find((pair) => JSON.stringify(pair) === usual);
  // Accounts are spread over the pool, so that two that claim one name seldom have the same.
  const at = createHash("sha256").update(accountId).digest().readUInt32BE(0) % Math.max(free.length, 1);
  return found ?? free[at] ?? null;
}
