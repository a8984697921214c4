import { type RawBuilder, sql, type SqlBool } from "kysely";
import { escapeLike, type TextOperator } from "#store/queries/like.ts";
import { afterPrefix } from "./record-keys.ts";
import { reversed } from "#store/queries/reversed.ts";

/** One condition of a list. Values are folded like the column: lower case, and content as by `contentKey`. */
export type RecordTest =
  | TextTest
  | { readonly on: "commented"; readonly value: boolean }
  | TagTest
  | { readonly on: "type"; readonly value: string }
  | { readonly on: "proxied"; readonly value: boolean }
  | { readonly on: "any" | "all"; readonly tests: readonly RecordTest[] };

export interface TextTest {
  readonly on: TextColumn;
  readonly operator: TextOperator;
  readonly value: string;
}

export type TextColumn = "name" | "content" | "comment";

export interface TagTest {
  readonly on: "tag";
  /** `anywhere` searches names and values; the other operators apply to the value of the named tag. */
  readonly operator: TextOperator | "present" | "absent" | "anywhere";
  readonly name: string;
  readonly value: string;
}

export type Condition = RawBuilder<SqlBool>;

export const ALWAYS: Condition = sql`1 = 1`;

/** A condition that no index matches, to filter rows that were found by other means. */
export function judging(test: RecordTest): Condition {
  switch (test.on) {
    case "type":
      return sql`type || '' = ${test.value}`;
    case "proxied":
      return sql`proxied + 0 = ${test.value ? 1 : 0}`;
    case "commented":
      return sql`commented = ${test.value ? 1 : 0}`;
    case "tag":
      return taggedRow(test);
    case "any":
    case "all":
      return joined(test.tests.map(judging), test.on);
    default:
      return judgedText(test);
  }
}

export const joined = (parts: readonly Condition[], match: "any" | "all"): Condition =>
  parts.length === 0 ? ALWAYS : sql`(${sql.join(parts, match === "any" ? sql` OR ` : sql` AND `)})`;

const PLAIN = { name: sql`name`, content: sql`content_key`, comment: sql`comment_key` } as const;
/** The whole text, as expressions that no index matches. */
const WHOLE = { ...PLAIN, name: sql`(name || '')` } as const;

function judgedText({ on, operator, value }: TextTest): Condition {
  switch (operator) {
    case "exact":
      return sql`${WHOLE[on]} = ${value}`;
    case "startswith":
      return prefixed(WHOLE[on], value);
    case "contains":
      return containing(PLAIN[on], value);
    case "endswith":
      return sql`${PLAIN[on]} LIKE ${`%${escapeLike(value)}`} ESCAPE '\\'`;
  }
}

export const containing = (text: RawBuilder<unknown>, part: string): Condition => sql`${text} LIKE ${`%${escapeLike(part)}%`} ESCAPE '\\'`;

export function prefixed(text: RawBuilder<unknown>, prefix: string): Condition {
  const after = afterPrefix(prefix);
  return after === null ? sql`${text} >= ${prefix}` : sql`(${text} >= ${prefix} AND ${text} < ${after})`;
}

/** A condition on one of the record's tags, by the columns of `dns_record_tags`. */
export function tagCondition({ operator, name, value }: TagTest): Condition {
  switch (operator) {
    case "present":
    case "absent":
      return prefixed(sql`tag_key`, `${name}:`);
    case "anywhere":
      return containing(sql`tag_key`, value);
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
  const tags = sql`FROM dns_record_tags WHERE record_id = dns_records.id AND ${tagCondition(test)}`;
  // A count, because PostgreSQL would read the tags of the whole zone at once for NOT EXISTS.
  return test.operator === "absent" ? sql`(tagged = 0 OR (SELECT count(*) ${tags}) = 0)` : sql`(tagged = 1 AND EXISTS (SELECT 1 ${tags}))`;
}
