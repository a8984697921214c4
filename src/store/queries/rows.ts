import { setImmediate } from "node:timers/promises";
import type { Dialect, Session, Statement } from "./session.ts";

/** A table and its columns in the order of the values for `insertRows`. */
export interface RowShape {
  readonly table: string;
  readonly columns: readonly string[];
}

// Few sizes, so that few statements are prepared. On PostgreSQL each is a round trip, so one more statement takes what is left.
const [LARGE, SMALL] = [64, 8] as const;

/** Large inserts yield to the event loop after this many rows. */
const ROWS_PER_TURN = 1024;

/** Inserts many rows in few statements, whose constant texts stay prepared. */
export async function insertRows(
  session: Session,
  dialect: Dialect,
  shape: RowShape,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  let done = 0;
  for (const { sql, parameters } of insertsOf(dialect, shape, rows)) {
    await session.query(sql, parameters);
    done += parameters.length / shape.columns.length;
    if (done % ROWS_PER_TURN === 0) await setImmediate();
  }
}

/** The statements of `insertRows`. */
export function* insertsOf(dialect: Dialect, shape: RowShape, rows: readonly (readonly unknown[])[]): Generator<Required<Statement>> {
  let done = 0;
  for (const size of [LARGE, SMALL, rows.length % SMALL])
    for (; size > 0 && rows.length - done >= size; done += size)
      yield { sql: insertText(dialect, shape, size), parameters: rows.slice(done, done + size).flat() };
}

const texts = new Map<string, string>();

function insertText(dialect: Dialect, { table, columns }: RowShape, rowCount: number): string {
  const key = `${dialect.name} ${table} ${rowCount}`;
  let text = texts.get(key);
  if (text === undefined) {
    const row = (_: unknown, r: number): string => `(${columns.map((_, c) => dialect.placeholder(r * columns.length + c + 1)).join(", ")})`;
    const names = columns.map((name) => `"${name}"`).join(", ");
    text = `INSERT INTO ${table} (${names}) VALUES ${Array.from({ length: rowCount }, row).join(", ")}`;
    texts.set(key, text);
  }
  return text;
}
