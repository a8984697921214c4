import { exceptedProblems } from "../managed/deployment.ts";
import { array, map, object, oneOf, type Shape, text } from "#rules/parameters/shape.ts";
import { type PhaseName, PHASES } from "../phases.ts";

const ids = array(text({ bytesMax: 64 }));

/** The legacy products that a request may be spared (waf.md, "Skip"). */
const PRODUCTS = ["zoneLockdown", "uaBlock", "bic", "hot", "securityLevel", "rateLimit", "waf"] as const;

/** What does here what a product did; of the others there is nothing to be spared. */
export const PRODUCT_PHASES: Readonly<Record<string, PhaseName>> = {
  rateLimit: "http_ratelimit",
  waf: "http_request_firewall_managed",
};

/** Phases of requests and responses; what is skipped must come later than the rule, or nothing comes of it. */
const SKIPPABLE = PHASES.filter(({ side }) => side !== "packet").map(({ name }) => name);

const anyRules = map({ bytesMax: 64 }, ids);
/** By the ids of their rulesets, of which the managed ones are known here. */
const rules: Shape = (value, at, place) => {
  const problems = anyRules(value, at, place);
  if (problems.length > 0) return problems;
  const named = Object.entries(value as Readonly<Record<string, readonly string[]>>);
  return named.flatMap(([id, excepted]) => exceptedProblems(id, excepted, `${at}/${id}`, place));
};

export const skip = object(
  {
    ruleset: oneOf("current"),
    phase: oneOf("current"),
    phases: array(oneOf(...SKIPPABLE)),
    products: array(oneOf(...PRODUCTS)),
    rulesets: ids,
    rules,
  },
  { some: ["ruleset", "phase", "phases", "products", "rulesets", "rules"] },
);
