import { existsSync } from "node:fs";
import { join } from "node:path";
import { programFrom, readCoreRulesFiles } from "#app/waf/core-rules-files.ts";
import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { MANAGED_RULESET_ID, SCORE_EXCEEDED_RULE_ID, SCORES_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { MANAGED_RULESETS, useOperatorRules } from "#rules/managed/rulesets.ts";
import { generatedAttacks, type KINDS } from "#rules/managed/testing/generated-attacks.ts";
import { managedMatches, type RequestChanges } from "#rules/managed/testing/managed-request.ts";
import { type WRITTEN_CLASSES, writtenRequests } from "#rules/managed/testing/written-requests.ts";
import { ROOT } from "../steps.ts";

/** A table of the points that one attack adds to the score of the OWASP ruleset, by class of attack and level of paranoia. */
export interface ScoreTable {
  /** As in the API: `own-1`, `OWASP_CRS/3.3.4`. */
  readonly version: string;
  readonly markdown: string;
}

export const GUIDE = join(ROOT, "docs/guides/rules.md");
export const DEBIAN_CORE_RULES = "/usr/share/modsecurity-crs";

interface AttackClass {
  readonly title: string;
  readonly written: readonly (typeof WRITTEN_CLASSES)[number][];
  readonly generated: readonly (keyof typeof KINDS)[];
}

const CLASSES: readonly AttackClass[] = [
  { title: "SQL injection", written: ["sql"], generated: ["SQL"] },
  { title: "Cross-site scripting", written: ["xss"], generated: ["XSS"] },
  { title: "Commands", written: ["commands"], generated: ["COMMANDS"] },
  { title: "Traversal and system files", written: ["traversal", "lfi"], generated: ["TRAVERSAL"] },
  { title: "Forged requests", written: ["ssrf"], generated: ["SSRF"] },
  { title: "Templates", written: ["ssti"], generated: ["TEMPLATES"] },
  { title: "JNDI look-ups", written: ["log4j"], generated: ["JNDI"] },
  { title: "NoSQL and LDAP", written: ["nosql", "ldap"], generated: ["NOSQL"] },
  { title: "PHP, Java, Node.js", written: ["deserialisation", "prototype"], generated: ["PHP", "JAVA", "NODE"] },
  { title: "XML entities", written: ["xxe"], generated: ["XML"] },
  { title: "Header splitting", written: ["crlf"], generated: ["SPLITTING"] },
];

/** Of each list, evenly spread over it. */
const REQUESTS_MAX = 40;
const SEED = 5;

/** Deployments by their highest level of paranoia, with the thresholds that the migration of the previous WAF and its sensitivities name (SPEC 8). */
const DEPLOYMENTS = [
  { level: 1, thresholds: [25, 40] },
  { level: 2, thresholds: [25, 40, 60] },
] as const;

/** Of the rules in use in this process. */
function scoreTable(): ScoreTable {
  const head = [
    "Attack",
    "Stopped by the Managed Ruleset",
    ...DEPLOYMENTS.flatMap(({ level, thresholds }) => [
      `Points at level ${level}: half, most`,
      ...thresholds.map((least) => `${least} or more`),
    ]),
  ];
  const rows = CLASSES.map((row) => {
    const requests = requestsOf(row);
    const blocked = requests.filter((request) => managedMatches(MANAGED_RULESET_ID, request).some(({ action }) => action === "block"));
    const columns = DEPLOYMENTS.flatMap(({ level, thresholds }) => {
      const scores = requests.map((request) => scoreOf(request, level)).sort((a, b) => a - b);
      return [
        `${scores[scores.length >> 1]}, ${scores.at(-1)}`,
        ...thresholds.map((least) => share(scores.filter((score) => score >= least).length, scores.length)),
      ];
    });
    return [row.title, share(blocked.length, requests.length), ...columns];
  });
  return { version: MANAGED_RULESETS.get(SCORES_RULESET_ID)!.version, markdown: alignedTable([head, ...rows]) };
}

export const ownScoreTable = (): ScoreTable => {
  useOperatorRules({ core: null, rows: [] });
  return scoreTable();
};

/** Null if the directory has no Core Rule Set. */
export function coreScoreTable(directory: string): ScoreTable | null {
  if (!existsSync(directory)) return null;
  const files = readCoreRulesFiles(directory);
  useOperatorRules({ core: createCoreRuleSet(programFrom(files), files.digest), rows: [] });
  try {
    return scoreTable();
  } finally {
    useOperatorRules({ core: null, rows: [] });
  }
}

function requestsOf({ written, generated }: AttackClass): readonly RequestChanges[] {
  const lists = [...written.map(writtenRequests), ...generated.map((kind) => generatedAttacks(kind, REQUESTS_MAX, SEED))];
  return lists.flatMap((list) => {
    const count = Math.min(list.length, REQUESTS_MAX);
    return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]!.request);
  });
}

/** The sum of the rules up to a level of paranoia. */
function scoreOf(request: RequestChanges, level: number): number {
  const overrides = {
    action: "log",
    categories: [1, 2, 3, 4].map((each) => ({ category: `paranoia-level-${each}`, enabled: each <= level })),
    rules: [{ id: SCORE_EXCEEDED_RULE_ID, score_threshold: 1 }],
  };
  const sum = managedMatches(SCORES_RULESET_ID, request, overrides).find(({ rule }) => rule.id === SCORE_EXCEEDED_RULE_ID);
  return sum?.found.reduce((points, { score }) => points + score, 0) ?? 0;
}

const share = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

/** In the format of the guides' formatter. */
function alignedTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** A guide's text between two comments that name this tool, so that the tool finds it again. */
export function withScores(guide: string, key: "own" | "core", { version, markdown }: ScoreTable): string {
  const [begin, end] = [`<!-- scores ${key}: made by node tools/waf-scores.ts -->`, `<!-- end of scores ${key} -->`];
  const [from, to] = [guide.indexOf(begin), guide.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the guide has no place for the scores: ${begin} … ${end}`);
  return `${guide.slice(0, from + begin.length)}\n\n\`${version}\`:\n\n${markdown}\n\n${guide.slice(to)}`;
}
