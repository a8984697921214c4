import { createHash } from "node:crypto";
import { formatCidr, parseCidr } from "#kernel/net/cidr.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { canonicalIp } from "#kernel/net/ip.ts";
import type { RedirectItem, RuleListItem, RuleListItemWrite, RuleListKind } from "#model/rulesets/rule-list.ts";

/** An item in stored form. */
export interface ItemForm {
  /** Equal for equal items. */
  readonly key: string;
  /** The value for planes, JSON. */
  readonly value: string;
}

type Shown = Pick<RuleListItem, "ip" | "asn" | "hostname" | "redirect">;

interface Form {
  /** Undefined if the item is not of the kind. */
  read(item: RuleListItemWrite): { readonly key: string; readonly value: unknown } | undefined;
  readonly what: string;
  show(value: unknown): Shown;
}

const FORMS: Readonly<Record<RuleListKind, Form>> = {
  ip: {
    what: 'an IP address or block, as in {"ip": "192.0.2.0/24"}',
    read: ({ ip }) => {
      const text = ip === undefined ? undefined : addressOrBlock(ip);
      return text === undefined ? undefined : { key: text, value: text };
    },
    show: (value) => ({ ip: value as string }),
  },
  asn: {
    what: 'an autonomous system number, as in {"asn": 64496}',
    read: ({ asn }) => (asn !== undefined && asn >= 0 && asn < 2 ** 32 ? { key: String(asn), value: asn } : undefined),
    show: (value) => ({ asn: value as number }),
  },
  hostname: {
    what: 'a host name, as in {"hostname": {"url_hostname": "*.example.com"}}',
    read: ({ hostname }) => {
      const name = hostname === undefined ? undefined : parseHostname(hostname.url_hostname, { wildcard: true, underscores: true });
      const excludes = hostname?.exclude_exact_hostname;
      if (name === undefined || (excludes !== undefined && !name.startsWith("*."))) return undefined;
      return { key: name, value: { url_hostname: name, ...(excludes === undefined ? {} : { exclude_exact_hostname: excludes }) } };
    },
    show: (value) => ({ hostname: value as NonNullable<RuleListItem["hostname"]> }),
  },
  redirect: {
    what: 'a redirect, as in {"redirect": {"source_url": "example.com/a", "target_url": "https://example.net/b"}}',
    read: ({ redirect }) => {
      const source = redirect === undefined ? undefined : sourceOf(redirect.source_url);
      if (redirect === undefined || source === undefined || !isTarget(redirect.target_url)) return undefined;
      return { key: source, value: { ...redirect, status_code: redirect.status_code ?? 301 } };
    },
    show: (value) => ({ redirect: value as RedirectItem }),
  },
};

/** Parses the item at `at` in the body. Throws `rule_list_invalid` if it is not of the list's kind. */
export function readItem(kind: RuleListKind, item: RuleListItemWrite, at: string): ItemForm {
  const form = FORMS[kind].read(item);
  if (form === undefined || others(kind, item))
    throw new PlatformError("rule_list_invalid", { message: `an item of a list of kind ${kind} must be ${FORMS[kind].what}`, source: at });
  return { key: form.key, value: JSON.stringify(form.value) };
}

const others = (kind: RuleListKind, item: RuleListItemWrite): boolean =>
  (Object.keys(FORMS) as RuleListKind[]).some((other) => other !== kind && item[other] !== undefined);

export const showItem = (kind: RuleListKind, value: string): Shown => FORMS[kind].show(JSON.parse(value));

/** 16 bits of a hash of the key, evenly distributed. */
export const bucketOf = (key: string): number => createHash("sha256").update(key).digest().readUInt16BE(0);

function addressOrBlock(text: string): string | undefined {
  const address = canonicalIp(text);
  if (address !== undefined) return address;
  const block = parseCidr(text);
  return block === undefined ? undefined : formatCidr(block);
}

/** `https://Example.com/a` and `example.com/a` are different sources: the second matches both schemes. */
function sourceOf(text: string): string | undefined {
  // linear: pumped
  const match = /^(https?:\/\/)?([^/?#\s]+)(\/[^?#\s]*)?$/i.exec(text);
  const host = match?.[2] === undefined ? undefined : parseHostname(match[2].replace(/:\d{1,5}$/, ""), { underscores: true });
  // No request has such a path.
  if (/%(?![0-9a-f]{2})|%00/i.test(match?.[3] ?? "")) return undefined;
  return host === undefined ? undefined : `${(match?.[1] ?? "").toLowerCase()}${host}${match?.[3] ?? "/"}`;
}

const isTarget = (text: string): boolean => /^https?:\/\/[^\s/]\S*$/i.test(text) && text.length <= 8192;
