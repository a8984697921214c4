import { exceptedPart, isRequestRuleset } from "../managed/excepted-parts.ts";
import { exceptedProblems } from "../managed/deployment.ts";
import { array, isObject, map, object, oneOf, problem, type Shape, text } from "#rules/parameters/shape.ts";
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

const PLACES_MAX = 64;
const name = text({ bytesMax: 512, empty: true });

/** A part of requests that the rules do not look at; those of `rules` alone, where it has some. */
const place = object({ part: exceptedPart, name, rules: ids }, { required: ["part"] });
const places = array(place, { max: PLACES_MAX });

const matched: Shape = (value, at, around) => (Array.isArray(value) ? places(value, at, around) : place(value, at, around));

const members = object(
  {
    ruleset: oneOf("current"),
    phase: oneOf("current"),
    phases: array(oneOf(...SKIPPABLE)),
    products: array(oneOf(...PRODUCTS)),
    rulesets: ids,
    rules,
    matched,
  },
  { some: ["ruleset", "phase", "phases", "products", "rulesets", "rules"] },
);

/** `matched` says for which part of a request `rules` are skipped, so it stands beside rules of managed rulesets, and nothing else. */
export const skip: Shape = (value, at, around) => {
  const problems = members(value, at, around);
  if (problems.length > 0 || !isObject(value) || value["matched"] === undefined) return problems;
  const others = ["ruleset", "phase", "phases", "products", "rulesets"].filter((key) => value[key] !== undefined);
  // One of the members has to be there (`some`), so without these it is rules.
  if (others.length > 0) return [problem(`${at}/${others[0]}`, `matched is for rules; ${others[0]} cannot stand beside it`)];
  const unknown = Object.keys(value["rules"] as object).filter((id) => !isRequestRuleset(id));
  return unknown.map((id) => problem(`${at}/rules/${id}`, "matched is for rules of managed rulesets for requests"));
};
