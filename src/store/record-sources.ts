import { type RawBuilder, sql } from "kysely";
import {
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
} from "#store/record-conditions.ts";
import { COMMENTED, type Facets, PROXIED, tagFacet, typeFacet } from "#store/record-counts.ts";
import { keyHead, KEY_LENGTH_MAX, keyTail, reversed } from "#store/record-keys.ts";

/** The records of a zone that one index finds. */
export interface RecordSource {
  /** A query for their names, each as often as there are records, from the index alone; all unless there is a `max`. */
  names(max: number | null): RawBuilder<unknown>;
  /** The same for rows of `dns_records`, as a condition. Whoever takes at most `max` rows says so. */
  rows(max: number | null): Condition;
  /** The smaller, the fewer records it can be expected to find. */
  readonly rank: number;
  /** Whether they are all that the test asks for, and no more. */
  readonly complete: boolean;
  /** Whether a range of the index holds nothing but what is asked for, so that a search for few of them ends soon. */
  readonly bounded: boolean;
  /** Whether the index has them in the order of their names. */
  readonly ordered: boolean;
}

/** Null where no index finds what the test asks for. */
export function sourceOf(test: RecordTest, zoneId: string): RecordSource | null {
  switch (test.on) {
    case "type":
      return { ...ofRecords(zoneId, sql`type = ${test.value}`, 8), ordered: true };
    case "proxied":
      return test.value
        ? { ...ofRecords(zoneId, sql`proxied = 1`, 9), ordered: true }
        : { ...ofRecords(zoneId, judging(test), RANK_ZONE), bounded: false };
    case "commented":
      return test.value
        ? ofRecords(zoneId, sql`${HEAD.comment} >= ''`, 7)
        : { ...ofRecords(zoneId, judging(test), RANK_ZONE), bounded: false };
    case "tag":
      return test.operator === "absent" ? { ...ofRecords(zoneId, judging(test), RANK_ZONE), bounded: false } : tagSource(test, zoneId);
    case "search":
      return null;
    case "all":
      return best(test.tests.map((inner) => sourceOf(inner, zoneId)));
    case "any":
      return alternatives(test.tests, zoneId);
    default:
      return textSource(test, zoneId);
  }
}

/** What counts the records that fit the test, where they are counted all the time. */
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

/** Reads the whole of an index. */
const RANK_ZONE = 20;

function ofRecords(zoneId: string, condition: Condition, rank: number): RecordSource {
  const rows = sql<never>`zone_id = ${zoneId} AND ${condition}` as Condition;
  return {
    names: (max) => sql`SELECT name FROM dns_records WHERE ${rows}${limited(max)}`,
    rows: () => rows,
    rank,
    complete: true,
    bounded: true,
    ordered: false,
  };
}

const limited = (max: number | null): RawBuilder<unknown> => (max === null ? sql`` : sql` LIMIT ${max}`);

/** The other tests still have to be judged. */
function best(sources: readonly (RecordSource | null)[]): RecordSource | null {
  const least = sources.reduce((least, one) => (one !== null && (least === null || one.rank < least.rank) ? one : least), null);
  return least && { ...least, complete: false };
}

/** The beginning and the end of the text, as indexes hold them. */
const HEAD = { name: sql`name`, content: sql`substr(content_key, 1, 64)`, comment: sql`substr(comment_key, 1, 64)` } as const;
const TAIL = { name: sql`name_reversed`, content: sql`content_reversed`, comment: sql`comment_reversed` } as const;
const WHOLE = { content: sql`content_key`, comment: sql`comment_key` } as const;
const RANKS: Readonly<Record<TextColumn, Readonly<Record<TextTest["operator"], number>>>> = {
  name: { exact: 0, startswith: 4, endswith: 4, contains: RANK_ZONE },
  content: { exact: 1, startswith: 5, endswith: 5, contains: RANK_ZONE },
  comment: { exact: 2, startswith: 6, endswith: 6, contains: 19 },
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
  // A shorter text than the index holds is told by the index alone.
  const certain = whole || value.length < KEY_LENGTH_MAX;
  return ofRecords(zoneId, certain ? (found as Condition) : sql`${found} AND ${judging(test)}`, rank);
}

/** The index tells of all texts that are shorter than what it holds; only the row of a longer one is read. */
function containingText(on: TextColumn, part: string): Condition {
  if (on === "name") return containing(HEAD.name, part);
  const [head, whole] = [HEAD[on], WHOLE[on]];
  return sql`${head} >= '' AND CASE WHEN length(${head}) < ${sql.lit(KEY_LENGTH_MAX)} THEN ${containing(head, part)} ELSE ${containing(whole, part)} END`;
}

/** Exact values of one column, as a list. Other alternatives would need an index each. */
function alternatives(tests: readonly RecordTest[], zoneId: string): RecordSource | null {
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
  // Only of a record with several tags of the name can more than one fit.
  const found = sql`SELECT record_id, record_name AS name FROM dns_record_tags WHERE ${tagged(0)}
    UNION ALL SELECT DISTINCT record_id, record_name AS name FROM dns_record_tags WHERE ${tagged(1)}`;
  return {
    names: (max) => sql`SELECT name FROM (${found}) AS tagged${limited(max)}`,
    rows: (max) => sql`id IN (SELECT record_id FROM (${found}) AS tagged${limited(max)})`,
    rank: test.operator === "exact" ? 3 : 6,
    complete: true,
    // The values of one tag are as many as its records.
    bounded: test.operator !== "contains",
    ordered: false,
  };
}
