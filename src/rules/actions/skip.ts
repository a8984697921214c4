import { array, map, object, oneOf, text } from "../parameters.ts";
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

export const skip = object(
  {
    ruleset: oneOf("current"),
    phase: oneOf("current"),
    phases: array(oneOf(...SKIPPABLE)),
    products: array(oneOf(...PRODUCTS)),
    rulesets: ids,
    rules: map({ bytesMax: 64 }, ids),
  },
  { some: ["ruleset", "phase", "phases", "products", "rulesets", "rules"] },
);
