import { type RawBuilder, sql, type SqlBool } from "kysely";
import { escapeLike, type TextOperator } from "#store/like.ts";
import { afterPrefix, keyHead, KEY_LENGTH_MAX, keyTail, reversed } from "#store/record-keys.ts";

/** One condition of a list. Values are folded as the column is: lower case, and content as `contentKey` does. */
export type RecordTest =
  | TextTest
  | { readonly on: "commented"; readonly value: boolean }
  | { readonly on: "tag"; readonly operator: TextOperator | "present" | "absent"; readonly name: string; readonly value: string }
  | { readonly on: "type"; readonly value: string }
  | { readonly on: "proxied"; readonly value: boolean }
  /** Free text: the word anywhere in the name, content, comment or a tag. */
  | { readonly on: "search"; readonly word: string; readonly content: string }
  | { readonly on: "any" | "all"; readonly tests: readonly RecordTest[] };

export interface TextTest {
  readonly on: TextColumn;
  readonly operator: TextOperator;
  readonly value: string;
}

export type TextColumn = "name" | "content" | "comment";

type Condition = RawBuilder<SqlBool>;

export const ALWAYS: Condition = sql`1 = 1`;

/** In words that no index knows, for judging rows that are found by other means. */
export function judging(test: RecordTest): Condition {
  switch (test.on) {
    case "type":
      return sql`type || '' = ${test.value}`;
    case "proxied":
      return sql`proxied + 0 = ${test.value ? 1 : 0}`;
    case "commented":
      return test.value ? sql`comment_key IS NOT NULL` : sql`comment_key IS NULL`;
    case "tag":
      return taggedRow(test);
    case "search":
      return searched(test.word, test.content);
    case "any":
    case "all":
      return joined(test.tests.map(judging), test.on);
    default:
      return judgedText(test);
  }
}

/** How rows are found by an index. */
export interface Driver {
  /** The zone's records that one index finds by itself. */
  readonly condition: Condition;
  /** The smaller, the fewer rows it can be expected to find. */
  readonly rank: number;
  /** Whether they are all that the test asks for, and no more. */
  readonly complete: boolean;
}

/** Null where no index finds what the test asks for. Whoever takes at most `max` rows says so, unless it is null. */
export function driver(test: RecordTest, zoneId: string, max: number | null): Driver | null {
  switch (test.on) {
    case "type":
      return within(zoneId, sql`type = ${test.value}`, 8);
    case "proxied":
      // Only what is proxied has an index: of the rest there is no end, so that the next one is near anyway.
      return test.value ? within(zoneId, sql`proxied = 1`, 9) : null;
    case "commented":
      return test.value ? within(zoneId, sql`${HEAD.comment} >= ''`, 7) : null;
    case "tag":
      return tagDriver(test, zoneId, max);
    case "search":
      return null;
    case "all":
      return best(test.tests.map((inner) => driver(inner, zoneId, max)));
    case "any":
      return alternativesDriver(test.tests, zoneId);
    default:
      return textDriver(test, zoneId);
  }
}

const within = (zoneId: string, condition: Condition, rank: number): Driver => ({
  condition: sql`zone_id = ${zoneId} AND ${condition}`,
  rank,
  complete: true,
});

/** The other tests still have to be judged. */
function best(drivers: readonly (Driver | null)[]): Driver | null {
  const least = drivers.reduce((least, one) => (one !== null && (least === null || one.rank < least.rank) ? one : least), null);
  return least && { ...least, complete: false };
}

export const joined = (parts: readonly Condition[], match: "any" | "all"): Condition =>
  parts.length === 0 ? ALWAYS : sql`(${sql.join(parts, match === "any" ? sql` OR ` : sql` AND `)})`;

type TagTest = Extract<RecordTest, { readonly on: "tag" }>;

const PLAIN = { name: sql`name`, content: sql`content_key`, comment: sql`comment_key` } as const;
/** The whole text, in words that are in no index. */
const WHOLE = { ...PLAIN, name: sql`(name || '')` } as const;
/** The beginning of the text, as indexes hold it. */
const HEAD = { name: sql`name`, content: sql`substr(content_key, 1, 64)`, comment: sql`substr(comment_key, 1, 64)` } as const;
const TAIL = { name: sql`name_reversed`, content: sql`content_reversed`, comment: sql`comment_reversed` } as const;
const RANKS = {
  name: { exact: 0, startswith: 4, endswith: 4 },
  content: { exact: 1, startswith: 5, endswith: 5 },
  comment: { exact: 2, startswith: 6, endswith: 6 },
} as const;

function judgedText({ on, operator, value }: TextTest): Condition {
  const text = WHOLE[on];
  switch (operator) {
    case "exact":
      return sql`${text} = ${value}`;
    case "startswith":
      return prefixed(text, value);
    case "contains":
      return sql`${PLAIN[on]} LIKE ${`%${escapeLike(value)}%`} ESCAPE '\\'`;
    case "endswith":
      return sql`${PLAIN[on]} LIKE ${`%${escapeLike(value)}`} ESCAPE '\\'`;
  }
}

function textDriver(test: TextTest, zoneId: string): Driver | null {
  const { on, operator, value } = test;
  if (operator === "contains") return null;
  const whole = on === "name";
  const found =
    operator === "exact"
      ? sql<SqlBool>`${HEAD[on]} = ${whole ? value : keyHead(value)}`
      : operator === "startswith"
        ? prefixed(HEAD[on], whole ? value : keyHead(value))
        : prefixed(TAIL[on], whole ? reversed(value) : keyTail(value));
  // A shorter text than the index holds is told by the index alone, which then counts without reading rows.
  const certain = whole || value.length < KEY_LENGTH_MAX;
  return within(zoneId, certain ? found : sql`${found} AND ${judgedText(test)}`, RANKS[on][operator]);
}

/** Exact values of one column, as a list. Other alternatives would need an index each. */
function alternativesDriver(tests: readonly RecordTest[], zoneId: string): Driver | null {
  const [first] = tests;
  if (first === undefined || !tests.every((test) => test.on === first.on)) return null;
  if (first.on === "type") return within(zoneId, sql`type IN (${sql.join(tests.map((test) => (test as typeof first).value))})`, 8);
  if (first.on !== "name" && first.on !== "content" && first.on !== "comment") return null;
  const texts = tests as readonly TextTest[];
  if (!texts.every(({ operator }) => operator === "exact")) return null;
  const heads = sql.join(texts.map(({ value }) => (first.on === "name" ? value : keyHead(value))));
  return within(zoneId, sql`${HEAD[first.on]} IN (${heads}) AND ${joined(texts.map(judgedText), "any")}`, RANKS[first.on].exact);
}

function prefixed(text: RawBuilder<unknown>, prefix: string): Condition {
  const after = afterPrefix(prefix);
  return after === null ? sql`${text} >= ${prefix}` : sql`(${text} >= ${prefix} AND ${text} < ${after})`;
}

/** On one of the record's tags, by the columns of `dns_record_tags`. A filter names the tag and compares its value. */
function tagCondition({ operator, name, value }: TagTest): Condition {
  switch (operator) {
    case "present":
    case "absent":
      return prefixed(sql`tag_key`, `${name}:`);
    case "exact":
      return sql`tag_key = ${`${name}:${value}`}`;
    case "startswith":
      return prefixed(sql`tag_key`, `${name}:${value}`);
    case "endswith":
      return prefixed(sql`tag_reversed`, `${name}:${reversed(value)}`);
    case "contains":
      return sql`${prefixed(sql`tag_key`, `${name}:`)} AND tag_key LIKE ${`${escapeLike(`${name}:`)}%${escapeLike(value)}%`} ESCAPE '\\'`;
  }
}

function taggedRow(test: TagTest): Condition {
  const tagged = sql<SqlBool>`EXISTS (SELECT 1 FROM dns_record_tags WHERE record_id = dns_records.id AND ${tagCondition(test)})`;
  return test.operator === "absent" ? sql`NOT ${tagged}` : sql`tags <> '[]' AND ${tagged}`;
}

function tagDriver(test: TagTest, zoneId: string, max: number | null): Driver | null {
  if (test.operator === "absent") return null;
  // The values of one tag are as many as its records, so that what stands in their middle is looked for in the rows.
  const complete = test.operator !== "contains";
  const tagged = tagCondition(complete ? test : { ...test, operator: "present" });
  const limit = max === null ? sql`` : sql` LIMIT ${max + 1}`;
  return {
    condition: sql`id IN (SELECT DISTINCT record_id FROM dns_record_tags WHERE zone_id = ${zoneId} AND ${tagged}${limit})`,
    rank: test.operator === "exact" ? 3 : 6,
    complete,
  };
}

function searched(word: string, content: string): Condition {
  const like = (text: RawBuilder<unknown>, part: string): Condition => sql`${text} LIKE ${`%${escapeLike(part)}%`} ESCAPE '\\'`;
  const tagged = sql<SqlBool>`(tags <> '[]' AND EXISTS (SELECT 1 FROM dns_record_tags WHERE record_id = dns_records.id AND ${like(sql`tag_key`, word)}))`;
  return joined([like(sql`name`, word), like(sql`content_key`, content), like(sql`comment_key`, word), tagged], "any");
}
