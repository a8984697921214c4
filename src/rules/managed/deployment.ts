import { isObject, object, only } from "../parameters.ts";
import type { PhaseName } from "../phases.ts";
import type { RuleProblem } from "../types.ts";
import { MANAGED_RULESETS, type ManagedRuleset } from "./rulesets.ts";

/** What is wrong with the parameters of an `execute` rule in an entry point of `phase`. */
export function executeProblems(parameters: Readonly<Record<string, unknown>>, phase: PhaseName): readonly RuleProblem[] {
  const id = parameters["id"];
  if (typeof id !== "string") return [{ pointer: "/id", message: "execute needs the id of a ruleset" }];
  const ruleset = MANAGED_RULESETS.get(id);
  if (ruleset === undefined) return [{ pointer: "/id", message: `no managed ruleset has the id "${id}"` }];
  if (ruleset.phase !== phase) return [{ pointer: "/id", message: `${ruleset.name} runs in phase ${ruleset.phase}, not in ${phase}` }];
  const problems = only(parameters, ["id", "version", "overrides"]);
  const version = parameters["version"];
  if (version !== undefined && version !== "latest" && version !== ruleset.version) {
    problems.push({ pointer: "/version", message: `version must be "latest"` });
  }
  const overrides = object(parameters, "overrides", problems);
  if (overrides !== undefined) problems.push(...overridesProblems(overrides, ruleset));
  return problems;
}

function overridesProblems(overrides: Readonly<Record<string, unknown>>, ruleset: ManagedRuleset): RuleProblem[] {
  const at = "/overrides";
  const problems = [...only(overrides, ["action", "enabled", "categories", "rules"], at), ...overrideProblems(overrides, ruleset, at)];
  const ids = new Set(ruleset.rules.map((rule) => rule.id));
  const tags = new Set(ruleset.rules.flatMap((rule) => rule.categories));
  problems.push(
    ...listProblems(overrides["rules"], `${at}/rules`, "id", (id) => (ids.has(id) ? null : `${ruleset.name} has no rule "${id}"`), ruleset),
    ...listProblems(
      overrides["categories"],
      `${at}/categories`,
      "category",
      (tag) => (tags.has(tag) ? null : `${ruleset.name} has no category "${tag}"`),
      ruleset,
    ),
  );
  return problems;
}

/** The two fields that the ruleset, a tag and a rule share. */
function overrideProblems(override: Readonly<Record<string, unknown>>, ruleset: ManagedRuleset, at: string): RuleProblem[] {
  const problems: RuleProblem[] = [];
  if (override["enabled"] !== undefined && typeof override["enabled"] !== "boolean")
    problems.push({ pointer: `${at}/enabled`, message: "enabled must be true or false" });
  if (override["action"] !== undefined && !ruleset.actions.includes(override["action"] as string)) {
    problems.push({ pointer: `${at}/action`, message: `rules of ${ruleset.name} can only ${ruleset.actions.join(" or ")}` });
  }
  return problems;
}

const OVERRIDES_MAX = 1000;

function listProblems(
  entries: unknown,
  at: string,
  key: "id" | "category",
  unknownName: (name: string) => string | null,
  ruleset: ManagedRuleset,
): RuleProblem[] {
  if (entries === undefined) return [];
  if (!Array.isArray(entries)) return [{ pointer: at, message: "must be an array" }];
  if (entries.length > OVERRIDES_MAX) return [{ pointer: at, message: `has more than ${OVERRIDES_MAX} entries` }];
  return entries.flatMap((entry: unknown, index) => {
    const here = `${at}/${index}`;
    if (!isObject(entry)) return [{ pointer: here, message: "must be an object" }];
    const name = entry[key];
    if (typeof name !== "string") return [{ pointer: `${here}/${key}`, message: `${key} must be a string` }];
    const problem = unknownName(name);
    return [
      ...only(entry, [key, "action", "enabled"], here),
      ...(problem === null ? [] : [{ pointer: `${here}/${key}`, message: problem }]),
      ...overrideProblems(entry, ruleset, here),
    ];
  });
}
