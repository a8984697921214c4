import type { GroupQuery } from "#events/sql/group-query.ts";
import type { RequestRow } from "#events/rows/rows.ts";
import type { Condition, Where } from "#events/sql/where-sql.ts";
import { testRequestRow } from "#events/testing/rows.ts";
import { fc } from "./property.ts";

export const HOUR_MS = 3_600_000;
export const START_MS = 486_111 * HOUR_MS;

const moment = fc.integer({ min: START_MS, max: START_MS + 5 * HOUR_MS });

export const anyRequest: fc.Arbitrary<RequestRow> = fc
  .record({
    at_ms: moment,
    zone_id: fc.constantFrom("zone-a", "zone-b"),
    account_id: fc.constant("account"),
    host: fc.constantFrom("www.a.example", "api.a.example"),
    path: fc.constantFrom("/", "/login", "/100%_x"),
    client_ip: fc.constantFrom("192.0.2.7", "192.0.2.200", "198.51.100.1", "2001:db8::7"),
    cache_status: fc.constantFrom("", "hit", "miss"),
    method: fc.constantFrom("GET", "POST"),
    status: fc.constantFrom(200, 404, 502),
    bytes_out: fc.nat(1000),
    duration_ms: fc.nat(50),
  })
  .map((changes) => testRequestRow(changes));

const texts = (column: keyof RequestRow & string, ...values: string[]): fc.Arbitrary<Condition<"requests">> =>
  fc.oneof(
    fc.record({ column: fc.constant(column), operator: fc.constantFrom("eq", "ne", "has"), value: fc.constantFrom(...values) }),
    fc.record({
      column: fc.constant(column),
      operator: fc.constantFrom("like", "not_like"),
      value: fc.constantFrom("%A%", "/l_gin", "GET"),
    }),
    fc.record({ column: fc.constant(column), operator: fc.constantFrom("in", "not_in"), value: fc.subarray(values, { minLength: 1 }) }),
  ) as fc.Arbitrary<Condition<"requests">>;

const anyCondition: fc.Arbitrary<Condition<"requests">> = fc.oneof(
  texts("method", "GET", "POST"),
  texts("host", "www.a.example", "api.a.example"),
  texts("path", "/login", "/100%_x"),
  texts("cache_status", "hit", "miss", ""),
  fc.record({
    column: fc.constant("status"),
    operator: fc.constantFrom("eq", "ne", "ge", "gt", "lt", "le"),
    value: fc.constantFrom(200, 404),
  }),
  fc.record({
    column: fc.constant("at_ms"),
    operator: fc.constantFrom("ge", "gt", "lt", "le"),
    value: fc.oneof(
      moment,
      fc.nat(5).map((hour) => START_MS + hour * HOUR_MS),
      fc.nat(300).map((minute) => START_MS + minute * 60_000),
    ),
  }),
  fc.record({
    column: fc.constant("client_ip"),
    operator: fc.constant("within"),
    value: fc.constantFrom("192.0.2.0/25", "192.0.2.7", "2001:db8::/32", "0.0.0.0/0", "::/0"),
  }),
) as fc.Arbitrary<Condition<"requests">>;

export const anyWhere: fc.Arbitrary<Where<"requests">> = fc
  .record({
    zone: fc.option(fc.constantFrom("zone-a", "zone-b", "zone-c")),
    from: fc.option(moment),
    to: fc.option(moment),
    others: fc.array(anyCondition, { maxLength: 2 }),
    any: fc.option(fc.array(fc.array(anyCondition, { maxLength: 2 }), { maxLength: 3 }), { freq: 3 }),
  })
  .map(({ zone, from, to, others, any }) => [
    ...(zone === null ? [] : [{ column: "zone_id", operator: "eq", value: zone } as const]),
    ...(from === null ? [] : [{ column: "at_ms", operator: "ge", value: from } as const]),
    ...(to === null ? [] : [{ column: "at_ms", operator: "lt", value: to } as const]),
    ...others,
    ...(any === null ? [] : [{ any }]),
  ]);

/** The same conditions, told by hand. */
export function holds(row: RequestRow, where: Where<"requests">): boolean {
  return where.every((part) => {
    if ("any" in part) return part.any.some((inner) => holds(row, inner));
    return "column" in part ? fits(row, part) : part.some((condition) => fits(row, condition));
  });
}

function fits(row: RequestRow, { column, operator, value }: Condition<"requests">): boolean {
  const cell = row[column] as number;
  const pattern = (): boolean =>
    new RegExp(
      `^${String(value)
        .replaceAll(/[.*+?^$()[\]\\{}|]/g, "\\$&")
        .replaceAll("%", ".*")
        .replaceAll("_", ".")}$`,
      "is",
    ).test(String(cell));
  switch (operator) {
    case "eq":
      return (cell as unknown) === value;
    case "ne":
      return (cell as unknown) !== value;
    case "lt":
      return cell < (value as number);
    case "le":
      return cell <= (value as number);
    case "gt":
      return cell > (value as number);
    case "ge":
      return cell >= (value as number);
    case "in":
      return (value as string[]).includes(String(cell));
    case "not_in":
      return !(value as string[]).includes(String(cell));
    case "has":
      return String(cell).includes(String(value));
    case "like":
      return pattern();
    case "not_like":
      return !pattern();
    case "within":
      return NETWORKS[String(value)]!(String(cell));
  }
}

const NETWORKS: Readonly<Record<string, (address: string) => boolean>> = {
  "192.0.2.0/25": (address) => address === "192.0.2.7",
  "192.0.2.7": (address) => address === "192.0.2.7",
  "2001:db8::/32": (address) => address.startsWith("2001:"),
  "0.0.0.0/0": (address) => address.includes("."),
  "::/0": (address) => address.includes(":"),
};

export const anyQuery: fc.Arbitrary<GroupQuery<"requests">> = fc.record({
  where: anyWhere,
  by: fc.subarray<GroupQuery<"requests">["by"][number]>([
    { column: "cache_status" },
    { column: "status" },
    { column: "host" },
    { column: "zone_id" },
    { column: "at_ms", intervalMs: 60_000 },
    { column: "at_ms", intervalMs: HOUR_MS },
  ]),
  measures: fc.subarray<GroupQuery<"requests">["measures"][number]>([
    { kind: "sum", column: "bytes_out" },
    { kind: "unique", column: "client_ip" },
    { kind: 50, column: "duration_ms" },
  ]),
  order: fc.constant([]),
  limit: fc.constant(10_000),
});

/** Groups by key, as the rows themselves have them. */
export function counted(rows: readonly RequestRow[], { where, by, measures }: GroupQuery<"requests">): Map<string, readonly number[]> {
  const groups = Map.groupBy(
    rows.filter((row) => holds(row, where)),
    (row) =>
      JSON.stringify(
        by.map(({ column, intervalMs }) =>
          intervalMs === undefined ? row[column] : Math.floor(Number(row[column]) / intervalMs) * intervalMs,
        ),
      ),
  );
  return new Map(
    Array.from(groups, ([key, members]) => [
      key,
      [
        members.length,
        ...measures.map(({ kind, column }) => {
          const values = members.map((row) => row[column] as number);
          if (kind === "sum") return values.reduce((sum, value) => sum + value, 0);
          return kind === "unique" ? new Set(values).size : middle(values);
        }),
      ],
    ]),
  );
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length === 0) return 0;
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}
