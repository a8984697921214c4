import { inSlices } from "#kernel/in-slices.ts";
import type { NamedList, NamedLists } from "#rules/expression/values/lists.ts";
import { type MadeParts, makingList } from "#rules/lists/list-content.ts";
import type { RedirectList } from "#rules/lists/redirect-list.ts";
import type { ListEntry } from "#snapshot/entries.ts";

/** The accounts' lists. Each is built from its parts, and stays the same object while it exists. */
export interface RuleLists {
  put(id: string, entry: ListEntry): void;
  remove(id: string, entry: ListEntry): void;
  clear(): void;
  /**
   * Builds a part of the changed lists, and returns whether more is left. A list keeps its old contents until it is
   * built; a new list is built when it is first used.
   */
  step(): boolean;
  /** Builds the changed lists over the next ticks. */
  stepLater(): void;
  /** Builds all changed lists at once: used at the start, so that no visitor's request has to. */
  finish(): void;
  /** The lists that an account's rules may name. */
  of(accountId: string): NamedLists;
  redirects(accountId: string, name: string): RedirectList | undefined;
}

interface LiveList extends NamedList {
  readonly parts: Map<string, ListEntry>;
  readonly content: NamedList;
  changed(): void;
  /** Returns false once the list is built. */
  step(): boolean;
}

export function createRuleLists(): RuleLists {
  const byAccount = new Map<string, Map<string, LiveList>>();
  /** Lists that have changed and are not built yet. */
  const changed = new Set<LiveList>();
  const find = (accountId: string, name: string): LiveList | undefined => byAccount.get(accountId)?.get(name);
  const change = (list: LiveList): void => {
    list.changed();
    changed.add(list);
  };
  const step = (): boolean => {
    const [list] = changed;
    if (list && !list.step()) changed.delete(list);
    return changed.size > 0;
  };
  return {
    put: (id, entry) => {
      const lists = byAccount.get(entry.account_id) ?? new Map<string, LiveList>();
      byAccount.set(entry.account_id, lists);
      const list = lists.get(entry.name) ?? liveList(entry.kind);
      lists.set(entry.name, list);
      list.parts.set(id, entry);
      change(list);
    },
    remove: (id, entry) => {
      const list = find(entry.account_id, entry.name);
      if (!list) return;
      list.parts.delete(id);
      change(list);
      if (list.parts.size > 0) return;
      byAccount.get(entry.account_id)?.delete(entry.name);
      changed.delete(list);
    },
    clear: () => {
      byAccount.clear();
      changed.clear();
    },
    step,
    stepLater: () => {
      if (changed.size > 0) inSlices(step);
    },
    finish: () => {
      while (step());
    },
    of: (accountId) => ({ find: (name) => find(accountId, name) }),
    redirects: (accountId, name) => {
      const content = find(accountId, name)?.content;
      return content?.kind === "redirect" ? (content as RedirectList) : undefined;
    },
  };
}

function liveList(kind: ListEntry["kind"]): LiveList {
  const parts = new Map<string, ListEntry>();
  const madeParts: MadeParts = new WeakMap();
  let content: NamedList | null = null;
  let making: Generator<undefined, NamedList> | null = null;
  const step = (): boolean => {
    making ??= makingList(
      kind,
      Array.from(parts.values(), ({ items }) => items),
      madeParts,
    );
    const { value, done } = making.next();
    if (done !== true) return true;
    content = value;
    making = null;
    return false;
  };
  const made = (): NamedList => {
    while (content === null) step();
    return content;
  };
  return {
    kind,
    parts,
    get content() {
      return made();
    },
    has: (value) => made().has(value),
    changed: () => {
      making = null;
    },
    step,
  };
}
