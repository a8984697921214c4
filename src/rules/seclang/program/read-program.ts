import type { Directive, RuleKey, SourceFile } from "../syntax/directives.ts";
import { plainTarget } from "./control.ts";
import { readDirectives } from "../syntax/directives.ts";
import { refuse, type Text } from "../syntax/source-error.ts";
import { type LinkResources, ruleFrom } from "./rule-from-draft.ts";
import type { Control, EngineMode, Notice, Program, Rule, Step } from "./program.ts";
import { checkRule, positionsAt, type ProgramLimits, targetPositions } from "./program-limits.ts";
import { has, idOf, isIn, type LinkDraft, phaseOf, readIdRanges, type SecRuleDraft } from "./rule-draft.ts";
import { namePattern } from "../patterns/tag-pattern.ts";
import { lastOf } from "./rule-draft.ts";
import type { ActionRef } from "../syntax/actions.ts";

/** Sources of a program. */
export interface ProgramSources {
  /** In the order in which they apply. */
  readonly files: readonly SourceFile[];
  /** Content of a word file that a rule names, next to the rule's own file; null if it does not exist. */
  readonly dataFile: (name: string, beside: string) => string | null;
  /** Files that `Include` matches; null if includes are not allowed. */
  readonly include?: (pattern: string, beside: string) => readonly SourceFile[] | null;
  /** Rules of another program that directives and `ctl` may name; they are not part of this one. */
  readonly others?: readonly Rule[];
  readonly limits?: ProgramLimits;
}

const RULES_MAX = 20_000;
const INCLUDES_MAX = 100;

/** Reads rules. Throws SecLangError at the first error, so that an incomplete program never runs. */
export function readProgram(sources: ProgramSources): Program {
  const reading = new Reading(sources);
  for (const file of sources.files) reading.readFile(file);
  return reading.end();
}

type DraftStep = SecRuleDraft | { readonly marker: string };

class Reading {
  readonly #sources: ProgramSources;
  readonly #steps: DraftStep[] = [];
  readonly #byId = new Map<number, SecRuleDraft>();
  readonly #defaults = new Map<number, readonly ActionRef[]>();
  readonly #components: string[] = [];
  readonly #notices: Notice[] = [];
  readonly #controls: Control[] = [];
  #engine: EngineMode = "on";
  #open: SecRuleDraft | null = null;
  #includes = 0;

  constructor(sources: ProgramSources) {
    this.#sources = sources;
  }

  readFile(file: SourceFile): void {
    for (const directive of readDirectives(file)) this.#read(directive);
    if (this.#open !== null) refuse(this.#open.source, "the rule ends in chain, and no rule follows it in its file");
  }

  #read(directive: Directive): void {
    if (this.#open !== null && directive.kind !== "rule") refuse(this.#open.source, "the rule ends in chain, and no rule follows it");
    switch (directive.kind) {
      case "rule":
        return this.#rule(directive);
      case "marker":
        this.#steps.push({ marker: directive.name });
        return;
      case "default-action":
        this.#defaults.set(phaseOf(directive.actions), directive.actions);
        return;
      case "remove":
        for (const rules of directive.rules) {
          this.#add({ kind: "remove-rules", ids: this.#others(directive.by, rules) });
          for (const draft of this.#found(directive.by, rules)) this.#byId.delete(draft.id);
        }
        return;
      case "update-targets":
        this.#updateOthers(directive);
        for (const link of this.#links(directive.by, directive.rules)) link.variables.push(...directive.variables);
        return;
      case "update-actions":
        for (const link of this.#links("id", directive.rule)) link.actions.push(...directive.actions);
        return;
      case "engine":
        this.#engine = ENGINES.get(directive.mode.text.toLowerCase()) ?? refuse(directive.mode, "expected On, Off or DetectionOnly");
        return;
      case "component":
        this.#components.push(directive.text);
        return;
      case "include":
        return this.#include(directive.pattern);
      case "setting":
        this.#notices.push({ place: directive.source.at(0), text: `${directive.name} has no effect here` });
        return;
    }
  }

  #rule(directive: Extract<Directive, { kind: "rule" }>): void {
    const link: LinkDraft = { variables: [...directive.variables], directive, actions: [...directive.actions] };
    if (this.#open === null) {
      const id = idOf(directive.actions, directive.source);
      const before = this.#byId.get(id);
      if (before !== undefined) {
        const { file, line } = before.source.at(0);
        refuse(lastOf(directive.actions, "id")!.argument, `the id ${id} is taken by the rule at ${file}:${line}`);
      }
      if (this.#byId.size >= this.#rulesMax) refuse(directive.source, `more than ${this.#rulesMax} rules`);
      this.#open = { id, phase: phaseOf(directive.actions), source: directive.source, links: [link] };
      this.#byId.set(id, this.#open);
      this.#steps.push(this.#open);
    } else this.#open.links.push(link);
    if (!has(directive.actions, "chain")) this.#open = null;
  }

  get #rulesMax(): number {
    return this.#sources.limits?.rules ?? RULES_MAX;
  }

  #finished(draft: SecRuleDraft, resources: LinkResources): Rule {
    const rule = ruleFrom(draft, this.#defaults.get(draft.phase) ?? [], resources);
    const { limits } = this.#sources;
    if (limits !== undefined) checkRule(rule, draft.phase, limits);
    return rule;
  }

  /** Whether a tag or a message is meant. */
  #fits(wanted: Text): (text: string) => boolean {
    if (this.#sources.limits !== undefined) positionsAt(wanted.at(0), wanted.text);
    try {
      return namePattern(wanted.text);
    } catch (error) {
      return refuse(wanted, (error as Error).message);
    }
  }

  #add(control: Extract<Control, { readonly ids: readonly number[] }>): void {
    if (control.ids.length > 0) this.#controls.push(control);
  }

  /** The ids of others' rules that are meant. */
  #others(by: RuleKey, rules: Text): readonly number[] {
    const { others = [] } = this.#sources;
    if (others.length === 0) return [];
    if (by === "id") {
      const ranges = readIdRanges(rules);
      return others.flatMap(({ id }) => (isIn(id, ranges) ? id : []));
    }
    const fits = this.#fits(rules);
    return others.flatMap(({ id, tags, message }) =>
      (by === "tag" ? tags.some(fits) : typeof message === "string" && fits(message)) ? id : [],
    );
  }

  /** Variables of existing rules can only be removed. */
  #updateOthers({ by, rules, variables }: Extract<Directive, { kind: "update-targets" }>): void {
    const ids = this.#others(by, rules);
    if (ids.length === 0) return;
    for (const variable of variables) {
      if (variable.mode !== "exclude") refuse(rules, "of a rule of the Core Rule Set, variables can only be left out, as in !ARGS:name");
      const target = plainTarget(variable);
      targetPositions(target, variable.source.at(0));
      this.#add({ kind: "remove-target", ids, target });
    }
  }

  #found(by: RuleKey, rules: Text): readonly SecRuleDraft[] {
    const all = [...this.#byId.values()];
    if (by === "id") {
      const ranges = readIdRanges(rules);
      return all.filter(({ id }) => isIn(id, ranges));
    }
    const fits = this.#fits(rules);
    return all.filter(({ links }) => links[0]!.actions.some(({ name, argument }) => name === by && fits(argument.text)));
  }

  #links(by: RuleKey, rules: Text): readonly LinkDraft[] {
    const place = by === "id" ? (readIdRanges(rules)[0]?.link ?? 0) : 0;
    return this.#found(by, rules).map(({ links }) => links[place] ?? refuse(rules, `the rule has no link ${place}`));
  }

  #include(pattern: Text): void {
    if (++this.#includes > INCLUDES_MAX) refuse(pattern, `more than ${INCLUDES_MAX} includes`);
    const files = this.#sources.include?.(pattern.text, pattern.at(0).file) ?? null;
    if (files === null) refuse(pattern, "Include is not allowed here; name the files themselves");
    for (const file of files) this.readFile(file);
  }

  end(): Program {
    const phases: Step[][] = [[], [], [], [], [], []];
    const resources: LinkResources = {
      dataFile: this.#sources.dataFile,
      idsTagged: perText((tag) => [...this.#found("tag", tag).map(({ id }) => id), ...this.#others("tag", tag)]),
      idsTitled: perText((title) => [...this.#found("msg", title).map(({ id }) => id), ...this.#others("msg", title)]),
      idsIn: (ranges) => [...this.#byId.keys(), ...(this.#sources.others ?? []).map(({ id }) => id)].filter((id) => isIn(id, ranges)),
      notice: (place, text) => this.#notices.push({ place, text }),
    };
    for (const step of this.#steps) {
      if ("marker" in step) for (const steps of phases.slice(1)) steps.push({ kind: "marker", name: step.marker });
      else if (this.#byId.get(step.id) === step) phases[step.phase]!.push({ kind: "rule", rule: this.#finished(step, resources) });
    }
    checkMarkers(phases, this.#byId);
    const controls = this.#controls.length === 0 ? {} : { controls: this.#controls };
    return { engine: this.#engine, phases, components: this.#components, ...controls, notices: this.#notices };
  }
}

const ENGINES: ReadonlyMap<string, EngineMode> = new Map([
  ["on", "on"],
  ["off", "off"],
  ["detectiononly", "detection"],
]);

/** Many rules name the same tag, and each look-up reads the tags of all rules. */
function perText(idsOf: (text: Text) => readonly number[]): (text: Text) => readonly number[] {
  const known = new Map<string, readonly number[]>();
  return (text) => {
    const ids = known.get(text.text) ?? idsOf(text);
    known.set(text.text, ids);
    return ids;
  };
}

/** A marker that is not there would skip the rest of the phase. */
function checkMarkers(phases: readonly (readonly Step[])[], drafts: ReadonlyMap<number, SecRuleDraft>): void {
  for (const steps of phases) {
    const markers = new Set(steps.flatMap((step) => (step.kind === "marker" ? [step.name] : [])));
    const ids = new Set(steps.flatMap((step) => (step.kind === "rule" ? [String(step.rule.id)] : [])));
    for (const step of steps) {
      if (step.kind !== "rule" || step.rule.skipAfter === null) continue;
      const { skipAfter, id } = step.rule;
      if (!markers.has(skipAfter) && !ids.has(skipAfter))
        refuse(drafts.get(id)!.source, `skipAfter: the marker ${skipAfter} does not exist`);
    }
  }
}
