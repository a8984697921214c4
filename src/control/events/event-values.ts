import type { EventReads } from "#events/read/read-client.ts";
import type { RowPosition } from "#events/read/queries.ts";
import type { EventMatch, SecurityEventRow } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { SensitiveDataValues } from "#model/events/security-event.ts";

/** Events of one answer, which is a second or two of reading; each page is read by another thread. */
const EVENTS_MAX = 10_000;
const EVENTS_AT_ONCE = 500;
const VALUES_MAX = 1_000;

type Value = SensitiveDataValues["values"][number];
const CONFIDENCES = ["low", "medium", "high"] as const;

/** Groups the events that match by the values in their matches, from the newest event on. */
export async function valuesOfEvents(reads: EventReads, where: Where<"security_events">): Promise<SensitiveDataValues> {
  const withValues: Where<"security_events"> = [...where, { column: "matches", operator: "has", value: '"value_hash":"' }];
  const values = new Map<string, Value>();
  let eventsRead = 0;
  let after: RowPosition | undefined;
  for (let hasMore = true; hasMore;) {
    const page = await reads.page("security_events", { where: withValues, after, limit: EVENTS_AT_ONCE });
    for (const row of page.rows) addEvent(values, row);
    eventsRead += page.rows.length;
    hasMore = page.hasMore && page.last !== null;
    after = page.last ?? undefined;
    if (hasMore && (eventsRead >= EVENTS_MAX || values.size > VALUES_MAX)) return told(values, eventsRead, false);
  }
  return told(values, eventsRead, values.size <= VALUES_MAX);
}

const told = (values: ReadonlyMap<string, Value>, eventsRead: number, isComplete: boolean): SensitiveDataValues => ({
  events_read: eventsRead,
  is_complete: isComplete,
  values: [...values.values()].slice(0, VALUES_MAX),
});

/** Events come from the newest to the oldest. */
function addEvent(values: Map<string, Value>, row: SecurityEventRow): void {
  const seen = new Date(row.at_ms).toISOString();
  const counted = new Set<string>();
  for (const match of row.matches) {
    const { value_hash: hash } = match;
    if (hash === undefined) continue;
    const known = values.get(hash) ?? firstOf(row, match, hash, seen);
    values.set(hash, {
      ...known,
      rule_ids: withOne(known.rule_ids, match.rule_id),
      detectors: withOne(known.detectors, match.detector),
      confidence: CONFIDENCES[Math.max(CONFIDENCES.indexOf(known.confidence), CONFIDENCES.indexOf(match.confidence))] ?? match.confidence,
      first_seen: seen,
      // Two rules may find the same value in one response.
      events: known.events + (counted.has(hash) ? 0 : 1),
    });
    counted.add(hash);
  }
}

const firstOf = (row: SecurityEventRow, match: EventMatch, hash: string, seen: string): Value => ({
  value_hash: hash,
  rule_ids: [],
  detectors: [],
  confidence: match.confidence,
  first_seen: seen,
  last_seen: seen,
  events: 0,
  host: row.host,
  path: row.path,
  ...(match.json_path === undefined ? {} : { json_path: match.json_path }),
});

/** Few: the rules that find one value. */
const withOne = (list: readonly string[], one: string): string[] => (list.includes(one) ? [...list] : [...list, one]);
