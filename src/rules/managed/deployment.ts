import { isObject, object, only } from "../parameters.ts";
import type { PhaseName } from "../phases.ts";
import type { RuleSurroundings } from "../check.ts";
import type { RuleProblem } from "../types.ts";
import { MANAGED_RULESETS, type ManagedRuleset } from "./rulesets.ts";

/** What is wrong with the parameters of an `execute` rule in an entry point of `phase`. */
export function executeProblems(
  parameters: Readonly<Record<string, unknown>>,
  phase: PhaseName,
  around: RuleSurroundings,
): readonly RuleProblem[] {
  const id = parameters["id"];
  if (typeof id !== "string") return [{ pointer: "/id", message: "execute needs the id of a ruleset" }];
  // Entry points execute, and what they execute does not: so nothing can execute itself.
  if (around.kind === "custom") return [{ pointer: "", message: "a custom ruleset cannot execute another ruleset" }];
  const custom = around.customRulesets.get(id);
  if (custom !== undefined) return customProblems(parameters, custom, phase, around);
  const ruleset = MANAGED_RULESETS.get(id);
  if (ruleset === undefined) return [{ pointer: "/id", message: `no ruleset that can be executed has the id "${id}"` }];
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

/** The account's own rulesets are deployed from its entry points, for all its zones; their rules are changed where they stand. */
function customProblems(
  parameters: Readonly<Record<string, unknown>>,
  custom: { readonly name: string; readonly phase: string },
  phase: PhaseName,
  around: RuleSurroundings,
): readonly RuleProblem[] {
  if (around.kind !== "root")
    return [{ pointer: "/id", message: "custom rulesets are executed by rules of the account, with an expression that names the zones" }];
  if (custom.phase !== phase) return [{ pointer: "/id", message: `${custom.name} is for phase ${custom.phase}, not for ${phase}` }];
  if (parameters["overrides"] !== undefined)
    return [{ pointer: "/overrides", message: "overrides are for managed rulesets; change the rules of the custom ruleset instead" }];
  const problems = only(parameters, ["id", "version"]);
  if (parameters["version"] !== undefined && parameters["version"] !== "latest")
    problems.push({ pointer: "/version", message: `version must be "latest"` });
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
