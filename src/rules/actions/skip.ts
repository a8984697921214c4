import { exceptedPart, isRequestRuleset } from "../managed/excepted-parts.ts";
import { exceptedProblems } from "../managed/deployment.ts";
import { array, isObject, map, object, oneOf, problem, type Shape, text } from "#rules/parameters/shape.ts";
import { type PhaseName, PHASES } from "../phases.ts";

const ids = array(text({ bytesMax: 64 }));

/** The legacy products that a rule can skip (waf.md, "Skip"). */
const PRODUCTS = ["zoneLockdown", "uaBlock", "bic", "hot", "securityLevel", "rateLimit", "waf"] as const;

/** The phases that replace products; `zoneLockdown` and `uaBlock` are rulesets, the others have nothing to skip. */
export const PRODUCT_PHASES: Readonly<Record<string, PhaseName>> = {
  rateLimit: "http_ratelimit",
  waf: "http_request_firewall_managed",
};

/** Phases of requests and responses; only phases after the rule's own can be skipped. */
const SKIPPABLE = PHASES.filter(({ side }) => side !== "packet").map(({ name }) => name);

const anyRules = map({ bytesMax: 64 }, ids);
/** Rules by the ids of their rulesets; those of managed rulesets are checked. */
const rules: Shape = (value, at, place) => {
  const problems = anyRules(value, at, place);
  if (problems.length > 0) return problems;
  const named = Object.entries(value as Readonly<Record<string, readonly string[]>>);
  return named.flatMap(([id, excepted]) => exceptedProblems(id, excepted, `${at}/${id}`, place));
};

const PLACES_MAX = 64;
const name = text({ bytesMax: 512, empty: true });

/** A part of requests that rules ignore; if the member `rules` is given, only those rules. */
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

/** `matched` names the part of a request for which `rules` are skipped, so it is valid only with rules of managed rulesets. */
export const skip: Shape = (value, at, around) => {
  const problems = members(value, at, around);
  if (problems.length > 0 || !isObject(value) || value["matched"] === undefined) return problems;
  const others = ["ruleset", "phase", "phases", "products", "rulesets"].filter((key) => value[key] !== undefined);
  // `some` requires one of the members, so without these it is `rules`.
  if (others.length > 0) return [problem(`${at}/${others[0]}`, `matched applies to rules and cannot be combined with ${others[0]}`)];
  const unknown = Object.keys(value["rules"] as object).filter((id) => !isRequestRuleset(id));
  return unknown.map((id) => problem(`${at}/rules/${id}`, "matched applies only to rules of managed rulesets for requests"));
};
