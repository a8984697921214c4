import type { DnsQueryRow, EventTable, EventTables, RequestRow, SecurityEventRow } from "./rows.ts";
import type { FacetName } from "./schema.ts";

// What every request passes through names its fields: reading them by a list of names takes five times as long.

/** Takes the cells of one column, the row's position with each. */
export interface CellPacker<V> {
  push(value: V, at: number): void;
}

type OwnCells<T extends EventTable> = (
  row: EventTables[T],
  texts: readonly CellPacker<string>[],
  numbers: readonly CellPacker<unknown>[],
  at: number,
) => void;

/** The cells that a row has itself, in the order of the table's stored columns. */
export const OWN_CELLS: { readonly [T in EventTable]?: OwnCells<T> } = {
  requests: (row, texts, numbers, at) => {
    texts[0]!.push(row.ray_id, at);
    texts[1]!.push(row.client_ip, at);
    texts[2]!.push(row.path, at);
    texts[3]!.push(row.query, at);
    texts[4]!.push(cellText(row.custom_fields), at);
    numbers[0]!.push(row.at_ms, at);
    numbers[1]!.push(row.status, at);
    numbers[2]!.push(row.origin_status, at);
    numbers[3]!.push(row.bytes_in, at);
    numbers[4]!.push(row.bytes_out, at);
    numbers[5]!.push(row.duration_ms, at);
  },
  security_events: (row, texts, numbers, at) => {
    texts[0]!.push(row.id, at);
    texts[1]!.push(row.ray_id, at);
    texts[2]!.push(row.client_ip, at);
    texts[3]!.push(row.path, at);
    texts[4]!.push(row.query, at);
    texts[5]!.push(cellText(row.matches), at);
    numbers[0]!.push(row.at_ms, at);
    numbers[1]!.push(row.status, at);
    numbers[2]!.push(row.scan_limited, at);
  },
};

type FacetRow = RequestRow & SecurityEventRow & DnsQueryRow;

/** Whether two rows surely have the same combination; where a text is absent in one of them and empty in the other, it says no. */
const SAME_FACETS: Readonly<Record<FacetName, (a: FacetRow, b: FacetRow) => boolean>> = {
  site: (a, b) => a.zone_id === b.zone_id && a.account_id === b.account_id,
  host: (a, b) => a.host === b.host,
  agent: (a, b) => a.user_agent === b.user_agent,
  request_kind: (a, b) =>
    a.method === b.method &&
    a.scheme === b.scheme &&
    a.http_version === b.http_version &&
    a.tls_version === b.tls_version &&
    a.content_type === b.content_type &&
    a.cache_status === b.cache_status &&
    a.country === b.country &&
    a.edge_error === b.edge_error,
  event_kind: (a, b) => a.method === b.method && a.scheme === b.scheme && a.country === b.country,
  rule: (a, b) =>
    a.rule_id === b.rule_id &&
    a.ruleset_id === b.ruleset_id &&
    a.deployed_by === b.deployed_by &&
    a.rule_description === b.rule_description &&
    a.phase === b.phase &&
    a.action === b.action &&
    a.service === b.service,
  question: (a, b) => a.query_type === b.query_type && a.response_code === b.response_code && a.protocol === b.protocol,
};

export const sameFacet = (name: FacetName): ((a: object, b: object) => boolean) => SAME_FACETS[name] as (a: object, b: object) => boolean;

/** What most rows have where it is not a text needs no call. */
export function cellText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value === null) return "null";
  return Array.isArray(value) && value.length === 0 ? "[]" : JSON.stringify(value);
}
