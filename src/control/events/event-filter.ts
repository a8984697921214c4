import type { EventTables } from "#events/rows.ts";
import type { Condition, Where, WherePart } from "#events/where-sql.ts";
import { formatCidr, parseCidr, unmapCidr } from "#kernel/cidr.ts";
import { PlatformError } from "#kernel/errors.ts";
import { rayTimeMs } from "#kernel/ids.ts";
import { formatIp } from "#kernel/ip.ts";
import type { SecurityEventFilter } from "#model/security-event.ts";
import { parseTimestamp } from "#model/timestamp.ts";

/** A zone, or all zones of an account. */
export type EventScope = { readonly zone_id: string } | { readonly account_id: string };

type Events = Where<"security_events">;
type Column = keyof EventTables["security_events"] & string;

const EXACT = [
  "ruleset_id",
  "action",
  "service",
  "phase",
  "host",
  "path",
  "method",
  "country",
  "user_agent",
  "status",
] as const satisfies readonly (Column & keyof SecurityEventFilter)[];

/** The events of the scope that the caller asks for. Throws `invalid_input` for a time or address that is none. */
export function eventsOf(scope: EventScope, filter: SecurityEventFilter): Events {
  const where: WherePart<"security_events">[] = [
    "zone_id" in scope
      ? { column: "zone_id", operator: "eq", value: scope.zone_id }
      : { column: "account_id", operator: "eq", value: scope.account_id },
  ];
  for (const column of EXACT) {
    const given = filter[column];
    if (given !== undefined) where.push({ column, operator: "in", value: listOf<string | number>(given) });
  }
  if (filter["path.contains"] !== undefined) where.push({ column: "path", operator: "has", value: filter["path.contains"] });
  if (filter["user_agent.contains"] !== undefined)
    where.push({ column: "user_agent", operator: "has", value: filter["user_agent.contains"] });
  if (filter.ray_id !== undefined) where.push({ column: "ray_id", operator: "eq", value: filter.ray_id }, ...aroundRay(filter.ray_id));
  where.push(...betweenTimes(filter));
  if (filter.client_ip !== undefined) where.push(listOf(filter.client_ip).map(fromNetwork));
  if (filter.rule_id !== undefined) where.push(listOf(filter.rule_id).flatMap(ruleIs));
  return where;
}

const listOf = <T>(given: T | readonly T[]): readonly T[] => (Array.isArray(given) ? (given as readonly T[]) : [given as T]);

/** The index over time serves for rays, since they begin with theirs; an event comes a little later than its ray. */
export function aroundRay(ray: string): { readonly column: "at_ms"; readonly operator: "ge" | "le"; readonly value: number }[] {
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

/** From `since` on and before `until`. Throws `invalid_input` for what is no time, and for times between which there is nothing. */
export function betweenTimes({ since, until }: { readonly since?: string; readonly until?: string }): readonly TimeBound[] {
  const fromMs = since === undefined ? undefined : timeOf("since", since);
  const toMs = until === undefined ? undefined : timeOf("until", until);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs)
    throw new PlatformError("invalid_input", { message: `"since" must be before "until".`, source: "/since" });
  return [
    ...(fromMs === undefined ? [] : [{ column: "at_ms", operator: "ge", value: fromMs } as const]),
    ...(toMs === undefined ? [] : [{ column: "at_ms", operator: "lt", value: toMs } as const]),
  ];
}

interface TimeBound {
  readonly column: "at_ms";
  readonly operator: "ge" | "lt";
  readonly value: number;
}

function timeOf(name: string, text: string): number {
  const ms = parseTimestamp(text);
  if (ms === undefined)
    throw new PlatformError("invalid_input", { message: `"${name}" must be a time like 2030-01-31T08:00:00Z.`, source: `/${name}` });
  return ms;
}

/** Rows have addresses in canonical form, IPv4 never as IPv6: a filter that writes it so means the same. */
export function fromNetwork(text: string): { readonly column: "client_ip"; readonly operator: "eq" | "within"; readonly value: string } {
  const cidr = parseCidr(text);
  if (cidr === undefined)
    throw new PlatformError("invalid_input", {
      message: `"client_ip" must be an IP address or a network like 192.0.2.0/24.`,
      source: "/client_ip",
    });
  const network = unmapCidr(cidr);
  return text.includes("/")
    ? { column: "client_ip", operator: "within", value: formatCidr(network) }
    : { column: "client_ip", operator: "eq", value: formatIp(network.base) };
}
