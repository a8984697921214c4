import { contentKey } from "#model/dns-text.ts";
import type { DnsRecordQuery } from "#model/dns-record.ts";
import type { TextOperator } from "#store/like.ts";
import type { RecordFilter, RecordTest, TagTest } from "#store/dns-records.ts";

const SEARCH_WORDS_MAX = 10;

/** The suffix of a query parameter and the comparison it asks for; no suffix is an exact match (SPEC 4.2). */
const OPERATORS = [
  ["", "exact"],
  [".exact", "exact"],
  [".contains", "contains"],
  [".startswith", "startswith"],
  [".endswith", "endswith"],
] as const satisfies readonly (readonly [suffix: string, operator: TextOperator])[];

/** The parameter, the column it looks at, and how its values are folded to be compared with that column. */
const TEXT_FILTERS = [
  ["name", "name", (value: string) => value.toLowerCase().replace(/\.$/, "")],
  ["content", "content_key", contentKey],
  ["comment", "comment", (value: string) => value.toLowerCase()],
] as const;

export function recordFilter(zone: { readonly id: string }, query: DnsRecordQuery): RecordFilter {
  const words = (query.search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, SEARCH_WORDS_MAX);
  return {
    zone_id: zone.id,
    tests: [
      ...textTests(query),
      ...(query["comment.present"] === undefined ? [] : [{ on: "comment", operator: "present" } as const]),
      ...(query["comment.absent"] === undefined ? [] : [{ on: "comment", operator: "absent" } as const]),
      ...alternatives(values(query.type).map((type) => ({ on: "type", value: type.toUpperCase() }))),
      ...(query.proxied === undefined ? [] : [{ on: "proxied", value: query.proxied } as const]),
      ...(words.length === 0 ? [] : [{ on: "search", words } as const]),
    ],
    tags: tagTests(query),
    match: query.match ?? "all",
    tag_match: query.tag_match ?? "all",
    order: query.order ?? "name",
    direction: query.direction ?? "asc",
  };
}

const values = (value: string | string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === "string" ? [value] : value;

const textTests = (query: DnsRecordQuery): RecordTest[] =>
  TEXT_FILTERS.flatMap(([name, on, fold]) =>
    OPERATORS.flatMap(([suffix, operator]) => {
      const tests = values(query[`${name}${suffix}`]).map((value): RecordTest => ({ on, operator, value: fold(value) }));
      return operator === "exact" ? alternatives(tests) : tests;
    }),
  );

/** A record has one name, type and content, so several exact values of one of them can only be meant as alternatives. */
const alternatives = (tests: RecordTest[]): RecordTest[] => (tests.length > 1 ? [{ on: "any", tests }] : tests);

/** `name` or `name:value`; a filter on the value names the tag before the colon. */
function tagTests(query: DnsRecordQuery): TagTest[] {
  const present = [
    ...values(query["tag.present"]).map((tag) => [tag, "present"] as const),
    ...values(query["tag.absent"]).map((tag) => [tag, "absent"] as const),
  ];
  const compared = OPERATORS.flatMap(([suffix, operator]) => values(query[`tag${suffix}`]).map((tag) => [tag, operator] as const));
  return [...present, ...compared].map(([tag, operator]) => {
    const [name = "", ...rest] = tag.toLowerCase().split(":");
    return { operator, name, value: rest.join(":") };
  });
}
