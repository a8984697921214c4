import { RETIRED_RULE_IDS, RETIRED_TAGS } from "#rules/detectors/catalog/retired.ts";
import { isEnvelopeKey } from "#kernel/crypto/envelope.ts";
import {
  array,
  flag,
  object,
  oneOf,
  type ParameterPlace,
  problem,
  type Shape,
  text,
  whole,
  type RuleProblem,
} from "#rules/parameters/shape.ts";
import { RegexError } from "#rules/regex/regex.ts";
import { SecLangError } from "#rules/seclang/syntax/source-error.ts";
import { SECLANG_RULESET_ID } from "./request-rulesets.ts";
import { SECLANG_BYTES_MAX, SECLANG_PHASES, type SecLangPhase, secLangRuleset } from "./seclang-ruleset.ts";
import { OWN_CATEGORY } from "./own-patterns.ts";
import type { OwnPattern } from "#rules/parameters/rule-context.ts";
import { MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID } from "./rulesets.ts";
import type { ManagedRuleset } from "./managed-ruleset.ts";
import { isVendorCategory, isVendorRuleId, VENDOR_RULESETS } from "./vendor-names.ts";

/** The parameters of an `execute` rule: which ruleset, and how its rules are changed. */
export const execute: Shape = (parameters, at, place) => {
  const { id } = parameters as Readonly<Record<string, unknown>>;
  if (typeof id !== "string") return [problem(`${at}/id`, "execute requires the id of a ruleset")];
  // Entry points execute rulesets, and those cannot execute others, so that no ruleset executes itself.
  if (place.around.kind === "custom") return [problem(at, "a custom ruleset cannot execute another ruleset")];
  if (id === SECLANG_RULESET_ID) return secLangExecution(parameters, at, place);
  const custom = place.around.customRulesets.get(id);
  if (custom !== undefined) return customProblems(parameters, at, custom, place);
  const ruleset = MANAGED_RULESETS.get(id);
  const vendors = VENDOR_RULESETS.get(id);
  if (ruleset === undefined && vendors === undefined) return [problem(`${at}/id`, `no ruleset that can be executed has the id "${id}"`)];
  const { name, phase } = ruleset ?? vendors!;
  if (phase !== place.phase) return [problem(`${at}/id`, `${name} runs in phase ${phase}, not in ${place.phase}`)];
  return ruleset === undefined ? vendorExecution(parameters, at, place) : managedExecution(ruleset)(parameters, at, place);
};

const anyId: Shape = () => [];
const latest: Shape = (value, at) => (value === "latest" ? [] : [problem(at, `version must be "latest"`)]);

/**
 * The account's own rulesets are deployed from its entry points, for all its zones; their rules are changed in the
 * rulesets themselves.
 */
function customProblems(
  parameters: unknown,
  at: string,
  custom: { readonly name: string; readonly phase: string },
  place: ParameterPlace,
): RuleProblem[] {
  if (place.around.kind !== "root")
    return [problem(`${at}/id`, "only rules of the account, with an expression that names the zones, can execute custom rulesets")];
  if (custom.phase !== place.phase) return [problem(`${at}/id`, `${custom.name} is for phase ${custom.phase}, not for ${place.phase}`)];
  const overrides: Shape = (_, here) => [
    problem(here, "overrides apply only to managed rulesets; change the rules of the custom ruleset instead"),
  ];
  return object({ id: anyId, version: latest, overrides })(parameters, at, place);
}

const secLangText: Shape = (value, at, place) => {
  const problems = text({ bytesMax: SECLANG_BYTES_MAX })(value, at, place);
  if (problems.length > 0) return problems;
  try {
    const { places, coreRuleSet } = secLangRuleset(String(value), place.phase as SecLangPhase);
    place.around.regexes?.take(places);
    coreRuleSet.prepare(1);
    return [];
  } catch (error) {
    if (error instanceof SecLangError)
      return [problem(at, `seclang, line ${error.place.line}, column ${error.place.column}: ${error.problem}`)];
    if (error instanceof RegexError) return [problem(at, `${error.message}, of which each byte of seclang is one`)];
    throw error;
  }
};

const secLangExecution: Shape = (parameters, at, place) =>
  Object.hasOwn(SECLANG_PHASES, place.phase)
    ? object({ id: anyId, version: latest, seclang: secLangText, matched_data: matchedRequestData }, { required: ["seclang"] })(
        parameters,
        at,
        place,
      )
    : [problem(`${at}/id`, `rules in SecLang run in ${Object.keys(SECLANG_PHASES).join(" and ")}, not in ${place.phase}`)];

const OVERRIDES_MAX = 1000;

function managedExecution(ruleset: ManagedRuleset): Shape {
  const version: Shape = (value, at, place) => (value === ruleset.version ? [] : latest(value, at, place));
  const matched_data = ruleset.id === SENSITIVE_DATA_RULESET_ID ? matchedData : matchedRequestData;
  return object({ id: anyId, version, overrides: overridesOf(ruleset), matched_data });
}

const publicKey: Shape = (value, at) =>
  typeof value === "string" && isEnvelopeKey(value) ? [] : [problem(at, "public_key must be an X25519 public key: base64 of its 32 bytes")];

/** The data of a match that its event includes: none by default. */
const matchedData = object({ public_key: publicKey, masked_sample: flag });
const matchedRequestData = object({ public_key: publicKey });

const patternsIn = ({ id }: ManagedRuleset, { around }: ParameterPlace): readonly OwnPattern[] =>
  id === SENSITIVE_DATA_RULESET_ID ? (around.patterns ?? []) : [];

/** Problems of the rules that an exception names of a ruleset: one that is neither there nor the vendor's is a mistake. */
export function exceptedProblems(rulesetId: string, rules: readonly string[], at: string, place: ParameterPlace): RuleProblem[] {
  const ruleset = MANAGED_RULESETS.get(rulesetId);
  if (ruleset === undefined) return [];
  const known = new Set([...ruleset.rules, ...patternsIn(ruleset, place)].map(({ id }) => id));
  return rules.flatMap((id, index) =>
    known.has(id) || isVendorRuleId(id) || RETIRED_RULE_IDS.has(id)
      ? []
      : [problem(`${at}/${index}`, `${ruleset.name} has no rule "${id}"`)],
  );
}

const vendorChanges = {
  action: oneOf("block", "log", "managed_challenge", "js_challenge", "challenge"),
  enabled: flag,
  sensitivity_level: oneOf("default", "medium", "low", "eoff"),
};

/** Parameters of a ruleset without rules here, of which only the form is checked. */
const vendorExecution = object({
  id: anyId,
  version: text({ bytesMax: 64 }),
  overrides: object({
    ...vendorChanges,
    categories: array(object({ category: text({ bytesMax: 64 }), ...vendorChanges }, { required: ["category"] }), {
      min: 0,
      max: OVERRIDES_MAX,
    }),
    rules: array(object({ id: text({ bytesMax: 64 }), ...vendorChanges, score_threshold: whole(1, 10_000) }, { required: ["id"] }), {
      min: 0,
      max: OVERRIDES_MAX,
    }),
  }),
  matched_data: matchedRequestData,
});

function overridesOf(ruleset: ManagedRuleset): Shape {
  const ids = new Map(ruleset.rules.map((rule) => [rule.id, rule]));
  const tags = new Set(ruleset.rules.flatMap((rule) => rule.categories));
  const action: Shape = (value, at) =>
    ruleset.actions.includes(value as string)
      ? []
      : [problem(at, `rules of ${ruleset.name} can only have the action ${ruleset.actions.join(" or ")}`)];
  const changes = {
    action,
    enabled: flag,
    ...(ruleset.has_sensitivity ? { sensitivity_level: oneOf("default", "medium", "low", "eoff") } : {}),
  };
  const id = known("id", (name, place) =>
    ids.has(name) || isVendorRuleId(name) || RETIRED_RULE_IDS.has(name) || patternsIn(ruleset, place).some((own) => own.id === name)
      ? null
      : `${ruleset.name} has no rule "${name}"`,
  );
  // Published configurations name categories of WAF rulesets alone; anywhere else, an unknown one is a mistake.
  const keepsVendors = ruleset.id !== SENSITIVE_DATA_RULESET_ID;
  const category = known("category", (name, place) =>
    tags.has(name) ||
    RETIRED_TAGS.has(name) ||
    (keepsVendors && isVendorCategory(name)) ||
    patternsIn(ruleset, place).some((own) => name === OWN_CATEGORY || own.tags.includes(name))
      ? null
      : `${ruleset.name} has no category "${name}"`,
  );
  const rule: Shape = (value, at, place) => {
    const named = ids.get(String((value as Readonly<Record<string, unknown>> | null)?.["id"]));
    const more = named?.score_threshold === undefined ? {} : { score_threshold: whole(1, 10_000) };
    return object({ id, ...changes, ...more }, { required: ["id"] })(value, at, place);
  };
  return object({
    ...changes,
    categories: array(object({ category, ...changes }, { required: ["category"] }), { min: 0, max: OVERRIDES_MAX }),
    rules: array(rule, { min: 0, max: OVERRIDES_MAX }),
  });
}

const known =
  (key: string, unknownName: (name: string, place: ParameterPlace) => string | null): Shape =>
  (value, at, place) => {
    const wrong = typeof value === "string" ? unknownName(value, place) : `${key} must be a string`;
    return wrong === null ? [] : [problem(at, wrong)];
  };
