import { zoneReach } from "#control/access/grants.ts";
import type { Call } from "#control/call.ts";
import { ZONE_READING_GROUPS } from "#model/access/permission-groups.ts";
import type { ZoneStatus } from "#model/zones/zone.ts";
import type { TextOperator } from "#store/queries/like.ts";
import type { ZoneFilter } from "#store/zones/zones.ts";

export interface ZoneQuery {
  readonly name?: string | undefined;
  readonly status?: ZoneStatus | undefined;
  /** One type, or several separated by commas. */
  readonly type?: string | undefined;
  readonly "account.id"?: string | undefined;
  readonly "account.name"?: string | undefined;
  readonly match?: "any" | "all" | undefined;
  readonly order?: ZoneFilter["order"] | undefined;
  readonly direction?: "asc" | "desc" | undefined;
}

/** The zones that the credential can see and that match the query (contract.md §9). */
export function listFilter(call: Call, query: ZoneQuery): ZoneFilter {
  return {
    ...(query.name === undefined ? {} : { name: nameTest(query.name) }),
    ...(query["account.name"] === undefined ? {} : { account_name: nameTest(query["account.name"]) }),
    ...(query["account.id"] === undefined ? {} : { account_id: query["account.id"] }),
    ...(query.status === undefined ? {} : { status: query.status }),
    ...(query.type === undefined ? {} : { types: query.type.split(",") }),
    match: query.match ?? "all",
    reach: zoneReach(call.actor, ZONE_READING_GROUPS),
    order: query.order ?? "name",
    direction: query.direction ?? "asc",
  };
}

/** Operators before the value and a colon; names are compared without regard to case. */
const OPERATORS: Readonly<Record<string, { readonly operator: TextOperator; readonly negated: boolean }>> = {
  equal: { operator: "exact", negated: false },
  not_equal: { operator: "exact", negated: true },
  starts_with: { operator: "startswith", negated: false },
  ends_with: { operator: "endswith", negated: false },
  contains: { operator: "contains", negated: false },
  starts_with_case_sensitive: { operator: "startswith", negated: false },
  ends_with_case_sensitive: { operator: "endswith", negated: false },
  contains_case_sensitive: { operator: "contains", negated: false },
};

function nameTest(text: string): NonNullable<ZoneFilter["name"]> {
  const colon = text.indexOf(":");
  const prefix = text.slice(0, colon);
  const known = colon > 0 && Object.hasOwn(OPERATORS, prefix) ? OPERATORS[prefix] : undefined;
  const value = (known ? text.slice(colon + 1) : text).toLowerCase();
  return { operator: known?.operator ?? "exact", negated: known?.negated ?? false, value };
}
