import { setImmediate } from "node:timers/promises";
import type { Compilable, Kysely } from "kysely";
import { type PreparedQuery, prepareQuery } from "./prepared-query.ts";
import type { Tables } from "./tables.ts";

/** A query over any number of tuples. */
export type SetQuery<P extends readonly unknown[], R> = (
  db: Kysely<Tables>,
  tuples: readonly (readonly unknown[])[],
  ...shared: P
) => Promise<R[]>;

// Few sizes, so that few statements are prepared.
const SIZES = [256, 64, 16, 4, 1] as const;
/** Values per statement, which runs without a pause: some milliseconds if a row has many indexes. Both dialects allow more. */
const VALUES_MAX = 2_000;

/** `touched`: values that a statement writes or deletes per tuple, if more than its parameters. */
export interface SetShape<P extends readonly unknown[]> {
  readonly width: number;
  readonly shared: P["length"];
  readonly touched?: number;
}

/**
 * Prepares a query over sets of tuples. `build` gets as many tuples of `width` values as fit one statement, and the
 * values that all statements share. Large sets yield to the event loop between statements.
 */
export function prepareSetQuery<P extends readonly unknown[], R>(
  { width, shared, touched = 0 }: SetShape<P>,
  build: (db: Kysely<Tables>, tuples: readonly (readonly unknown[])[], ...shared: P) => Compilable<R>,
): SetQuery<P, R> {
  const sizes = SIZES.filter((size) => size * Math.max(width, touched) <= VALUES_MAX);
  const statements = new Map<number, PreparedQuery<readonly unknown[], R>>(
    sizes.map((size) => [
      size,
      prepareQuery((db, ...values) => build(db, tuplesOf(values.slice(shared), width), ...(values.slice(0, shared) as unknown as P))),
    ]),
  );
  return async (db, tuples, ...sharedValues) => {
    const one = tuples.length === 1 ? statements.get(1) : undefined;
    if (one) return one(db, ...sharedValues, ...(tuples[0] as readonly unknown[]));
    const found: R[] = [];
    let done = 0;
    for (const size of sizes) {
      const statement = statements.get(size);
      for (; statement && tuples.length - done >= size; done += size) {
        for (const row of await statement(db, ...sharedValues, ...tuples.slice(done, done + size).flat())) found.push(row);
        if (size === sizes[0]) await setImmediate();
      }
    }
    return found;
  };
}

const tuplesOf = (values: readonly unknown[], width: number): unknown[][] =>
  Array.from({ length: values.length / width }, (_, i) => values.slice(i * width, (i + 1) * width));
