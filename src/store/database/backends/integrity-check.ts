import type { SqliteThread } from "./sqlite-thread.ts";

/** Checks all pages of a database file, without comparing indexes with tables. */
export interface IntegrityCheck {
  /** Throws if damage is found within the time. */
  soon(withinMs: number): Promise<void>;
  /** The damage found by the complete check, or null. */
  later(): Promise<string | null>;
  close(): Promise<void>;
}

const SQLITE_CORRUPT = 11;

/** `known`: damage that was found before, or null. */
export function createIntegrityCheck(thread: SqliteThread, known: string | null): IntegrityCheck {
  let closed = false;
  const finding: Promise<unknown> = thread.query("PRAGMA quick_check(1)", []).then(
    ({ rows }) => {
      const text = known ?? Object.values(rows[0] ?? {})[0];
      return text === "ok" ? null : Object.assign(new Error(String(text).replaceAll("\n", " ")), { errcode: SQLITE_CORRUPT });
    },
    (error: unknown) => error,
  );
  // An open connection would prevent checkpoints.
  void finding.then(() => thread.close());
  return {
    soon: async (withinMs) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<null>((resolve) => {
        timer = setTimeout(() => resolve(null), withinMs);
      });
      const error = await Promise.race([finding, late]);
      clearTimeout(timer);
      if (error !== null) throw error;
    },
    later: async () => {
      const error = await finding;
      return error === null || closed ? null : error instanceof Error ? error.message : String(error);
    },
    close: async () => {
      closed = true;
      await thread.close();
    },
  };
}
