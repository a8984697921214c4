/** Names for the statements of one connection that are asked again and again: the server parses each of these once. */
export function createStatementNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>();
  let asked = new Map<string, number>();
  return (sql) => {
    const known = names.get(sql);
    if (known !== undefined || sql.length > CHARS_MAX || names.size === NAMES_MAX || hasOpenColumns(sql)) return known;
    const times = (asked.get(sql) ?? 0) + 1;
    if (times < ASKED_BEFORE) {
      if (asked.size === ASKED_MAX) asked = new Map();
      asked.set(sql, times);
      return undefined;
    }
    asked.delete(sql);
    const name = `sv${names.size}`;
    names.set(sql, name);
    return name;
  };
}

/** A migration by another process adds columns, and a server refuses a named statement whose columns have changed. */
const hasOpenColumns = (sql: string): boolean => sql.includes("*");

const ASKED_BEFORE = 5;
/** Each takes memory of the server for as long as the connection lasts. */
const NAMES_MAX = 200;
const ASKED_MAX = 500;
/** Longer ones are imports. */
const CHARS_MAX = 4_000;
