import { type RawBuilder, sql } from "kysely";
import {
  ALWAYS,
  type Condition,
  containing,
  joined,
  judging,
  prefixed,
  type RecordTest,
  tagCondition,
  type TagTest,
  type TextColumn,
  type TextTest,
} from "./record-conditions.ts";
import { COMMENTED, type Facets, PROXIED, tagFacet, typeFacet } from "./record-counts.ts";
import { keyHead, KEY_LENGTH_MAX, keyTail } from "./record-keys.ts";
import { reversed } from "#store/queries/reversed.ts";

/** A way to find a zone's records that match a test by an index. */
export interface RecordSource {
  /** Query for the names of matches, one per record, from the index alone if possible; at most `max` unless null. */
  names(max: number | null): RawBuilder<unknown>;
  /** The same for matches that also satisfy a condition on rows of `dns_records`. */
  namesIf(also: Condition): RawBuilder<unknown>;
  /** A condition on matching rows that one index serves. `max`: the largest number of rows that the caller reads. */
  rows(max: number | null): Condition;
  /** The remaining condition on these rows; null if they all match the test. */
  readonly rest: Condition | null;
  /** Whether the index range contains only such rows, so that a search for few of them ends soon. */
  readonly bounded: boolean;
  /** Whether the index returns them in the order of their names. */
  readonly ordered: boolean;
  /** A smaller rank means that fewer matches are expected. */
  readonly rank: number;
}

export function sourceOf(test: RecordTest, zoneId: string): RecordSource {
  switch (test.on) {
    case "type":
      return { ...ofRecords(zoneId, sql`type = ${test.value}`, 8), ordered: true };
    case "proxied":
      return test.value ? { ...ofRecords(zoneId, sql`proxied = 1`, 9), ordered: true } : ofZone(zoneId, test);
    case "commented":
      return test.value ? ofRecords(zoneId, sql`${HEAD.comment} >= ''`, 7) : ofZone(zoneId, test);
    case "tag":
      return test.operator === "absent" ? ofZone(zoneId, test) : tagSource(test, zoneId);
    case "all":
      return conjunction(test.tests, zoneId);
    case "any":
      return exactValues(test.tests, zoneId) ?? disjunction(test.tests, zoneId);
    default:
      return textSource(test, zoneId);
  }
}

/** The maintained counts that give the number of matches; null if these are not counted. */
export function facetsOf(test: RecordTest): Facets | null {
  switch (test.on) {
    case "type":
      return { facets: [typeFacet(test.value)], others: false };
    case "proxied":
      return { facets: [PROXIED], others: !test.value };
    case "commented":
      return { facets: [COMMENTED], others: !test.value };
    case "tag": {
      const others = test.operator === "absent";
      return others || test.operator === "present" ? { facets: [tagFacet(test.name)], others } : null;
    }
    case "any": {
      const types = test.tests.map((one) => (one.on === "type" ? typeFacet(one.value) : null));
      return types.every((type) => type !== null) ? { facets: types, others: false } : null;
    }
    default:
      return null;
  }
}

/** Ranks of sources that read a whole index, and the rank from which a source may match most of the zone. */
const RANK_CONTAINS = 20;
const RANK_ZONE = 21;
const RANK_BROAD = 7;

function ofRecords(zoneId: string, condition: Condition, rank: number): RecordSource {
  const rows = sql<never>`zone_id = ${zoneId} AND ${condition}` as Condition;
  return {
    names: (max) => sql`SELECT name FROM dns_records WHERE ${rows}${limited(max)}`,
    namesIf: (also) => sql`SELECT name FROM dns_records WHERE ${rows} AND ${also}`,
    rows: () => rows,
    rest: null,
    bounded: true,
    ordered: false,
    rank,
  };
}

/** Checks all records of the zone: by the index of names if it contains the tested columns, otherwise by their rows. */
const ofZone = (zoneId: string, test: RecordTest): RecordSource => ({ ...ofRecords(zoneId, judging(test), RANK_ZONE), bounded: false });

const limited = (max: number | null): RawBuilder<unknown> => (max === null ? sql`` : sql` LIMIT ${max}`);

/**
 * Finds the matches of one test and filters them by the others. For a few rows, the test with the fewest expected matches
 * is best; but a test that most of the zone may match is worse than an index with all tested columns.
 */
function conjunction(tests: readonly RecordTest[], zoneId: string): RecordSource {
  const sources = tests.map((test) => sourceOf(test, zoneId));
  const least = leastBy(sources, ({ rank }) => rank);
  const whole = leastBy(sources, ({ rank }) => (rank >= RANK_BROAD && rank < RANK_CONTAINS ? rank + RANK_ZONE : rank));
  const others = (chosen: number): Condition => joined(tests.filter((_, i) => i !== chosen).map(judging), "all");
  const { rows, rest, bounded, rank } = sources[least] as RecordSource;
  const all: RecordTest = { on: "all", tests };
  const narrow = (sources[whole] as RecordSource).rank >= RANK_BROAD && inIndexOfNames(all);
  const namesIf = narrow
    ? ofZone(zoneId, all).namesIf
    : (also: Condition) => (sources[whole] as RecordSource).namesIf(sql`${others(whole)} AND ${also}`);
  return {
    names: (max) => sql`SELECT name FROM (${namesIf(ALWAYS)}) AS fitting${limited(max)}`,
    namesIf,
    rows,
    rest: rest === null ? others(least) : sql`${rest} AND ${others(least)}`,
    bounded,
    ordered: false,
    rank,
  };
}

const leastBy = <T>(items: readonly T[], key: (item: T) => number): number =>
  items.reduce((least, item, i) => (key(item) < key(items[least] as T) ? i : least), 0);

/** Whether the index of names contains all tested columns. */
function inIndexOfNames(test: RecordTest): boolean {
  if (test.on === "any" || test.on === "all") return test.tests.every(inIndexOfNames);
  return test.on !== "content" && test.on !== "comment";
}

/** Limit, because each alternative repeats the tests before it. */
const ALTERNATIVES_MAX = 8;

/** Matches of the first test, then those of the second that the first does not match, and so on. */
function disjunction(tests: readonly RecordTest[], zoneId: string): RecordSource {
  const zone = ofZone(zoneId, { on: "any", tests });
  if (tests.length > ALTERNATIVES_MAX) return zone;
  const sources = tests.map((one) => sourceOf(one, zoneId));
  const namesIf = (also: Condition): RawBuilder<unknown> =>
    sql.join(
      sources.map((source, i) => {
        const unseen = tests.slice(0, i).map((earlier): Condition => sql`(${judging(earlier)}) IS NOT TRUE`);
        return source.namesIf(joined([...unseen, also], "all"));
      }),
      sql` UNION ALL `,
    );
  return { ...zone, names: (max) => sql`SELECT name FROM (${namesIf(ALWAYS)}) AS alternative${limited(max)}`, namesIf };
}

/** The first and last characters of the text, as in the indexes. */
const HEAD = { name: sql`name`, content: sql`content_head`, comment: sql`comment_head` } as const;
const TAIL = { name: sql`name_reversed`, content: sql`content_reversed`, comment: sql`comment_reversed` } as const;
const WHOLE = { content: sql`content_key`, comment: sql`comment_key` } as const;
const RANKS: Readonly<Record<TextColumn, Readonly<Record<TextTest["operator"], number>>>> = {
  name: { exact: 0, startswith: 4, endswith: 4, contains: RANK_CONTAINS },
  content: { exact: 1, startswith: 5, endswith: 5, contains: RANK_CONTAINS },
  comment: { exact: 2, startswith: 6, endswith: 6, contains: RANK_CONTAINS },
};

function textSource(test: TextTest, zoneId: string): RecordSource {
  const { on, operator, value } = test;
  const rank = RANKS[on][operator];
  if (operator === "contains") return { ...ofRecords(zoneId, containingText(on, value), rank), bounded: false };
  const whole = on === "name";
  const found =
    operator === "exact"
      ? sql<never>`${HEAD[on]} = ${whole ? value : keyHead(value)}`
      : operator === "startswith"
        ? prefixed(HEAD[on], whole ? value : keyHead(value))
        : prefixed(TAIL[on], whole ? reversed(value) : keyTail(value));
  // A text shorter than the index's limit is decided by the index alone.
  const certain = whole || value.length < KEY_LENGTH_MAX;
  return ofRecords(zoneId, certain ? (found as Condition) : sql`${found} AND ${judging(test)}`, rank);
}

/** Shorter texts are decided by the index; only rows of longer ones are read. */
function containingText(on: TextColumn, part: string): Condition {
  if (on === "name") return containing(HEAD.name, part);
  const [head, whole] = [HEAD[on], WHOLE[on]];
  return sql`${head} >= '' AND CASE WHEN length(${head}) < ${sql.lit(KEY_LENGTH_MAX)} THEN ${containing(head, part)} ELSE ${containing(whole, part)} END`;
}

/** A list of exact values of one column; null if the tests are of another form. */
function exactValues(tests: readonly RecordTest[], zoneId: string): RecordSource | null {
  const [first] = tests;
  if (first === undefined || !tests.every((test) => test.on === first.on)) return null;
  if (first.on === "type") return ofRecords(zoneId, sql`type IN (${sql.join(tests.map((test) => (test as typeof first).value))})`, 8);
  if (first.on !== "name" && first.on !== "content" && first.on !== "comment") return null;
  const texts = tests as readonly TextTest[];
  if (!texts.every(({ operator }) => operator === "exact")) return null;
  const heads = sql.join(texts.map(({ value }) => (first.on === "name" ? value : keyHead(value))));
  return ofRecords(zoneId, sql`${HEAD[first.on]} IN (${heads}) AND ${joined(texts.map(judging), "any")}`, RANKS[first.on].exact);
}

function tagSource(test: TagTest, zoneId: string): RecordSource {
  const tagged = (repeated: number): Condition => sql`zone_id = ${zoneId} AND repeated = ${repeated} AND ${tagCondition(test)}`;
  // Several tags of one record may match, so records are made distinct.
  const found =
    test.operator === "anywhere"
      ? sql`SELECT DISTINCT record_id, record_name AS name FROM dns_record_tags WHERE zone_id = ${zoneId} AND repeated IN (0, 1) AND ${tagCondition(test)}`
      : sql`SELECT record_id, record_name AS name FROM dns_record_tags WHERE ${tagged(0)}
          UNION ALL SELECT DISTINCT record_id, record_name AS name FROM dns_record_tags WHERE ${tagged(1)}`;
  const rows = (max: number | null): Condition => sql`id IN (SELECT record_id FROM (${found}) AS tagged${limited(max)})`;
  return {
    names: (max) => sql`SELECT name FROM (${found}) AS tagged${limited(max)}`,
    namesIf: (rest) => sql`SELECT name FROM dns_records WHERE ${rows(null)} AND ${rest}`,
    rows,
    rank: test.operator === "exact" ? 3 : 6,
    rest: null,
    // A tag has as many values as records, so the range contains only matches.
    bounded: test.operator !== "contains" && test.operator !== "anywhere",
    ordered: false,
  };
}
