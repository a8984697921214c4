import { createAsnList, createHostnameList, createIpList, type ListKind, type NamedList } from "#rules/expression/values/lists.ts";
import { createRedirectList, type ListedRedirect } from "./redirect-list.ts";

/** A list of these items, in the form in which they are kept and cross to the planes. */
export function listContent(kind: ListKind, items: readonly unknown[]): NamedList {
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
