import { coreRows } from "./core/core-rows.ts";
import type { CoreRuleSet } from "./core/core-rule-set.ts";
import type { ManagedRule, ManagedRuleset } from "./managed-ruleset.ts";
import { ruleIdOf } from "./request-rulesets.ts";

/** The rules of the Core Rule Set for responses. */
export const RESPONSE_SCORES_RULESET_ID = "9a4f0c62d17e4b58b3c6e5f2087d41ac";
// crs-setup.conf: outbound_anomaly_score_threshold, which one rule of severity ERROR reaches.
const SCORE_THRESHOLD = 4;

const SCORE_EXCEEDED: ManagedRule = {
  id: ruleIdOf(RESPONSE_SCORES_RULESET_ID, "score-exceeded"),
  detector: "",
  expression: "true",
  action: "block",
  score_threshold: SCORE_THRESHOLD,
  description: "959100: Outbound Anomaly Score Exceeded",
  categories: [],
  enabled: true,
};

/** Without a Core Rule Set: nothing adds to the score. */
export const RESPONSE_SCORES: ManagedRuleset = {
  id: RESPONSE_SCORES_RULESET_ID,
  name: "OWASP Core Ruleset for Responses",
  description:
    "Scores signs of leaks with the response rules of the OWASP Core Rule Set, which is not installed; to install it, run: selvedge waf crs install FILE.tar.gz",
  phase: "http_response_firewall_managed",
  version: "none",
  actions: ["block", "log"],
  has_sensitivity: true,
  rules: [SCORE_EXCEEDED],
};

/** `core`: the Core Rule Set as it judges responses. */
export const responseScoresOf = (core: CoreRuleSet): ManagedRuleset => ({
  ...RESPONSE_SCORES,
  description: "Scores signs of leaks with the rules of the OWASP Core Rule Set for responses",
  version: core.program.components[0] ?? core.digest.slice(0, 12),
  rules: [
    ...coreRows(core.program, "response").map(({ number, title, paranoia, score, categories }) => ({
      id: ruleIdOf(RESPONSE_SCORES_RULESET_ID, `crs-${number}`),
      detector: "",
      core: number,
      action: "score",
      action_parameters: { increment: score },
      suspicion: paranoia,
      description: title,
      categories: [...categories, `paranoia-level-${paranoia}`],
      // One rule is enough to block, and those of level 2 match every answer with a status of 500 and above.
      enabled: paranoia === 1,
    })),
    SCORE_EXCEEDED,
  ],
  coreRuleSet: core,
});
