/**
 * A habit of speech that the project leaves behind, and how often each area may still have it. The numbers only fall; on 2026-11-26
 * each was ten more than there were, for branches that had begun before the rule.
 */
export interface WordRule {
  readonly name: string;
  /** Looked for in each line. */
  readonly pattern: RegExp;
  readonly instead: string;
  readonly most: Readonly<Record<Area, number>>;
}

export type Area = keyof typeof AREAS;

/** Paths by area; a file counts in the first area that it fits. */
export const AREAS = {
  managed: /^src\/rules\/managed\//,
  gateway: /^src\/gateway\//,
  control: /^src\/control\//,
  sources: /^src\//,
  tests: /^(?:test|tools)\//,
  pages: /^(?:docs\/(?!adr\/|history\/).*|[A-Z]+)\.md$/,
} as const;

export const WORD_RULES: readonly WordRule[] = [
  {
    name: "comments that begin with What or Who",
    pattern: /(?:\/\*\*|\/\/) (?:What|Who|Whoever|Whatever)\b/,
    instead: "name the thing: a noun, or a verb for a function",
    most: { managed: 46, gateway: 126, control: 237, sources: 927, tests: 209, pages: 10 },
  },
  {
    name: "titles that begin with what or who",
    pattern: /^\s*(?:await )?(?:t\.)?test\([`"](?:[Ww]hat|[Ww]ho|[Ww]hoever|[Ww]hatever)\b/,
    instead: "begin with the thing that does it: `a body that is too large gets 413`",
    most: { managed: 13, gateway: 42, control: 21, sources: 190, tests: 61, pages: 10 },
  },
  {
    name: "there is no",
    pattern: /\b[Tt]here (?:is|are) no\b/,
    instead: "say who lacks it, or `X does not exist`",
    most: { managed: 10, gateway: 12, control: 20, sources: 77, tests: 30, pages: 14 },
  },
  {
    name: "anew",
    pattern: /\banew\b/,
    instead: "again",
    most: { managed: 10, gateway: 10, control: 11, sources: 72, tests: 24, pages: 11 },
  },
  {
    name: "of its own",
    pattern: /\bof (?:its|their|one's) own\b/,
    instead: "its own X",
    most: { managed: 13, gateway: 18, control: 26, sources: 145, tests: 95, pages: 26 },
  },
];
