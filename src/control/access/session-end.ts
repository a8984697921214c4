import { SESSION_IDLE_SECONDS } from "#model/access/session.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import type { SessionRow } from "#store/access/sessions.ts";

/** When the session ends if it is not used again. */
export const sessionEndMs = (row: Pick<SessionRow, "last_seen_on" | "expires_on">): number =>
  Math.min(parseTimestamp(row.expires_on) ?? 0, (parseTimestamp(row.last_seen_on) ?? 0) + SESSION_IDLE_SECONDS * 1000);
