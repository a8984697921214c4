import type { Condition, ConditionOperator, Where } from "#events/sql/where-sql.ts";
import { formatCidr, parseCidr, unmapCidr } from "#kernel/net/cidr.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { rayTimeMs } from "#kernel/crypto/ids.ts";
import { formatIp } from "#kernel/net/ip.ts";
import { FIREWALL_ACTIONS } from "#model/rulesets/firewall-rule.ts";
import type { LoggedRequestFilter } from "#model/events/request-log.ts";
import type { SecurityEventFilter } from "#model/events/security-event.ts";
import { parseTimestamp } from "#kernel/timestamp.ts";
import { ACTIONS } from "#rules/actions/actions.ts";
import { PHASES } from "#rules/phases.ts";
import { EVENT_SERVICES } from "#rules/services.ts";

/** A zone, or all zones of an account. */
export type EventScope = { readonly zone_id: string } | { readonly account_id: string };

/** All rows of the scope. */
export const inScope = (scope: EventScope): readonly ScopeCondition[] => [
  "zone_id" in scope
    ? { column: "zone_id", operator: "eq", value: scope.zone_id }
    : { column: "account_id", operator: "eq", value: scope.account_id },
];

interface ScopeCondition {
  readonly column: "zone_id" | "account_id";
  readonly operator: "eq";
  readonly value: string;
}

/** Columns of both kinds of rows that accept several values. */
const SHARED = ["host", "path", "method", "country", "user_agent", "status"] as const;
const OF_EVENTS = ["ruleset_id", "action", "service", "phase"] as const;
const OF_REQUESTS = ["scheme", "origin_status", "cache_status", "edge_error", "edge_error_name"] as const;

/** Possible values: a misspelled one would match nothing, and a tail would wait forever. */
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  // A rule's `logging` can turn any action into an event; events of the previous WAF have its names of actions.
  action: new Set([...Object.keys(ACTIONS), ...FIREWALL_ACTIONS]),
  service: new Set(EVENT_SERVICES),
  phase: new Set(PHASES.filter(({ runs }) => runs).map(({ name }) => name)),
  scheme: new Set(["http", "https"]),
};

/** The stored form of values; other forms in rows, such as a method in lower case, match unchanged. */
const WRITTEN: Readonly<Record<string, (text: string) => string>> = {
  host: (text) => parseHostname(text, { underscores: true }) ?? text.toLowerCase(),
  country: (text) => text.toUpperCase(),
  method: (text) => text.toUpperCase(),
  cache_status: (text) => text.toUpperCase(),
};

/** The events of the scope that match the filter. Throws `invalid_input` for an invalid time, address or value. */
export const eventsOf = (scope: EventScope, filter: SecurityEventFilter): Where<"security_events"> => [
  ...inScope(scope),
  ...anyOf(filter, OF_EVENTS),
  ...sharedOf(filter),
  ...(filter.rule_id === undefined ? [] : [listOf(filter.rule_id).flatMap(ruleIs)]),
  ...(filter.value_hash === undefined ? [] : [listOf(filter.value_hash).map(valueIs)]),
];

/** The requests of the scope that match the filter. Throws as `eventsOf` does. */
export const requestsOf = (scope: EventScope, filter: LoggedRequestFilter): Where<"requests"> => [
  ...inScope(scope),
  ...anyOf(filter, OF_REQUESTS),
  ...sharedOf(filter),
];

type SharedFilter = Pick<SecurityEventFilter, keyof SecurityEventFilter & keyof LoggedRequestFilter>;
type SharedColumn = (typeof SHARED)[number] | "ray_id" | "at_ms" | "client_ip";
type SharedPart = SharedCondition | readonly SharedCondition[];
interface SharedCondition {
  readonly column: SharedColumn;
  readonly operator: ConditionOperator;
  readonly value: string | number | readonly (string | number)[];
}

function sharedOf(filter: SharedFilter): readonly SharedPart[] {
  const where: SharedPart[] = [...anyOf(filter, SHARED)];
  for (const column of ["path", "user_agent"] as const) {
    const contained = filter[`${column}.contains`];
    if (contained !== undefined) where.push({ column, operator: "has", value: contained });
  }
  if (filter.ray_id !== undefined) where.push({ column: "ray_id", operator: "eq", value: filter.ray_id }, ...aroundRay(filter.ray_id));
  where.push(...betweenTimes(filter));
  if (filter.client_ip !== undefined) where.push(listOf(filter.client_ip).map(fromNetwork));
  return where;
}

type Values = string | number | readonly (string | number)[];

const anyOf = <C extends string>(filter: { readonly [K in C]?: Values | undefined }, columns: readonly C[]) =>
  columns.flatMap((column) => {
    const given = filter[column];
    return given === undefined ? [] : [{ column, operator: "in" as const, value: listOf<string | number>(given).flatMap(formsIn(column)) }];
  });

/** The values to look for in the column. Throws `invalid_input` for a value that no row has. */
const formsIn =
  (column: string) =>
  (value: string | number): readonly (string | number)[] => {
    if (typeof value === "number") return [value];
    const known = KNOWN[column];
    if (known !== undefined && !known.has(value))
      throw new PlatformError("invalid_input", {
        message: `"${column}" must be one of ${[...known].join(", ")}.`,
        source: `/${column}`,
      });
    const written = WRITTEN[column]?.(value) ?? value;
    return written === value ? [value] : [value, written];
  };

const listOf = <T>(given: T | readonly T[]): readonly T[] => (Array.isArray(given) ? (given as readonly T[]) : [given as T]);

/** Rays begin with their time, so the index over time finds them; an event follows shortly after its ray. */
export function aroundRay(ray: string): { readonly column: "at_ms"; readonly operator: "ge" | "le"; readonly value: number }[] {
  const ms = rayTimeMs(ray);
  if (ms === undefined) return [];
  return [
    { column: "at_ms", operator: "ge", value: ms - RAY_SLACK_MS },
    { column: "at_ms", operator: "le", value: ms + RAY_SLACK_MS },
  ];
}

/** Upper limit of the time between a request's ray and its last event, including clock changes. */
const RAY_SLACK_MS = 3_600_000;

/** A response with several findings is one event under one rule; the other rules are found in its matches. */
const ruleIs = (id: string): Condition<"security_events">[] => [
  { column: "rule_id", operator: "eq", value: id },
  { column: "deployed_by", operator: "eq", value: id },
  { column: "matches", operator: "has", value: JSON.stringify({ rule_id: id }).slice(1, -1) },
];

/** Throws `invalid_input` for what is not a hash, which would match nothing. */
function valueIs(hash: string): Condition<"security_events"> {
  if (!/^[0-9a-f]{32}$/.test(hash))
    throw new PlatformError("invalid_input", {
      message: `"value_hash" must be 32 hexadecimal characters, as in the matches of events.`,
      source: "/value_hash",
    });
  return { column: "matches", operator: "has", value: JSON.stringify({ value_hash: hash }).slice(1, -1) };
}

/** From `since` (inclusive) to `until` (exclusive). Throws `invalid_input` for an invalid time or an empty period. */
function betweenTimes({ since, until }: { readonly since?: string; readonly until?: string }): readonly TimeBound[] {
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

/** Rows have canonical addresses and never IPv4 in IPv6 form, so filters are converted. */
function fromNetwork(text: string): { readonly column: "client_ip"; readonly operator: "eq" | "within"; readonly value: string } {
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
