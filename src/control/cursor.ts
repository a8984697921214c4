import type { CursorPage, CursorRequest } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/**
 * A page of items in the order of their keys. The cursor is the last key of the page, so items that are added or removed
 * between pages neither repeat nor hide others.
 */
export function pageAfter<T>(items: readonly T[], page: CursorRequest, keyOf: (item: T) => string): CursorPage<T> {
  const after = page.cursor === undefined ? "" : readCursor(page.cursor);
  const rest = items.filter((item) => keyOf(item) > after);
  const shown = rest.slice(0, page.per_page);
  const last = shown.at(-1);
  return { items: shown, after: last === undefined || rest.length <= shown.length ? null : writeCursor(keyOf(last)) };
}

export const writeCursor = (key: string): string => Buffer.from(key).toString("base64url");

/** Parses a cursor of `writeCursor`. Throws `invalid_input` for other text. */
export function readCursor(cursor: string): string {
  const key = Buffer.from(cursor, "base64url").toString();
  if (key === "" || key.includes("\0") || writeCursor(key) !== cursor)
    throw new PlatformError("invalid_input", { message: `"cursor" is invalid; use the one from the previous page.`, source: "/cursor" });
  return key;
}
