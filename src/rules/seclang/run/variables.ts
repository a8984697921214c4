import type { Rule } from "../program/program.ts";
import type { Macro, MacroPart } from "../syntax/macro.ts";
import type { Collections, Entry } from "../transaction/collections.ts";
import type { MatchedVariable } from "./outcome.ts";
import type { Store } from "./store.ts";

/** Values that the current rule can read: the request, the response, stored variables, and the matches of this rule. */
export class Variables {
  readonly #collections: Pick<Collections, "get">;
  readonly #store: Store;
  #rule: Rule | null = null;
  #matched: MatchedVariable[] | null = null;

  constructor(collections: Pick<Collections, "get">, store: Store) {
    this.#collections = collections;
    this.#store = store;
  }

  beginRule(rule: Rule): void {
    this.#rule = rule;
    this.#matched = null;
  }

  addMatched(variable: MatchedVariable): void {
    (this.#matched ??= []).push(variable);
  }

  /** Matches so far, of all links. */
  get matched(): readonly MatchedVariable[] {
    return this.#matched ?? NOTHING_MATCHED;
  }

  entries(collection: string): readonly Entry[] {
    if (collection === "MATCHED_VARS") return this.matched.map(matchedEntry);
    if (collection === "MATCHED_VARS_NAMES") return this.matched.map((variable) => ({ ...matchedEntry(variable), value: variable.name }));
    const last = this.#matched?.at(-1);
    if (collection === "MATCHED_VAR") return last === undefined ? [] : [{ name: "", lower: "", value: last.value }];
    if (collection === "MATCHED_VAR_NAME") return last === undefined ? [] : [{ name: "", lower: "", value: last.name }];
    if (collection === "RULE") return this.#ruleEntries();
    const stored = this.#store.entries(collection);
    return stored.length > 0 ? stored : this.#collections.get(collection);
  }

  readonly expand = (macro: Macro): string => {
    if (typeof macro === "string") return macro;
    let text = "";
    for (const part of macro) text += typeof part === "string" ? part : this.#value(part);
    return text;
  };

  #value({ collection, name }: Exclude<MacroPart, string>): string {
    const stored = this.#store.get(collection, name);
    if (stored !== undefined) return stored;
    return this.entries(collection).find(({ lower }) => name === "" || lower === name)?.value ?? "";
  }

  #ruleEntries(): readonly Entry[] {
    const { id, severity, version } = this.#rule!;
    return Object.entries({ id: String(id), severity: String(severity ?? ""), ver: version }).map(([name, value]) => ({
      name,
      lower: name,
      value,
    }));
  }
}

const NOTHING_MATCHED: readonly MatchedVariable[] = [];
const matchedEntry = ({ name, value }: MatchedVariable): Entry => ({ name, lower: name.toLowerCase(), value });
