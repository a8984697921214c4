import type { Call, Page, PageRequest } from "#control/call.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AuditLog, AuditLogQuery } from "#model/access/audit-log.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import { createPages, isQuick } from "#control/pages.ts";
import { acceptedMemberships } from "#store/access/memberships.ts";
import { ownUser } from "#control/sign-in/own-user.ts";
import { type AuditOwner, type AuditRow, auditLogOf, countAuditLog, usersOfActors } from "#store/access/audit-log.ts";
import { auditExcesses, deleteAuditsBefore, deleteOldestAudits } from "#store/access/audit-log-retention.ts";
import { listState } from "#store/queries/list-pages.ts";
import type { Store } from "#store/database/store.ts";
import { listUserTokens } from "#store/access/tokens.ts";
import { findUserByEmail } from "#store/access/users.ts";

/** The changes in an account, or by a user. Throws `invalid_input` for an invalid time. */
export interface AuditLogs {
  list(accountId: string, query: AuditLogQuery, page: PageRequest): Promise<Page<AuditLog>>;
  /** Changes by the caller's user and its tokens: in its accounts, and those that concern no account. */
  listOwn(call: Call, query: AuditLogQuery, page: PageRequest): Promise<Page<AuditLog>>;
  /** Deletes rows that are too old, and an owner's oldest above the limit. */
  forget(): Promise<void>;
}

export interface AuditLogsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long rows are kept, and how many of an account, or of a user or token outside of accounts. */
  readonly retention: { readonly days: number; readonly rowsMax: number };
}

export const AUDIT_RETENTION: AuditLogsDeps["retention"] = { days: 548, rowsMax: 500_000 };

const DAY_MS = 86_400_000;
/** Rows per transaction. */
const PIECE_ROWS = 500;

export function createAuditLogs({ store, clock, retention }: AuditLogsDeps): AuditLogs {
  const pages = createPages();
  const read = async (owner: AuditOwner, ownerId: string, query: AuditLogQuery, page: PageRequest): Promise<Page<AuditLog>> => {
    const { "actor.email": email, "zone.name": zone } = query;
    const filter = {
      id: query.id,
      action: query["action.type"],
      actorIp: query["actor.ip"],
      actorIds: email === undefined ? undefined : await actorsWithEmail(store.read, email),
      zoneName: zone?.toLowerCase(),
      since: columnOf("since", query.since),
      before: columnOf("before", query.before),
    };
    const isWhole = "account" in owner && Object.values(filter).every((test) => test === undefined);
    const state = await listState(store.read, "audit_log", "account" in owner ? [owner.account] : owner.accounts);
    const db = isQuick(state, isWhole) ? store.read : store.scan;
    const direction = query.direction ?? "desc";
    const { items: rows, total_count } = await pages({
      list: [owner, filter, direction],
      state,
      isWhole,
      page,
      items: (part) => auditLogOf(db, owner, filter, direction, part),
      count: () => countAuditLog(db, owner, filter),
      keyOf: ({ id }) => [id],
      view: (row) => row,
    });
    const users = await usersOfActors(store.read, [...new Set(rows.map((row) => row.actor_id))]);
    const items = rows.map((row): AuditLog => {
      const user = users.get(row.actor_id);
      return {
        id: row.id,
        when: row.at,
        action: { type: row.action, result: true },
        actor: {
          ...{ type: user === undefined ? "admin" : "user", id: user?.id ?? row.actor_id, ip: row.actor_ip },
          ...(user === undefined ? {} : { email: user.email }),
          ...(row.api_date === null ? {} : { api_date: row.api_date }),
        },
        owner: { id: row.account_id ?? ownerId },
        interface: "API",
        resource: { type: row.resource_type, id: row.resource_id },
        metadata: {
          actor_type: row.actor_type,
          ...(row.actor_type === "token" ? { token_id: row.actor_id } : {}),
          ...(row.zone_id === null ? {} : { zone_id: row.zone_id }),
          ...changedPin(row),
        },
      };
    });
    return { items, ...page, total_count };
  };

  return {
    list: (accountId, query, page) => read({ account: accountId }, accountId, query, page),
    listOwn: async (call, query, page) => {
      const id = ownUser(call);
      if (query.hide_user_logs === "true") return { items: [], ...page, total_count: 0 };
      const actors = [id, ...(await listUserTokens(store.read, id)).map((token) => token.id)];
      const accounts = (await acceptedMemberships(store.read, id)).map(({ account_id }) => account_id);
      return read({ actors, accounts }, id, query, page);
    },
    forget: async () => {
      const oldest = newUlid(clock.nowMs() - retention.days * DAY_MS);
      for (let deleted = PIECE_ROWS; deleted === PIECE_ROWS;)
        deleted = (await store.write(({ db }) => deleteAuditsBefore(db, oldest, PIECE_ROWS))).result;
      for (const { owner, rows } of await auditExcesses(store.scan, retention.rowsMax))
        for (let left = rows; left > 0; left -= PIECE_ROWS)
          await store.write(({ db }) => deleteOldestAudits(db, owner, Math.min(left, PIECE_ROWS)));
    },
  };
}

/** The API date that the change set on its token or account; empty if it set none. */
function changedPin({ before, after }: AuditRow): { readonly api_date?: string | null } {
  const pin = (json: string | null): string | null =>
    json === null ? null : ((JSON.parse(json) as { api_date?: string }).api_date ?? null);
  const now = pin(after);
  return after === null || now === pin(before) ? {} : { api_date: now };
}

/** Ids of the user with the address and of the user's tokens; an id that matches nothing if no user has it. */
export async function actorsWithEmail(db: Store["read"], email: string): Promise<readonly string[]> {
  const user = await findUserByEmail(db, email.toLowerCase());
  return user === undefined ? [""] : [user.id, ...(await listUserTokens(db, user.id)).map(({ id }) => id)];
}

/** Converts a time or a date to the column's format; a date means its beginning. */
export function columnOf(parameter: "since" | "before", text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ms = parseTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (ms === undefined)
    throw new PlatformError("invalid_input", {
      message: `"${parameter}" must be an RFC 3339 date or time.`,
      source: `/${parameter}`,
    });
  return isoMicros(ms * 1000);
}
