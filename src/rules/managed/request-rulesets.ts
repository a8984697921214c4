import { createHash } from "node:crypto";
import { BODY_CAUSE_NAMES, BODY_CAUSES } from "../body/body-causes.ts";
import { coreRows } from "./core/core-rows.ts";
import type { CoreRuleSet } from "./core/core-rule-set.ts";
import { PROTOCOL_ANOMALIES } from "./protocol.ts";
import type { ManagedRule, ManagedRuleset } from "./managed-ruleset.ts";
import type { Certainty, Signature } from "./signatures/signature.ts";
import { createSignatureTable, OWN_SIGNATURES, SIGNATURES, type SignatureTable } from "./signatures/table.ts";
import type { OperatorRow } from "./operator/operator-row.ts";
import { signaturesOfOperator } from "./operator/operator-signatures.ts";

// waf.md: identifiers that clients know.
export const MANAGED_RULESET_ID = "efb7b8c949ac4650a09736fc376e9aee";
export const SCORES_RULESET_ID = "4814384a9e5d4991b9815dcfc25d2f1f";
export const SCORE_EXCEEDED_RULE_ID = "6179ae15870a4bb7b2d480d4843b323c";
/** Runs the rules that the rule executing it carries (seclang-ruleset.ts). */
export const SECLANG_RULESET_ID = "5ec1a46e0b7d4c21a9f35d80e6b7c2d4";
const SCORE_THRESHOLD = 40;

const PHASE = "http_request_firewall_managed";
const ACTIONS = ["block", "log", "managed_challenge", "js_challenge", "challenge"];

/** Slugs never change, and so ids do not. */
export const ruleIdOf = (ruleset: string, slug: string): string =>
  createHash("sha256").update(`${ruleset} ${slug}`).digest("hex").slice(0, 32);

/** A row from which rulesets for requests are made. */
export interface RequestRow {
  readonly slug: string;
  readonly title: string;
  readonly paranoia: number;
  readonly score: number;
  readonly certainty: Certainty;
  readonly categories: readonly string[];
  readonly decides: Pick<ManagedRule, "expression" | "shows" | "signature">;
}

/** Rows of signatures, in order, with numbers from `from` on. */
const rowsOf = (signatures: readonly Signature[], from: number, more: readonly string[] = []): readonly RequestRow[] =>
  signatures.map((row, i) => ({ ...row, categories: [row.category, ...more], decides: { signature: from + i } }));

export const REQUEST_ROWS: readonly RequestRow[] = [
  ...PROTOCOL_ANOMALIES.map((row) => ({ ...row, categories: ["protocol"], decides: { expression: row.expression, shows: row.shows } })),
  ...rowsOf(SIGNATURES, 0),
];

/** Category of the operator's rules. */
export const OPERATOR_CATEGORY = "operator";

/** Rows, and the table that their signatures' numbers are of. */
export interface RequestMaterial {
  readonly rows: readonly RequestRow[];
  readonly signatures: SignatureTable;
}

const OWN: RequestMaterial = { rows: REQUEST_ROWS, signatures: OWN_SIGNATURES };

/** Our own rows, followed by the operator's. */
export function materialWith(operatorRows: readonly OperatorRow[]): RequestMaterial {
  if (operatorRows.length === 0) return OWN;
  const added = signaturesOfOperator(operatorRows);
  return {
    rows: [...REQUEST_ROWS, ...rowsOf(added, SIGNATURES.length, [OPERATOR_CATEGORY])],
    signatures: createSignatureTable([...SIGNATURES, ...added]),
  };
}

/**
 * Bodies that programs may read differently from rules. Each decides by itself in both rulesets, because no score shows
 * how much of an attack was not seen: if a part of the body may be unread it blocks, otherwise it logs.
 */
const bodyRules = (rulesetId: string): readonly ManagedRule[] =>
  BODY_CAUSE_NAMES.map((cause) => ({
    id: ruleIdOf(rulesetId, `body-${cause}`),
    detector: "",
    cause,
    action: BODY_CAUSES[cause].isUnread ? "block" : "log",
    suspicion: 1,
    description: BODY_CAUSES[cause].title,
    categories: ["protocol", "body"],
    enabled: true,
  }));

const SUSPICIONS: Readonly<Record<Certainty, number>> = { certain: 1, likely: 2, possible: 3 };

/** Rules that are certain enough to block by themselves; the others of the first two levels are off by default. */
export const managedOf = ({ rows, signatures }: RequestMaterial): ManagedRuleset => ({
  id: MANAGED_RULESET_ID,
  name: "Managed Ruleset",
  description: "Blocks requests whose form shows an attack",
  phase: PHASE,
  version: "1",
  actions: ACTIONS,
  has_sensitivity: true,
  rules: [
    ...rows
      .filter(({ paranoia }) => paranoia <= 2)
      .map(({ slug, title, certainty, categories, decides }) => ({
        id: ruleIdOf(MANAGED_RULESET_ID, slug),
        detector: "",
        ...decides,
        action: "block",
        // Certain rules run at every sensitivity level.
        suspicion: SUSPICIONS[certainty],
        description: title,
        categories,
        enabled: certainty === "certain",
      })),
    ...bodyRules(MANAGED_RULESET_ID),
  ],
  signatures,
});

export const MANAGED = managedOf(OWN);

/** Acts on the sum. */
const SCORE_EXCEEDED: ManagedRule = {
  id: SCORE_EXCEEDED_RULE_ID,
  detector: "",
  expression: "true",
  action: "block",
  score_threshold: SCORE_THRESHOLD,
  description: "949110: Inbound Anomaly Score Exceeded",
  categories: [],
  enabled: true,
};

/** Every rule adds to a score, and the last one acts on the sum. */
export const ownScoresOf = ({ rows, signatures }: RequestMaterial): ManagedRuleset => ({
  id: SCORES_RULESET_ID,
  name: "OWASP Core Ruleset",
  description:
    "Scores signs of attacks by the paranoia levels of the Core Rule Set. These are Selvedge's own rules; to install the Core Rule Set itself, run: selvedge waf crs install FILE.tar.gz",
  phase: PHASE,
  version: "own-1",
  actions: ACTIONS,
  has_sensitivity: true,
  rules: [
    ...rows.map(({ slug, title, paranoia, score, categories, decides }) => ({
      id: ruleIdOf(SCORES_RULESET_ID, slug),
      detector: "",
      ...decides,
      action: "score",
      action_parameters: { increment: score },
      suspicion: paranoia,
      description: title,
      categories: [...categories, `paranoia-level-${paranoia}`],
      // Rules of the higher levels match much harmless traffic, and each matching value counts.
      enabled: paranoia <= 2,
    })),
    ...bodyRules(SCORES_RULESET_ID),
    SCORE_EXCEEDED,
  ],
  signatures,
});

export const SCORES = ownScoresOf(OWN);

/** The Core Rule Set itself: its rules that add to the score of requests, and the rule that acts on the sum. */
export const scoresOf = (core: CoreRuleSet): ManagedRuleset => ({
  ...SCORES,
  description: "Scores signs of attacks with the rules of the OWASP Core Rule Set",
  version: core.program.components[0] ?? core.digest.slice(0, 12),
  rules: [
    ...coreRows(core.program, "request").map(({ number, title, paranoia, score, categories }) => ({
      id: ruleIdOf(SCORES_RULESET_ID, `crs-${number}`),
      detector: "",
      core: number,
      action: "score",
      action_parameters: { increment: score },
      suspicion: paranoia,
      description: title,
      categories: [...categories, `paranoia-level-${paranoia}`],
      enabled: true,
    })),
    ...bodyRules(SCORES_RULESET_ID),
    SCORE_EXCEEDED,
  ],
  coreRuleSet: core,
});
