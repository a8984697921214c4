import type { DatabaseSync } from "node:sqlite";
import { AS_BEFORE, type NumberedRows, type PackedTexts } from "#events/rows/packed-rows.ts";
import type { EventMatch } from "#events/rows/rows.ts";
import { EVENT_SCHEMA, numberColumns, textColumns } from "#events/rows/schema.ts";

/**
 * The values in events of sensitive data, counted by site and hour as they are written (ADR 0311): so the first and last time of a value do
 * not depend on how many events came since. An entry without a hash counts the events.
 */
export const VALUE_HOUR_MS = 3_600_000;
/** Entries of all sites: some 100 MB. The site with most of them loses its oldest first. */
export const VALUE_ENTRIES_MAX = 400_000;
const ENTRIES_AT_ONCE = 1_000;
const ROUNDS_MAX = 8;
/** Rules and detectors of one value. */
const FINDERS_MAX = 16;

/** `since_ms`, of all sites in `rollups` and of one here: earlier hours are not whole. */
export const valueStatements = (newestMs: string): readonly string[] => [
  `INSERT OR IGNORE INTO rollups SELECT 'value_hours', (SELECT IFNULL(MAX(ms) + 1, 0) FROM (${newestMs}))`,
  `CREATE TABLE IF NOT EXISTS value_hours (site INTEGER NOT NULL, at_ms INTEGER NOT NULL, value_hash TEXT NOT NULL, events INTEGER NOT NULL, first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL, confidence INTEGER NOT NULL, finders TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (site, at_ms, value_hash)) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS value_hours_at_ms ON value_hours (at_ms)",
  "CREATE TABLE IF NOT EXISTS value_sites (site INTEGER PRIMARY KEY, since_ms INTEGER NOT NULL, entries INTEGER NOT NULL) STRICT",
];

export const CONFIDENCES = ["low", "medium", "high"] as const;

/** The last place of a value, as JSON. */
export interface ValuePlace {
  readonly host: string;
  readonly path: string;
  readonly json_path?: string;
}

interface Entry {
  readonly site: number;
  readonly at_ms: number;
  readonly value_hash: string;
  events: number;
  first_ms: number;
  last_ms: number;
  confidence: number;
  /** A rule and its detector, with a blank between them. */
  finders: ReadonlySet<string>;
  place: ValuePlace;
}

export interface ValueCounts {
  /** Counts the values of several batches of security events. */
  add(batches: readonly NumberedRows[]): void;
  /** Deletes about `rowsMax` entries of hours that had ended by then; returns their number. */
  deleteBefore(atMs: number, rowsMax: number): number;
}

export function createValueCounts(db: DatabaseSync, entriesMax = VALUE_ENTRIES_MAX): ValueCounts {
  const find = db.prepare("SELECT * FROM value_hours WHERE site = ? AND at_ms = ? AND value_hash = ?");
  const put = db.prepare("INSERT OR REPLACE INTO value_hours VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const grow = db.prepare(
    "INSERT INTO value_sites VALUES (?, 0, ?) ON CONFLICT DO UPDATE SET entries = MAX(0, entries + excluded.entries)",
  );
  const total = db.prepare("SELECT IFNULL(SUM(entries), 0) AS n FROM value_sites");
  const largest = db.prepare("SELECT site FROM value_sites ORDER BY entries DESC LIMIT 1");
  const oldest = db.prepare("SELECT MIN(at_ms) AS at_ms FROM value_hours WHERE site = ?");
  const drop = db.prepare(
    "DELETE FROM value_hours WHERE site = :site AND at_ms = :at AND value_hash IN (SELECT value_hash FROM value_hours WHERE site = :site AND at_ms = :at LIMIT :rows)",
  );
  const lose = db.prepare("UPDATE value_sites SET since_ms = MAX(since_ms, ?) WHERE site = ?");
  const expire = db.prepare(
    "DELETE FROM value_hours WHERE (site, at_ms, value_hash) IN (SELECT site, at_ms, value_hash FROM value_hours WHERE at_ms <= ? ORDER BY at_ms LIMIT ?) RETURNING site, at_ms",
  );
  const loseAll = db.prepare("UPDATE rollups SET since_ms = MAX(since_ms, ?) WHERE name = 'value_hours'");

  const store = (entry: Entry): void => {
    const row = find.get(entry.site, entry.at_ms, entry.value_hash);
    const all = row === undefined ? entry : merged(entryOf(row), entry);
    const finders = [...all.finders].slice(0, FINDERS_MAX).join(",");
    const { site, at_ms, value_hash, events, first_ms, last_ms, confidence, place } = all;
    put.run(site, at_ms, value_hash, events, first_ms, last_ms, confidence, finders, JSON.stringify(place));
    if (row === undefined) grow.run(site, 1);
  };
  const makeRoom = (): void => {
    for (let round = 0; round < ROUNDS_MAX && Number(total.get()?.["n"]) > entriesMax; round++) {
      const site = Number(largest.get()?.["site"]);
      const at = Number(oldest.get(site)?.["at_ms"] ?? 0);
      const { changes } = drop.run({ site, at, rows: ENTRIES_AT_ONCE });
      grow.run(site, -Number(changes));
      lose.run(at + VALUE_HOUR_MS, site);
      if (changes === 0) return;
    }
  };
  return {
    add: (batches) => {
      const entries = new Map<string, Entry>();
      for (const batch of batches) for (const entry of entriesOf(batch)) join(entries, entry);
      if (entries.size === 0) return;
      for (const entry of entries.values()) store(entry);
      makeRoom();
    },
    deleteBefore: (atMs, rowsMax) => {
      const gone = expire.all(atMs - VALUE_HOUR_MS, rowsMax).map((row) => ({ site: Number(row["site"]), at: Number(row["at_ms"]) }));
      for (const [site, rows] of Map.groupBy(gone, (row) => row.site)) grow.run(site, -rows.length);
      if (gone.length > 0) loseAll.run(Math.max(...gone.map(({ at }) => at)) + VALUE_HOUR_MS);
      return gone.length;
    },
  };
}

function join(entries: Map<string, Entry>, entry: Entry): void {
  const key = `${entry.site} ${entry.at_ms} ${entry.value_hash}`;
  const known = entries.get(key);
  entries.set(key, known === undefined ? entry : merged(known, entry));
}

const merged = (known: Entry, more: Entry): Entry => ({
  ...known,
  events: known.events + more.events,
  first_ms: Math.min(known.first_ms, more.first_ms),
  last_ms: Math.max(known.last_ms, more.last_ms),
  confidence: Math.max(known.confidence, more.confidence),
  finders: new Set([...known.finders, ...more.finders]),
  place: more.last_ms >= known.last_ms ? more.place : known.place,
});

const entryOf = (row: Readonly<Record<string, unknown>>): Entry => ({
  ...(row as unknown as Entry),
  finders: new Set(String(row["finders"]).split(",")),
  place: JSON.parse(String(row["place"])) as ValuePlace,
});

const FACETS = EVENT_SCHEMA.security_events.facets;
const [SITE_AT, HOST_AT] = [FACETS.indexOf("site"), FACETS.indexOf("host")];
const textAt = (name: string): number => textColumns("security_events").findIndex((column) => column.name === name);
const [PATH_AT, MATCHES_AT] = [textAt("path"), textAt("matches")];
const TIME_AT = numberColumns("security_events").findIndex(({ name }) => name === "at_ms");
const MARK = '"value_hash":"';

function* entriesOf(batch: NumberedRows): Iterable<Entry> {
  const matches = batch.texts[MATCHES_AT]!;
  // Nearly all events are of other services.
  if (!matches.text.includes(MARK)) return;
  const [sites, hosts] = [batch.facets[SITE_AT]!, batch.facets[HOST_AT]!];
  const paths = rowTexts(batch.texts[PATH_AT]!);
  const times = batch.numbers[TIME_AT]!;
  let row = 0;
  for (const text of rowTexts(matches)) {
    const path = paths.next().value ?? "";
    const at = row++;
    if (!text.includes(MARK)) continue;
    const site = batch.ids[SITE_AT]![sites.combinations[at]!]!;
    const host = hosts.texts[hosts.combinations[at]!]!;
    yield* entriesOfEvent(JSON.parse(text) as readonly EventMatch[], { site, host, path, atMs: times[at]! });
  }
}

function* entriesOfEvent(
  matches: readonly EventMatch[],
  { site, host, path, atMs }: { readonly site: number; readonly host: string; readonly path: string; readonly atMs: number },
): Iterable<Entry> {
  const entry = (value_hash: string, of: readonly EventMatch[]): Entry => ({
    ...{ site, at_ms: Math.floor(atMs / VALUE_HOUR_MS) * VALUE_HOUR_MS, value_hash, events: 1, first_ms: atMs, last_ms: atMs },
    confidence: Math.max(0, ...of.map(({ confidence }) => CONFIDENCES.indexOf(confidence))),
    finders: new Set(of.map(({ rule_id, detector }) => `${rule_id} ${detector}`)),
    place: { host, path, ...(of[0]?.json_path === undefined ? {} : { json_path: of[0].json_path }) },
  });
  // Two rules may find the same value in one response.
  for (const [hash = "", of] of Map.groupBy(matches, (match) => match.value_hash)) if (hash !== "") yield entry(hash, of);
  yield entry("", []);
}

/** The text of each row. */
function* rowTexts({ text, lengths }: PackedTexts): Generator<string, undefined> {
  let [from, to] = [0, 0];
  for (const length of lengths) {
    if (length !== AS_BEFORE) [from, to] = [to, to + length];
    yield text.slice(from, to);
  }
}
