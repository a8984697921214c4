import type { NamedList, NamedLists } from "#rules/expression/values/lists.ts";
import { listContent } from "#rules/lists/list-content.ts";
import type { RedirectList } from "#rules/lists/redirect-list.ts";
import type { ListEntry } from "#snapshot/entries.ts";

/** The accounts' lists, each put together from its parts and the same object for as long as the list is there. */
export interface RuleLists {
  put(id: string, entry: ListEntry): void;
  remove(id: string, entry: ListEntry): void;
  clear(): void;
  /** What an account's rules may name. */
  of(accountId: string): NamedLists;
  redirects(accountId: string, name: string): RedirectList | undefined;
}

interface LiveList extends NamedList {
  readonly parts: Map<string, ListEntry>;
  readonly content: NamedList;
  changed(): void;
}

export function createRuleLists(): RuleLists {
  const byAccount = new Map<string, Map<string, LiveList>>();
  const find = (accountId: string, name: string): LiveList | undefined => byAccount.get(accountId)?.get(name);
  return {
    put: (id, entry) => {
      const lists = byAccount.get(entry.account_id) ?? new Map<string, LiveList>();
      byAccount.set(entry.account_id, lists);
      const list = lists.get(entry.name) ?? liveList(entry.kind);
      lists.set(entry.name, list);
      list.parts.set(id, entry);
      list.changed();
    },
    remove: (id, entry) => {
      const list = find(entry.account_id, entry.name);
      list?.parts.delete(id);
      list?.changed();
      if (list?.parts.size === 0) byAccount.get(entry.account_id)?.delete(entry.name);
    },
    clear: () => byAccount.clear(),
    of: (accountId) => ({ find: (name) => find(accountId, name) }),
    redirects: (accountId, name) => {
      const content = find(accountId, name)?.content;
      return content?.kind === "redirect" ? (content as RedirectList) : undefined;
    },
  };
}

/** Its content is made when it is first asked after a change, so that a list of many parts is made once. */
function liveList(kind: ListEntry["kind"]): LiveList {
  const parts = new Map<string, ListEntry>();
  let content: NamedList | null = null;
  const made = (): NamedList =>
    (content ??= listContent(
      kind,
      [...parts.values()].flatMap(({ items }) => items),
    ));
  return {
    kind,
    parts,
    get content() {
      return made();
    },
    has: (value) => made().has(value),
    changed: () => {
      content = null;
    },
  };
}
