import { createAsnList, createHostnameList, createIpList, type NamedList, type NamedLists } from "#rules/expression/lists.ts";
import { createRedirectList, type ListedRedirect, type RedirectList } from "#rules/redirect-list.ts";
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
    (content ??= contentOf(
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

function contentOf(kind: ListEntry["kind"], items: readonly unknown[]): NamedList {
  if (kind === "ip") return createIpList(items as readonly string[]);
  if (kind === "asn") return createAsnList(items as readonly number[]);
  if (kind === "redirect") return createRedirectList(items as readonly ListedRedirect[]);
  return createHostnameList((items as readonly ListedHostname[]).flatMap(namesOf));
}

interface ListedHostname {
  readonly url_hostname: string;
  readonly exclude_exact_hostname?: boolean;
}

/** `*.example.com` stands for `example.com` too, unless the item says otherwise. */
const namesOf = ({ url_hostname: name, exclude_exact_hostname: excludes }: ListedHostname): readonly string[] =>
  name.startsWith("*.") && excludes !== true ? [name, name.slice(2)] : [name];
