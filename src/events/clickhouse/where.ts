import { readIp } from "#kernel/net/ip.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { columnsOf } from "#events/rows/schema.ts";
import { type Condition, type ConditionOperator, isCondition, type Where, type WherePart } from "#events/sql/where-sql.ts";

/** Collects the values of a statement: each is bound by a name and a type, none is part of the text. */
export interface Binder {
  readonly params: Readonly<Record<string, BoundValue>>;
  /** The place of the value in the text. */
  bind(type: string, value: BoundValue): string;
}

export type BoundValue = string | number | readonly (string | number)[];

export function createBinder(): Binder {
  const params: Record<string, BoundValue> = {};
  let last = 0;
  return {
    params,
    bind: (type, value) => {
      const name = `p${last++}`;
      params[name] = value;
      return `{${name}:${type}}`;
    },
  };
}

/**
 * The conditions as SQL, with the meaning that they have for the embedded database. Each is in parentheses, and all must hold: so none
 * reaches rows that the zone or the account of a query, which is one of them, keeps out.
 */
export function clickHouseWhere(table: EventTable, where: Where, binder: Binder): string {
  const types = typesOf(table);
  return where.length === 0 ? "1" : where.map((part) => partText(types, part, binder)).join(" AND ");
}

type ColumnTypes = ReadonlyMap<string, "String" | "Number">;

const typesOf = (table: EventTable): ColumnTypes =>
  new Map([
    ...columnsOf(table).map(({ name, sql }) => [name as string, sql === "TEXT" ? "String" : "Number"] as const),
    ["row_id", "Number"] as const,
  ]);

function partText(types: ColumnTypes, part: WherePart, binder: Binder): string {
  if (isCondition(part)) return conditionText(types, part, binder);
  const alternatives =
    "any" in part
      ? part.any.map((where) => (where.length === 0 ? "1" : where.map((inner) => partText(types, inner, binder)).join(" AND ")))
      : part.map((condition) => conditionText(types, condition, binder));
  return alternatives.length === 0 ? "0" : `(${alternatives.map((text) => `(${text})`).join(" OR ")})`;
}

/** Parameters travel in the address of a call, of which servers accept a megabyte, and 128 KB of each. */
const VALUES_PER_PARAMETER = 1_000;

function conditionText(types: ColumnTypes, { column, operator, value }: Condition, binder: Binder): string {
  const type = types.get(column);
  // Names come from the code; one that is not a column's would be part of the text.
  if (type === undefined) throw new Error(`the table has no column ${column}`);
  const values = (Array.isArray(value) ? value : [value]) as readonly (string | number | boolean)[];
  if (operator === "in" || operator === "not_in") return listText(column, operator, bound(type, values), type, binder);
  const [one = ""] = bound(type, values);
  if (operator === "within") return withinText(column, String(one), binder);
  if (operator === "like" || operator === "not_like") {
    // SQLite ignores the case of ASCII letters only, and knows no escapes.
    const pattern = lowerAscii(String(one)).replaceAll("\\", "\\\\");
    return `(lower(${column}) ${operator === "like" ? "LIKE" : "NOT LIKE"} ${binder.bind("String", pattern)})`;
  }
  if (operator === "has") return `(position(${column}, ${binder.bind("String", String(one))}) > 0)`;
  return `(${column} ${COMPARISONS[operator]} ${binder.bind(scalarType(type, one), one)})`;
}

const COMPARISONS: Readonly<Record<Exclude<ConditionOperator, "in" | "not_in" | "within" | "like" | "not_like" | "has">, string>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  le: "<=",
  gt: ">",
  ge: ">=",
};

const bound = (type: "String" | "Number", values: readonly (string | number | boolean)[]): readonly (string | number)[] =>
  values.map((value) => (type === "String" ? String(value).toWellFormed() : Number(value)));

const scalarType = (type: "String" | "Number", value: string | number): string =>
  type === "String" ? "String" : Number.isSafeInteger(value) ? "Int64" : "Float64";

function listText(
  column: string,
  operator: "in" | "not_in",
  values: readonly (string | number)[],
  type: "String" | "Number",
  binder: Binder,
): string {
  if (values.length === 0) return operator === "in" ? "0" : "1";
  const elements = type === "String" ? "String" : values.every(Number.isSafeInteger) ? "Int64" : "Float64";
  const some = Array.from({ length: Math.ceil(values.length / VALUES_PER_PARAMETER) }, (_, n) => {
    const part = values.slice(n * VALUES_PER_PARAMETER, (n + 1) * VALUES_PER_PARAMETER);
    return `${column} ${operator === "in" ? "IN" : "NOT IN"} ${binder.bind(`Array(${elements})`, part)}`;
  });
  return `(${some.join(operator === "in" ? " OR " : " AND ")})`;
}

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether an address is in a network (sql/in-network.ts): between its first and its last address, of the same family. */
function withinText(column: string, cidr: string, binder: Binder): string {
  const bounds = networkBounds(cidr);
  if (bounds === undefined) return "0";
  const [first, last] = bounds.addresses.map((address) => `toIPv6(${binder.bind("String", address)})`);
  const family = bounds.family === 4 ? `isIPv4String(${column})` : `NOT isIPv4String(${column})`;
  return `(${family} AND ifNull(toIPv6OrNull(${column}) BETWEEN ${first} AND ${last}, 0))`;
}

function networkBounds(cidr: string): { readonly family: number; readonly addresses: readonly [string, string] } | undefined {
  const slash = cidr.indexOf("/");
  const bytes = new Uint8Array(16);
  const family = readIp(slash < 0 ? cidr : cidr.slice(0, slash), bytes);
  if (family === 0) return undefined;
  const bits = slash < 0 ? 128 : Number(cidr.slice(slash + 1)) + (family === 4 ? 96 : 0);
  const filled = (fill: 0 | 1): Uint8Array =>
    bytes.map((byte, i) => {
      const mask = 0xff >> Math.min(8, Math.max(0, bits - 8 * i));
      return fill === 1 ? byte | mask : byte & ~mask;
    });
  // readIp writes both families in sixteen bytes, and so does toIPv6.
  const text = (address: Uint8Array): string =>
    Buffer.from(address)
      .toString("hex")
      .replaceAll(/(.{4})(?!$)/g, "$1:");
  return { family, addresses: [text(filled(0)), text(filled(1))] };
}
