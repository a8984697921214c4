import type { Compilable, CompiledQuery, DialectAdapter, Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** A query whose text is built once per dialect; a call fills in its parameters and returns the rows. */
export type PreparedQuery<P extends readonly unknown[], R> = (db: Kysely<Tables>, ...parameters: P) => Promise<R[]>;

/** Stands for a parameter while the text is built. */
class Placeholder {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

/**
 * Building a query and compiling it to text takes as long as running it, which matters for the few queries of every
 * record creation. `build` must only pass its parameters on as values, and never read them.
 */
export function prepareQuery<P extends readonly unknown[], R>(
  build: (db: Kysely<Tables>, ...parameters: P) => Compilable<R>,
): PreparedQuery<P, R> {
  const texts = new WeakMap<DialectAdapter, CompiledQuery<R>>();
  return async (db, ...parameters): Promise<R[]> => {
    const { adapter } = db.getExecutor();
    let text = texts.get(adapter);
    if (text === undefined) {
      text = build(db, ...(parameters.map((_, index) => new Placeholder(index)) as readonly unknown[] as P)).compile();
      texts.set(adapter, text);
    }
    const values = text.parameters.map((value) => (value instanceof Placeholder ? parameters[value.index] : value));
    return (await db.executeQuery<R>({ ...text, parameters: values })).rows;
  };
}
