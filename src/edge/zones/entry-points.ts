import { LargeMap } from "#kernel/large-map.ts";
import { type Slices, type Work, createSlices, finish } from "#kernel/process/slices.ts";
import { begins, RULES } from "#kernel/process/heartbeat.ts";
import { compilingRuleset } from "#rules/compile/compile-ruleset.ts";
import { MANAGED_LIST_PREFIX } from "#rules/expression/values/managed-lists.ts";
import { createRegexTable, type RegexTable } from "#rules/regex/regex-table.ts";
import type { PhaseName } from "#rules/phases.ts";
import { PREVIOUS_SLOT_NAMES, PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";
import type { CounterTable } from "#rules/rate-limit/counter-table.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { RulesetEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { RuleLists } from "./rule-lists.ts";

/** A ruleset with its new entry, or null if it was deleted. */
export interface RulesetChange {
  readonly id: string;
  readonly entry: RulesetEntry | null;
}

/** Compiled entry point rulesets by owner and phase. */
export interface EntryPoints {
  /**
   * Compiles rulesets in slices; the old ones run until all are compiled, and are then replaced together. Small ones are
   * compiled at once, and the result is undefined. A ruleset that changes again meanwhile is left to that change.
   */
  change(changes: readonly RulesetChange[]): Promise<void> | undefined;
  /** Replaces all rulesets at once; unchanged ones are not compiled again. */
  replace(entries: Iterable<readonly [id: string, entry: RulesetEntry]>): void;
  /** Compiles rulesets again that depend on the operator's files, as if each had been saved again. */
  recompile(): Promise<void> | undefined;
  /** Increases with each change, so that results of `collect` can be cached until then. */
  readonly version: number;
  /** The entry points of a phase for a zone, including those of older firewalls: the account's before the zone's (waf.md). */
  collect(zone: ZoneEntry, phase: PhaseName): readonly CompiledRuleset[];
}

/** Called for each rule that does not compile and is not run: one bad rule must not take its zone down. */
export type OnInvalidRule = (rule: { readonly ruleset_id: string; readonly rule_id: string; readonly message: string }) => void;

export function createEntryPoints(
  ruleLeftOut: OnInvalidRule,
  lists: Pick<RuleLists, "of">,
  counters?: CounterTable,
  slices: Slices = createSlices(),
): EntryPoints {
  /** All running rulesets, by the id of their entry. */
  const placed = new LargeMap<Placed>();
  const byOwner = new LargeMap<Map<string, Placed>>();
  /** By ruleset, the change that is being compiled. */
  const latest = new LargeMap<readonly RulesetChange[]>();
  let version = 0;

  function* compile(id: string, entry: RulesetEntry): Work<Placed> {
    begins(RULES, id);
    const rulesetId = entry.slot === undefined ? id : PREVIOUS_SLOTS[entry.slot].ruleset_id;
    const regexes = createRegexTable(undefined, placed.get(id)?.regexes);
    const definition = { id: rulesetId, phase: entry.phase, version: entry.version, rules: entry.rules };
    const work = compilingRuleset(definition, {
      custom: (customId) => {
        const custom = placed.get(customId);
        return custom?.entry.kind === "custom" ? custom.ruleset : undefined;
      },
      lists: lists.of(entry.account_id ?? entry.owner_id),
      regexes,
      ...(counters === undefined ? {} : { counters: counters.of(entry.account_id ?? entry.owner_id, entry.owner_id) }),
    });
    for (;;) {
      const piece = work.next();
      if (piece.done === true) return { id, entry, regexes, ruleset: piece.value };
      yield piece.value;
      begins(RULES, id);
    }
  }

  const remove = (id: string): void => {
    const before = placed.get(id);
    if (before === undefined) return;
    placed.delete(id);
    const { owner_id: owner } = before.entry;
    const places = byOwner.get(owner);
    if (places?.get(placeOf(before.entry)) !== before) return;
    places.delete(placeOf(before.entry));
    if (places.size === 0) byOwner.delete(owner);
  };
  const put = (next: Placed): void => {
    const { id, entry, ruleset } = next;
    remove(id);
    placed.set(id, next);
    for (const problem of ruleset.problems) ruleLeftOut({ ruleset_id: id, ...problem });
    // A custom ruleset runs only where an entry point executes it, which looks it up each time.
    if (entry.kind === "custom") return;
    const places = byOwner.get(entry.owner_id);
    if (places === undefined) byOwner.set(entry.owner_id, new Map([[placeOf(entry), next]]));
    else places.set(placeOf(entry), next);
  };

  function* changing(changes: readonly RulesetChange[]): Work<void> {
    const compiled: Placed[] = [];
    for (const { id, entry } of changes) if (entry !== null && latest.get(id) === changes) compiled.push(yield* compile(id, entry));
    const isNewest = ({ id }: { readonly id: string }): boolean => latest.get(id) === changes;
    for (const { id } of changes.filter(isNewest)) remove(id);
    compiled.filter(isNewest).forEach(put);
    for (const { id } of changes.filter(isNewest)) latest.delete(id);
    version++;
  }

  const change = (changes: readonly RulesetChange[]): Promise<void> | undefined => {
    for (const { id } of changes) latest.set(id, changes);
    let isDone = false;
    const later = new Promise<void>((resolve, reject) => {
      slices.start(changing(changes), () => resolve(void (isDone = true)), reject);
    });
    return isDone ? undefined : later;
  };

  return {
    change,
    recompile: () => {
      // A ruleset that is being compiled may still use the old files.
      const newest = new Map<string, RulesetEntry | null>([...placed.values()].map(({ id, entry }) => [id, entry]));
      for (const [id, changes] of latest) newest.set(id, changes.find((one) => one.id === id)?.entry ?? null);
      const changes = Array.from(newest, ([id, entry]) => ({ id, entry })).filter(({ entry }) => entry !== null && dependsOnFiles(entry));
      return changes.length === 0 ? undefined : change(changes);
    },
    replace: (entries) => {
      latest.clear();
      const next = [...entries];
      const kept = new Set(next.map(([id]) => id));
      for (const id of [...placed.keys()]) if (!kept.has(id)) remove(id);
      for (const [id, entry] of next) {
        const before = placed.get(id);
        if (before === undefined || JSON.stringify(before.entry) !== JSON.stringify(entry)) put(finish(compile(id, entry)));
      }
      version++;
    },
    get version() {
      return version;
    },
    collect: (zone, phase) => {
      const own = byOwner.get(zone.id);
      const ofAccount = byOwner.get(zone.account_id);
      const slots = (runs: Runs, places = own): (Placed | undefined)[] => slotsOf(phase, runs).map((slot) => places?.get(slot));
      const entryPoints = [
        ...slots("first", ofAccount),
        ...slots("first"),
        ofAccount?.get(phase),
        ...slots("before"),
        own?.get(phase),
        ...slots("after"),
        ...slots("last"),
      ];
      return entryPoints.flatMap((entryPoint) => entryPoint?.ruleset ?? []);
    },
  };
}

/** True if a rule executes another ruleset or names a list of the operator. */
const dependsOnFiles = ({ rules }: RulesetEntry): boolean =>
  rules.some(({ action, expression }) => action === "execute" || expression.includes(`$${MANAGED_LIST_PREFIX}`));

interface Placed {
  /** Id of the entry. */
  readonly id: string;
  readonly entry: RulesetEntry;
  readonly regexes: RegexTable;
  readonly ruleset: CompiledRuleset;
}

/** Names of phases and slots never coincide. */
const placeOf = ({ phase, slot }: RulesetEntry): string => slot ?? phase;

type Runs = (typeof PREVIOUS_SLOTS)[keyof typeof PREVIOUS_SLOTS]["runs"];

const slotsOf = (phase: PhaseName, runs: Runs): readonly string[] =>
  PREVIOUS_SLOT_NAMES.filter((name) => PREVIOUS_SLOTS[name].phase === phase && PREVIOUS_SLOTS[name].runs === runs);
