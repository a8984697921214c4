import type { Asking, Dispatch, Scan } from "#rules/expression/compile/dispatch.ts";
import type { CompiledRule, CompiledRuleset, Predicate, RuleDefinition, RulesetDefinition } from "../types.ts";
import type { RequestView, ResponseView } from "../views.ts";
import type { ManagedExecution, ManagedRule, ManagedRuleset } from "./rulesets.ts";
import { shownPart } from "./shown-part.ts";
import { ARGUMENTS, BODY, FILES } from "./signatures/signature.ts";
import { createSignatureSet, type SignatureSet } from "./signatures/signature-set.ts";
import { SIGNATURES } from "./signatures/table.ts";

/** Compiles a definition; rules that have a predicate of their own need no expression. */
type Compile = (definition: RulesetDefinition, predicates: ReadonlyMap<string, Predicate>) => CompiledRuleset;

/** Whether something else than the rules' own engine runs it. */
export const runsElsewhere = (ruleset: ManagedRuleset): boolean =>
  ruleset.rules.every(({ expression, signature }) => expression === undefined && signature === undefined);

/** A managed ruleset as one rule executes it. Zones that execute it alike share what comes of it. */
export function compileManaged(ruleset: ManagedRuleset, execution: ManagedExecution, compile: Compile): CompiledRuleset {
  const known = COMPILED.get(ruleset) ?? new Map<string, CompiledRuleset>();
  COMPILED.set(ruleset, known);
  const key = JSON.stringify(execution.rules.map(({ id, action, score_threshold }) => [id, action, score_threshold]));
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= COMPILED_MAX) known.clear();
  const compiled = compileRules(ruleset, execution.rules, compile);
  known.set(key, compiled);
  return compiled;
}

const COMPILED = new WeakMap<ManagedRuleset, Map<string, CompiledRuleset>>();
const COMPILED_MAX = 64;

function compileRules(ruleset: ManagedRuleset, rules: readonly ManagedRule[], compile: Compile): CompiledRuleset {
  const predicates = new Map<string, Predicate>();
  for (const { id, signature } of rules)
    if (signature !== undefined) predicates.set(id, (request) => signatureSet().matches(request, signature));
  const definition = { id: ruleset.id, phase: ruleset.phase, version: ruleset.version, rules: rules.map(definitionOf) };
  const compiled = compile(definition, predicates);
  const explained = compiled.rules.map((rule, place): CompiledRule => {
    const explain = explanation(rules[place]!);
    return explain === undefined ? rule : { ...rule, explain };
  });
  if (predicates.size === 0) return { ...compiled, rules: explained };
  // Before requests come rather than with the first of them.
  signatureSet();
  const signatures = new Map(rules.flatMap(({ id, signature }) => (signature === undefined ? [] : [[id, signature] as const])));
  return {
    ...compiled,
    rules: explained,
    dispatch: createSignatureDispatch(explained, signatures),
    readsBody: compiled.readsBody || [...signatures.values()].some((signature) => looksAtBody(signature)),
  };
}

/** Where a rule found what it looks for; undefined for rules that look at nothing of a request. */
function explanation({ signature, shows }: ManagedRule): CompiledRule["explain"] {
  if (signature !== undefined) return (request) => signatureSet().explain(request, signature);
  if (shows === undefined) return undefined;
  return (request) => {
    const parts = shows.map((part) => shownPart(part, request));
    return parts.find(({ value }) => value !== "") ?? parts[0];
  };
}

const looksAtBody = (signature: number): boolean => ((SIGNATURES[signature]?.targets ?? 0) & (ARGUMENTS | BODY | FILES)) !== 0;

/** One for a thread, made when the first zone wants it: no zone needs it by itself. */
let created: SignatureSet | undefined;
const signatureSet = (): SignatureSet => (created ??= createSignatureSet(SIGNATURES));

const definitionOf = (rule: ManagedRule): RuleDefinition => ({
  id: rule.id,
  action: rule.action,
  action_parameters: {
    ...rule.action_parameters,
    ...(rule.score_threshold === undefined ? {} : { score_threshold: rule.score_threshold }),
  },
  expression: rule.expression ?? "false",
  description: rule.description,
  enabled: rule.enabled,
});

/** Asks the rules whose signatures may be in the request, and those that have none, in their order. */
function createSignatureDispatch(rules: readonly CompiledRule[], signatures: ReadonlyMap<string, number>): Dispatch {
  const places = new Map<number, number>();
  const always: number[] = [];
  for (const [place, { definition }] of rules.entries()) {
    const signature = signatures.get(definition.id);
    if (signature === undefined) always.push(place);
    else places.set(signature, place);
  }
  return {
    scan: (request, response, asking = { asked: 0 }) => {
      const candidates = signatureSet().candidates(request);
      if (candidates.length === 0) return new ListScan(rules, always, request, response, asking);
      const found = candidates.flatMap((signature) => places.get(signature) ?? []);
      return new ListScan(
        rules,
        [...always, ...found].sort((a, b) => a - b),
        request,
        response,
        asking,
      );
    },
  };
}

class ListScan implements Scan {
  readonly #rules: readonly CompiledRule[];
  readonly #places: readonly number[];
  readonly #request: RequestView;
  readonly #response: ResponseView | null;
  readonly #asking: Asking;
  #at = 0;

  constructor(
    rules: readonly CompiledRule[],
    places: readonly number[],
    request: RequestView,
    response: ResponseView | null,
    asking: Asking,
  ) {
    this.#rules = rules;
    this.#places = places;
    this.#request = request;
    this.#response = response;
    this.#asking = asking;
  }

  next(): number {
    while (this.#at < this.#places.length) {
      const place = this.#places[this.#at++]!;
      this.#asking.asked = place;
      if (this.#rules[place]!.applies(this.#request, this.#response)) return place;
    }
    return -1;
  }
}
