import type { AttackCategory } from "../managed/signatures/signature.ts";
import type { ManagedRule, ManagedRuleset } from "#rules/managed/managed-ruleset.ts";
import { MANAGED_RULESET_ID, REQUEST_ROWS, type RequestRow, ruleIdOf, SCORES_RULESET_ID } from "../managed/request-rulesets.ts";

/** How a package decides: by a score, or each rule by itself (waf.md, "Previous WAF"). */
export type DetectionMode = "anomaly" | "traditional";

/** A rule of a package. */
export interface PackageRule {
  readonly id: string;
  readonly description: string;
  readonly group_id: string;
  /** Default mode of traditional rules. */
  readonly default_mode: "block" | "disable";
  /** The rule of the ruleset that replaces the package. */
  readonly successor_id: string;
}

export interface PackageGroup {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Its rules' category in the ruleset that replaces the package. */
  readonly category: string;
}

export interface WafPackage {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly detection_mode: DetectionMode;
  readonly groups: readonly PackageGroup[];
  readonly rules: readonly PackageRule[];
  /** The managed ruleset that replaces it. */
  readonly successor_id: string;
  /** The ruleset that the edge runs; customers' rulesets cannot name it. */
  readonly ruleset: ManagedRuleset;
}

export const TRADITIONAL_PACKAGE_ID = "a7c1e5039bd24f68b0d1c2e3f4a50611";
export const ANOMALY_PACKAGE_ID = "a7c1e5039bd24f68b0d1c2e3f4a50722";

/**
 * Minimum scores at which a package of detection mode `anomaly` acts, by its sensitivity (waf.md). Scripts of pages
 * send more that looks similar.
 */
export const SENSITIVITY_SCORES = {
  high: { plain: 25, script: 65 },
  medium: { plain: 40, script: 80 },
  low: { plain: 60, script: 120 },
} as const;

export const SCORE_RULE_IDS = {
  plain: ruleIdOf(ANOMALY_PACKAGE_ID, "score"),
  script: ruleIdOf(ANOMALY_PACKAGE_ID, "score of a script's request"),
} as const;

/** Requests of a page's script identify themselves, because a plain form cannot set the header. */
const FROM_SCRIPT = 'any(lower(http.request.headers["x-requested-with"][*])[*] eq "xmlhttprequest")';

// The rule sets of that time had no paranoia levels; SPEC 8 gives them the second.
const ROWS = REQUEST_ROWS.filter(({ paranoia }) => paranoia <= 2);

const GROUP_NAMES: Readonly<Record<AttackCategory, string>> = {
  sqli: "SQL injection",
  xss: "Cross-site scripting",
  lfi: "Local files",
  "rfi-ssrf": "Remote files and forged requests",
  rce: "Commands",
  "template-injection": "Templates",
  php: "PHP",
  java: "Java",
  nodejs: "Node.js",
  "nosql-ldap-xml": "NoSQL, LDAP and XML",
  scanner: "Scanners",
  upload: "Uploads",
  protocol: "Protocol anomalies",
};

const categoryOf = ({ categories }: Pick<RequestRow, "categories">): string => categories[0]!;

const groupsOf = (packageId: string): readonly PackageGroup[] =>
  [...new Set(ROWS.map(categoryOf))].map((category) => {
    const name = GROUP_NAMES[category as AttackCategory];
    return { id: ruleIdOf(packageId, `group ${category}`), name, description: `Rules against attacks of one kind: ${name}`, category };
  });

const rulesOf = (packageId: string, successorId: string): readonly PackageRule[] =>
  ROWS.map(({ slug, title, certainty, ...row }) => ({
    id: ruleIdOf(packageId, slug),
    description: title,
    group_id: ruleIdOf(packageId, `group ${categoryOf(row)}`),
    default_mode: certainty === "certain" ? "block" : "disable",
    successor_id: ruleIdOf(successorId, slug),
  }));

const managed = (id: string, name: string, rules: readonly ManagedRule[]): ManagedRuleset => ({
  id,
  name,
  description: name,
  phase: "http_request_firewall_managed",
  version: "1",
  actions: ["block", "log", "challenge"],
  has_sensitivity: false,
  rules,
});

const ruleOf = (packageId: string, { slug, title, categories, decides }: RequestRow): Omit<ManagedRule, "action" | "enabled"> => ({
  id: ruleIdOf(packageId, slug),
  detector: "",
  ...decides,
  description: title,
  categories,
});

const TRADITIONAL: WafPackage = {
  id: TRADITIONAL_PACKAGE_ID,
  name: "Managed rules (previous version)",
  description: "Rules that act independently",
  detection_mode: "traditional",
  groups: groupsOf(TRADITIONAL_PACKAGE_ID),
  rules: rulesOf(TRADITIONAL_PACKAGE_ID, MANAGED_RULESET_ID),
  successor_id: MANAGED_RULESET_ID,
  ruleset: managed(
    TRADITIONAL_PACKAGE_ID,
    "Managed rules (previous version)",
    ROWS.map((row) => ({ ...ruleOf(TRADITIONAL_PACKAGE_ID, row), action: "block", enabled: row.certainty === "certain" })),
  ),
};

const scoreRule = (which: "plain" | "script", expression: string): ManagedRule => ({
  id: SCORE_RULE_IDS[which],
  detector: "",
  expression,
  action: "challenge",
  score_threshold: SENSITIVITY_SCORES.high[which],
  description: "The request's score is too high",
  categories: [],
  enabled: true,
});

const ANOMALY: WafPackage = {
  id: ANOMALY_PACKAGE_ID,
  name: "OWASP rules (previous version)",
  description: "Rules that add to a score",
  detection_mode: "anomaly",
  groups: groupsOf(ANOMALY_PACKAGE_ID),
  rules: rulesOf(ANOMALY_PACKAGE_ID, SCORES_RULESET_ID),
  successor_id: SCORES_RULESET_ID,
  ruleset: managed(ANOMALY_PACKAGE_ID, "OWASP rules (previous version)", [
    ...ROWS.map((row) => ({
      ...ruleOf(ANOMALY_PACKAGE_ID, row),
      action: "score",
      action_parameters: { increment: row.score },
      enabled: true,
    })),
    scoreRule("plain", `not ${FROM_SCRIPT}`),
    scoreRule("script", FROM_SCRIPT),
  ]),
};

export const WAF_PACKAGES: readonly WafPackage[] = [TRADITIONAL, ANOMALY];

export const packageById = (id: string): WafPackage | undefined => WAF_PACKAGES.find((candidate) => candidate.id === id);

export const PACKAGE_RULESETS: ReadonlyMap<string, ManagedRuleset> = new Map(WAF_PACKAGES.map(({ id, ruleset }) => [id, ruleset]));
