/** A habit of speech that the project removes, and its current number per area. The numbers only fall. */
export interface WordRule {
  readonly name: string;
  /** Tested on each line. */
  readonly pattern: RegExp;
  readonly instead: string;
  /** The rule ignores areas without a number. */
  readonly most: Readonly<Partial<Record<Area, number>>>;
}

export type Area = keyof typeof AREAS;

/** Paths by area; a file belongs to the first area that matches. */
export const AREAS = {
  managed: /^src\/rules\/managed\//,
  gateway: /^src\/gateway\//,
  control: /^src\/control\//,
  dashboard: /^dashboard\/src\//,
  sources: /^src\//,
  tests: /^(?:test|tools)\//,
  pages: /^(?:docs\/(?!adr\/|history\/).*|[A-Z]+)\.md$/,
} as const;

export const WORD_RULES: readonly WordRule[] = [
  {
    name: "comments that begin with What or Who",
    pattern: /(?:\/\*\*|\/\/) (?:What|Who|Whoever|Whatever)\b/,
    instead: "name the thing: a noun, or a verb for a function",
    most: { managed: 0, gateway: 0, control: 0, dashboard: 0, sources: 0, tests: 0, pages: 0 },
  },
  {
    name: "titles that begin with what or who",
    pattern: /^\s*(?:await )?(?:t\.)?(?:\w*[tT]est|describe)\([`"](?:[Ww]hat|[Ww]ho|[Ww]hoever|[Ww]hatever)\b/,
    instead: "begin with the thing that does it: `a body that is too large gets 413`",
    most: { managed: 0, gateway: 0, control: 0, dashboard: 0, sources: 0, tests: 0, pages: 0 },
  },
  {
    name: "titles with amid, anew or is no",
    pattern: /^\s*(?:await )?(?:t\.)?(?:\w*[tT]est|describe)\([`"][^`"]*\b(?:amid|anew|(?:is|are|was|were) no (?!longer\b|more\b|one\b))/,
    instead: "`during`, `again`, `is not a`",
    most: { managed: 0, gateway: 0, control: 0, dashboard: 0, sources: 0, tests: 0, pages: 0 },
  },
  {
    name: "there is no",
    pattern: /\b[Tt]here (?:is|are) no\b/,
    instead: "say who lacks it, or `X does not exist`",
    most: { managed: 0, gateway: 2, control: 0, dashboard: 1, sources: 5, tests: 4, pages: 1 },
  },
  {
    name: "amid in comments and pages",
    pattern: /(?:^|\s)(?:\/\/|\/?\*\*?|[-|#>]|[A-Z]\w*) .*\bamid\b/,
    instead: "`during`, `in the middle of`",
    most: { managed: 0, gateway: 0, control: 0, dashboard: 0, sources: 0, tests: 0, pages: 0 },
  },
  {
    name: "anew",
    pattern: /\banew\b/,
    instead: "again",
    most: { managed: 0, gateway: 0, control: 0, dashboard: 0, sources: 4, tests: 4, pages: 1 },
  },
  {
    name: "of its own",
    pattern: /\bof (?:its|their|one's) own\b/,
    instead: "its own X",
    most: { managed: 0, gateway: 3, control: 7, dashboard: 2, sources: 19, tests: 25, pages: 4 },
  },
  {
    name: "whoever",
    pattern: /\b[Ww]hoever\b/,
    instead: "name the person who does it",
    most: { gateway: 0, control: 0, dashboard: 0, sources: 0, tests: 0, pages: 0 },
  },
  {
    name: "texts of pages that begin with What or Who",
    pattern: /(?:["`>]|\. )(?:What|Who)\b/,
    instead: "name the thing, or the person who does it",
    most: { dashboard: 0 },
  },
];
