import { PlatformError } from "#kernel/errors.ts";
import { rayTimeMs } from "#kernel/ids.ts";
import { canonicalIp } from "#kernel/ip.ts";
import type { Page } from "#control/call.ts";
import type { EventQueries } from "#events/queries.ts";
import type { Condition, Where } from "#events/where-sql.ts";
import type { SecurityEventRow } from "#events/rows.ts";
import type { SecurityEvent, SecurityEventQuery } from "#model/security-event.ts";
import { parseTimestamp } from "#model/timestamp.ts";

export interface SecurityEvents {
  /** A zone's events, newest first. Throws `invalid_input` for a time or address that is none. */
  list(zoneId: string, query: SecurityEventQuery & { readonly page: number; readonly per_page: number }): Promise<Page<SecurityEvent>>;
}

export function createSecurityEvents({ queries }: { readonly queries: EventQueries }): SecurityEvents {
  return {
    list: async (zoneId, { page, per_page, ...query }) => {
      const where = whereOf(zoneId, query);
      const rows = queries.list("security_events", { where, limit: per_page, offset: (page - 1) * per_page });
      return { items: rows.map(view), page, per_page, total_count: queries.count("security_events", where) };
    },
  };
}

const view = (row: SecurityEventRow): SecurityEvent => ({
  ...row,
  occurred_at: new Date(row.at_ms).toISOString(),
  matches: row.matches.map((match) => ({ ...match })),
  scan_limited: row.scan_limited ?? false,
});

type Column = keyof SecurityEventRow & string;

const EXACT = ["ruleset_id", "action", "service", "host", "path", "ray_id"] as const satisfies readonly (Column &
  keyof SecurityEventQuery)[];

function whereOf(zoneId: string, query: SecurityEventQuery): Where<"security_events"> {
  const where: (Condition<"security_events"> | Condition<"security_events">[])[] = [{ column: "zone_id", operator: "eq", value: zoneId }];
  for (const column of EXACT) {
    const value = query[column];
    if (value !== undefined) where.push({ column, operator: "eq", value });
  }
  if (query.ray_id !== undefined) where.push(...aroundRay(query.ray_id));
  if (query.since !== undefined) where.push({ column: "at_ms", operator: "ge", value: timeOf("since", query.since) });
  if (query.until !== undefined) where.push({ column: "at_ms", operator: "lt", value: timeOf("until", query.until) });
  if (query.client_ip !== undefined) where.push({ column: "client_ip", operator: "eq", value: addressOf(query.client_ip) });
  if (query.rule_id !== undefined) where.push(ruleIs(query.rule_id));
  return where;
}

/** The index over time serves for rays, since they begin with theirs; an event comes a little later than its ray. */
function aroundRay(ray: string): Condition<"security_events">[] {
  const ms = rayTimeMs(ray);
  if (ms === undefined) return [];
  return [
    { column: "at_ms", operator: "ge", value: ms - RAY_SLACK_MS },
    { column: "at_ms", operator: "le", value: ms + RAY_SLACK_MS },
  ];
}

/** Between a request's ray and its last event lie at most its own time and a clock's steps. */
const RAY_SLACK_MS = 3_600_000;

/** A response with several findings is one event under one rule; the others are found by its matches. */
const ruleIs = (id: string): Condition<"security_events">[] => [
  { column: "rule_id", operator: "eq", value: id },
  { column: "deployed_by", operator: "eq", value: id },
  { column: "matches", operator: "has", value: JSON.stringify({ rule_id: id }).slice(1, -1) },
];

function timeOf(name: string, text: string): number {
  const ms = parseTimestamp(text);
  if (ms === undefined) throw new PlatformError("invalid_input", { message: `${name} must be a time like 2030-01-31T08:00:00Z` });
  return ms;
}

function addressOf(text: string): string {
  const address = canonicalIp(text);
  if (address === undefined) throw new PlatformError("invalid_input", { message: "client_ip must be an IP address" });
  return address;
}
