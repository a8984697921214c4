import type { EventReads } from "#events/read/read-client.ts";
import type { RowPosition } from "#events/read/queries.ts";
import { CONFIDENCES } from "#events/rollups/values.ts";
import type { CountedValue } from "#events/read/value-counts.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { type Condition, isCondition, type Where } from "#events/sql/where-sql.ts";
import type { SensitiveDataValues, SensitiveDataValuesQuery } from "#model/events/security-event.ts";

/** Events of one answer, which is a second or two of reading; each page is read by another thread. */
const EVENTS_MAX = 10_000;
const EVENTS_AT_ONCE = 500;
const VALUES_MAX = 1_000;

export interface AskedValues {
  /** Null: all values. */
  readonly hashes: readonly string[] | null;
  /** The condition is the site, at most one time each way, and the hashes. */
  readonly isCounted: boolean;
}

type Value = SensitiveDataValues["values"][number];
type Rows = Where<"security_events">;

/**
 * The values in the events that match, the last seen first. Whole hours are counted as events are written (ADR 0311), if nothing but times and
 * one value is asked for; the rest is read from the events.
 */
export async function valuesOfEvents(reads: EventReads, where: Rows, { hashes, isCounted }: AskedValues): Promise<SensitiveDataValues> {
  const found = new FoundValues(hashes);
  if (!isCounted || (hashes?.length ?? 1) !== 1) return told(found, await readRows(reads, where, found, EVENTS_MAX));
  const [fromMs, toMs] = [timeOf(where, "ge") ?? 0, timeOf(where, "lt") ?? null];
  const sites = where.filter((part) => isCondition(part) && (part.column === "zone_id" || part.column === "account_id"));
  const hash = hashes?.[0] ?? null;
  const counted = await reads.values("security_events", { where: sites, fromMs, toMs, hash, limit: VALUES_MAX + 1 });
  for (const value of counted.values) found.add(viewOf(value));
  found.events += counted.events;
  if (counted.toMs !== null) {
    const newer = await readRows(reads, [...where, { column: "at_ms", operator: "ge", value: counted.toMs }], found, EVENTS_MAX);
    if (!newer) return told(found, false);
  }
  return told(found, await readRows(reads, [...where, { column: "at_ms", operator: "lt", value: counted.fromMs }], found, EVENTS_MAX));
}

/** Filters of the counts; others need the events. */
const COUNTED: ReadonlySet<string> = new Set(["since", "until", "value_hash"]);

export const askedValues = (filter: SensitiveDataValuesQuery): AskedValues => ({
  hashes: filter.value_hash === undefined ? null : [filter.value_hash].flat(),
  isCounted: Object.entries(filter).every(([name, value]) => value === undefined || COUNTED.has(name)),
});

const timeOf = (where: Rows, operator: "ge" | "lt"): number | undefined => {
  const found = where.find(
    (part): part is Condition<"security_events"> => isCondition(part) && part.column === "at_ms" && part.operator === operator,
  );
  return found === undefined ? undefined : Number(found.value);
};

/** Adds the values of the events, from the newest on; false if there are more events or values. */
async function readRows(reads: EventReads, where: Rows, found: FoundValues, eventsMax: number): Promise<boolean> {
  const withValues: Rows = [...where, { column: "matches", operator: "has", value: '"value_hash":"' }];
  let read = 0;
  let after: RowPosition | undefined;
  for (let hasMore = true; hasMore;) {
    const page = await reads.page("security_events", { where: withValues, after, limit: EVENTS_AT_ONCE });
    for (const row of page.rows) found.addEvent(row);
    read += page.rows.length;
    hasMore = page.hasMore && page.last !== null;
    after = page.last ?? undefined;
    if (hasMore && (read >= eventsMax || found.size > VALUES_MAX)) return false;
  }
  return true;
}

function told(found: FoundValues, isComplete: boolean): SensitiveDataValues {
  const values = found.newestFirst();
  return { events_read: found.events, is_complete: isComplete && values.length <= VALUES_MAX, values: values.slice(0, VALUES_MAX) };
}

/** Values by their hash. */
class FoundValues {
  events = 0;
  readonly #values = new Map<string, Value>();
  readonly #wanted: ReadonlySet<string> | null;

  /** Null: all values. */
  constructor(wanted: readonly string[] | null) {
    this.#wanted = wanted === null ? null : new Set(wanted);
  }

  get size(): number {
    return this.#values.size;
  }

  add(value: Value): void {
    const known = this.#values.get(value.value_hash);
    this.#values.set(value.value_hash, known === undefined ? value : joined(known, value));
  }

  addEvent(row: SecurityEventRow): void {
    this.events++;
    // Two rules may find the same value in one response.
    for (const [hash = "", matches] of Map.groupBy(row.matches, (match) => match.value_hash)) {
      if (hash === "" || this.#wanted?.has(hash) === false) continue;
      const confidence = Math.max(...matches.map((match) => CONFIDENCES.indexOf(match.confidence)));
      const finders = matches.map(({ rule_id, detector }) => `${rule_id} ${detector}`);
      const { host, path } = row;
      const json_path = matches[0]?.json_path;
      const place = { host, path, ...(json_path === undefined ? {} : { json_path }) };
      this.add(viewOf({ value_hash: hash, events: 1, first_ms: row.at_ms, last_ms: row.at_ms, confidence, finders, place }));
    }
  }

  newestFirst(): readonly Value[] {
    return [...this.#values.values()].toSorted((a, b) => compared(b.last_seen, a.last_seen) || compared(a.value_hash, b.value_hash));
  }
}

const viewOf = ({ value_hash, events, first_ms, last_ms, confidence, finders, place }: CountedValue): Value => ({
  value_hash,
  rule_ids: distinct(finders.map((finder) => finder.split(" ")[0] ?? "")),
  detectors: distinct(finders.map((finder) => finder.split(" ")[1] ?? "")),
  confidence: CONFIDENCES[confidence] ?? "low",
  first_seen: new Date(first_ms).toISOString(),
  last_seen: new Date(last_ms).toISOString(),
  events,
  ...place,
});

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)];

/** Of two periods that have no event in common. */
function joined(a: Value, b: Value): Value {
  const [newer, older] = a.last_seen >= b.last_seen ? [a, b] : [b, a];
  return {
    ...newer,
    rule_ids: distinct([...newer.rule_ids, ...older.rule_ids]),
    detectors: distinct([...newer.detectors, ...older.detectors]),
    confidence: CONFIDENCES[Math.max(CONFIDENCES.indexOf(a.confidence), CONFIDENCES.indexOf(b.confidence))] ?? newer.confidence,
    first_seen: a.first_seen < b.first_seen ? a.first_seen : b.first_seen,
    events: a.events + b.events,
  };
}
