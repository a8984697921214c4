import type { CursorPage, CursorRequest } from "#control/call.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { AuditEvent, AuditEventQuery, AuditKind } from "#model/access/audit-event.ts";
import { actorsWithEmail, columnOf } from "#control/access/audit-logs.ts";
import { listUserTokens } from "#store/access/tokens.ts";
import { type ActorUser, type AuditRow, auditLogOf, namesOfZones, usersOfActors } from "#store/access/audit-log.ts";
import { findAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";

/** The changes in an account in the second form, by cursor. Throws `invalid_input` for an invalid time or cursor. */
export interface AuditEvents {
  list(accountId: string, query: AuditEventQuery, page: CursorRequest): Promise<CursorPage<AuditEvent>>;
}

export const createAuditEvents = ({ store }: { readonly store: Store }): AuditEvents => ({
  list: async (accountId, query, { cursor, per_page }) => {
    // A change by a user's token has the user's identifier.
    const tokensOf = async (id: string): Promise<readonly string[]> => (await listUserTokens(store.read, id)).map((token) => token.id);
    const { direction = "desc", limit = per_page, actor_email: email } = query;
    if (cursor !== undefined && !/^[0-9A-Z]{26}$/.test(cursor))
      throw new PlatformError("invalid_input", { message: `"cursor" is not one that this list gave.`, source: "/cursor" });
    const actors = [
      ...(query.actor_id === undefined ? [] : [[query.actor_id, ...(await tokensOf(query.actor_id))]]),
      ...(query.actor_token_id === undefined ? [] : [[query.actor_token_id]]),
      ...(email === undefined ? [] : [await actorsWithEmail(store.read, email)]),
    ];
    const filter = {
      id: query.id,
      kind: query.action_type,
      actorIp: query.actor_ip_address,
      actorIds: actors.length === 0 ? undefined : actors.reduce((all, ids) => all.filter((id) => ids.includes(id))),
      resourceId: query.resource_id,
      resourceType: query.resource_type,
      zoneId: query.zone_id,
      zoneName: query.zone_name?.toLowerCase(),
      since: columnOf("since", query.since),
      before: columnOf("before", query.before),
    };
    const from = cursor === undefined ? null : { position: 0, row: [cursor] };
    const rows = await auditLogOf(store.scan, { account: accountId }, filter, direction, { limit: limit + 1, offset: 0, from });
    const shown = rows.slice(0, limit);
    const account = { id: accountId, name: (await findAccount(store.read, accountId))?.name ?? "" };
    const users = await usersOfActors(store.read, [...new Set(shown.map((row) => row.actor_id))]);
    const zones = await namesOfZones(store.read, [...new Set(shown.flatMap((row) => row.zone_id ?? []))]);
    const items = shown.map((row) => eventOf(row, account, users.get(row.actor_id), zones));
    return { items, after: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  },
});

const KINDS: ReadonlyMap<string, AuditKind> = new Map([
  ["create", "create"],
  ["delete", "delete"],
]);

function eventOf(
  row: AuditRow,
  account: AuditEvent["account"],
  user: ActorUser | undefined,
  zones: ReadonlyMap<string, string>,
): AuditEvent {
  const { zone_id, resource_type: type } = row;
  const isToken = row.actor_type === "token";
  const name = zone_id === null ? undefined : zones.get(zone_id);
  return {
    id: row.id,
    account,
    action: {
      type: KINDS.get(row.action.slice(row.action.lastIndexOf(".") + 1)) ?? "update",
      description: row.action,
      result: "success",
      time: row.at,
    },
    actor: {
      id: user?.id ?? row.actor_id,
      type: row.actor_type === "system" ? "system" : user === undefined ? "account" : "user",
      ...(row.actor_type === "system" ? {} : { context: isToken ? ("api_token" as const) : ("dash" as const) }),
      ...(user === undefined ? {} : { email: user.email }),
      ip_address: row.actor_ip,
      ...(isToken ? { token_id: row.actor_id } : {}),
    },
    resource: { id: row.resource_id, type, product: row.action.split(".")[0] ?? type, scope: zone_id === null ? "accounts" : "zones" },
    ...(zone_id === null ? {} : { zone: { id: zone_id, ...(name === undefined ? {} : { name }) } }),
  };
}
