import { domainToASCII } from "node:url";
import { contentKey, contentPart, quoteText } from "#model/dns/dns-text.ts";
import type { DnsRecordQuery } from "#model/dns/dns-record.ts";
import type { TextOperator } from "#store/queries/like.ts";
import type { RecordTest } from "#store/dns/record-conditions.ts";
import { folded, splitTag } from "#store/dns/record-keys.ts";

const SEARCH_WORDS_MAX = 10;

/** Suffixes of query parameters and their comparisons; no suffix means an exact match (SPEC 4.2). */
const OPERATORS = [
  ["", "exact"],
  [".exact", "exact"],
  [".contains", "contains"],
  [".startswith", "startswith"],
  [".endswith", "endswith"],
] as const satisfies readonly (readonly [suffix: string, operator: TextOperator])[];

type Fold = (value: string, operator: TextOperator) => string;

/** How the value of each parameter is folded for comparison with the column. */
const TEXT_FILTERS = [
  ["name", foldName],
  ["content", foldContent],
  ["comment", folded],
] as const satisfies readonly (readonly [parameter: string, fold: Fold])[];

/** The test of a query, or null if it matches everything. */
export function recordTest(query: DnsRecordQuery): RecordTest | null {
  const tests = [
    ...textTests(query),
    ...(query["comment.present"] === undefined ? [] : [{ on: "commented", value: true } as const]),
    ...(query["comment.absent"] === undefined ? [] : [{ on: "commented", value: false } as const]),
    ...group(
      "any",
      values(query.type).map((type) => ({ on: "type", value: type.toUpperCase() })),
    ),
    ...(query.proxied === undefined ? [] : [{ on: "proxied", value: query.proxied } as const]),
    ...group("all", searchTests(query.search ?? "")),
    ...group(query.tag_match ?? "all", tagTests(query)),
  ];
  return group(query.match ?? "all", tests)[0] ?? null;
}

/** Combines tests; a single test stays as it is, and an empty array stays empty. */
const group = (on: "any" | "all", tests: readonly RecordTest[]): readonly RecordTest[] => (tests.length > 1 ? [{ on, tests }] : tests);

const values = (value: string | string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === "string" ? [value] : value;

const textTests = (query: DnsRecordQuery): RecordTest[] =>
  TEXT_FILTERS.flatMap(([on, fold]) =>
    OPERATORS.flatMap(([suffix, operator]) => {
      const given = values(query[`${on}${suffix}`]);
      const tests = [...given, ...(on === "content" && operator === "exact" ? shownForms(given) : [])].map((value): RecordTest => ({
        on,
        operator,
        value: fold(value, operator),
      }));
      // A record has one name and one content, so several exact values are alternatives.
      return operator === "exact" ? group("any", tests) : tests;
    }),
  );

/** Clients look for text as they sent it: with escapes that the service left out when it added quotes. */
const shownForms = (contents: readonly string[]): readonly string[] =>
  contents.filter((content) => content.includes("\\")).flatMap((content) => quoteText(content) ?? []);

function foldName(value: string, operator: TextOperator): string {
  if (operator !== "exact") return operator === "endswith" ? folded(value).replace(/\.$/, "") : folded(value);
  const name = folded(value).replace(/\.$/, "");
  return /^[\0-\x7f]*$/.test(name) ? name : domainToASCII(name) || name;
}

function foldContent(value: string, operator: TextOperator): string {
  switch (operator) {
    case "exact":
      return contentKey(value.toWellFormed());
    case "startswith":
      return contentPart(value.toWellFormed()).trimStart();
    case "endswith":
      return contentPart(value.toWellFormed()).trimEnd().replace(/\.$/, "");
    case "contains":
      return contentPart(value.toWellFormed());
  }
}

/** Each word must occur in the name, the content, the comment or a tag. */
const searchTests = (search: string): RecordTest[] =>
  folded(search)
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, SEARCH_WORDS_MAX)
    .map((word) => ({
      on: "any",
      tests: [
        { on: "name", operator: "contains", value: word },
        { on: "content", operator: "contains", value: contentPart(word) || word },
        { on: "comment", operator: "contains", value: word },
        { on: "tag", operator: "anywhere", name: "", value: word },
      ],
    }));

/** `name` or `name:value`: the filter selects the tag and compares its value. */
function tagTests(query: DnsRecordQuery): RecordTest[] {
  const operators = [[".present", "present"], [".absent", "absent"], ...OPERATORS] as const;
  return operators.flatMap(([suffix, operator]) =>
    values(query[`tag${suffix}`]).map((tag): RecordTest => ({ on: "tag", operator, ...splitTag(tag) })),
  );
}
