import type { CountedValue, CountedValues, ValueQuery } from "#events/read/value-counts.ts";
import { CONFIDENCES } from "#events/rollups/values.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { ClickHouse } from "./connection.ts";
import { tableName } from "./tables.ts";
import { type Binder, clickHouseWhere, createBinder } from "./where.ts";

const MARK = '"value_hash":"';
/** Rules and detectors of one value. */
const FINDERS_MAX = 16;

/** Values of sensitive data, counted from the events themselves, to the millisecond. */
export async function countedValues(server: ClickHouse, query: ValueQuery): Promise<CountedValues> {
  const [events, values] = await Promise.all([countedEvents(server, query), valuesOf(server, query)]);
  const all = query.hash === null ? events : values.reduce((sum, value) => sum + value.events, 0);
  return { fromMs: query.fromMs, toMs: query.toMs, events: all, values };
}

async function countedEvents(server: ClickHouse, query: ValueQuery): Promise<number> {
  const binder = createBinder();
  const [row] = await server.rows(
    `SELECT count() AS n FROM ${tableName("security_events")} WHERE ${conditionOf(query, binder)}`,
    binder.params,
  );
  return Number(row?.["n"] ?? 0);
}

async function valuesOf(server: ClickHouse, query: ValueQuery): Promise<readonly CountedValue[]> {
  const binder = createBinder();
  const part = (name: string): string => `JSONExtractString(found, '${name}')`;
  const ranks = CONFIDENCES.map((name) => `'${name}'`).join(", ");
  const wanted = query.hash === null ? "value_hash <> ''" : `value_hash = ${binder.bind("String", query.hash)}`;
  const rows = await server.rows(
    [
      `SELECT value_hash, uniqExact(id, row_id) AS events, min(at_ms) AS first_ms, max(at_ms) AS last_ms, max(rank) AS confidence,`,
      `groupUniqArray(${FINDERS_MAX})(finder) AS finders, argMax((host, path, json_path), (at_ms, row_id)) AS place`,
      `FROM (SELECT id, row_id, at_ms, host, path, ${part("value_hash")} AS value_hash, ${part("json_path")} AS json_path,`,
      `concat(${part("rule_id")}, ' ', ${part("detector")}) AS finder,`,
      `greatest(toInt64(indexOf([${ranks}], ${part("confidence")})) - 1, 0) AS rank`,
      `FROM ${tableName("security_events")} ARRAY JOIN JSONExtractArrayRaw(matches) AS found WHERE ${conditionOf(query, binder)})`,
      `WHERE ${wanted} GROUP BY value_hash ORDER BY last_ms DESC, value_hash LIMIT ${binder.bind("UInt64", query.limit)}`,
    ].join(" "),
    binder.params,
  );
  return rows.map((row) => {
    const [host = "", path = "", json_path = ""] = Object.values(row["place"] as object) as readonly string[];
    return {
      value_hash: String(row["value_hash"]),
      events: Number(row["events"]),
      first_ms: Number(row["first_ms"]),
      last_ms: Number(row["last_ms"]),
      confidence: Number(row["confidence"]),
      finders: row["finders"] as readonly string[],
      place: { host, path, ...(json_path === "" ? {} : { json_path }) },
    };
  });
}

function conditionOf({ where, fromMs, toMs }: ValueQuery, binder: Binder): string {
  const times: Where = [
    { column: "at_ms", operator: "ge", value: fromMs },
    ...(toMs === null ? [] : [{ column: "at_ms", operator: "lt", value: toMs } as const]),
    { column: "matches", operator: "has", value: MARK },
  ];
  return clickHouseWhere("security_events", [...(where as Where), ...times], binder);
}
