import type { ExcludedTarget } from "./transaction.ts";
import { type CompiledLink, type CompiledTarget, meansName } from "./compiled-rule.ts";

/** Exclusions of a transaction: rules, and values that some rules ignore. */
export class Exclusions {
  readonly #disabled: ReadonlySet<number>;
  readonly #removed = new Set<number>();
  readonly #targets = new Map<number, CompiledTarget[]>();

  constructor(disabled: ReadonlySet<number>, excluded: readonly ExcludedTarget[]) {
    this.#disabled = disabled;
    for (const { ids, collection, name, target } of excluded)
      this.removeTargets(ids, target ?? { collection, isCount: false, isStore: false, name: name.toLowerCase(), fits: null, shown: "" });
  }

  removeRules(ids: readonly number[]): void {
    for (const id of ids) this.#removed.add(id);
  }

  removeTargets(ids: readonly number[], target: CompiledTarget): void {
    for (const id of ids) {
      const targets = this.#targets.get(id);
      if (targets === undefined) this.#targets.set(id, [target]);
      else targets.push(target);
    }
  }

  hasRule(id: number): boolean {
    return this.#removed.has(id) || this.#disabled.has(id);
  }

  /** Whether a link of the rule ignores values of this name, in lower case. */
  hasValue(id: number, { excluded }: Pick<CompiledLink, "excluded">, collection: string, lower: string): boolean {
    for (const target of excluded) if (target.collection === collection && meansName(target, lower)) return true;
    if (this.#targets.size === 0) return false;
    const targets = this.#targets.get(id);
    return targets !== undefined && targets.some((target) => target.collection === collection && meansName(target, lower));
  }
}
