import type { RuleListItem, RuleListItemWrite, RuleListKind } from "#model/rulesets/rule-list.ts";

interface Kind {
  readonly title: string;
  /** How a line of the form is written. */
  readonly line: string;
  /** The item of a line's words. */
  readonly item: (first: string, second: string) => RuleListItemWrite;
}

export const KINDS: Readonly<Record<RuleListKind, Kind>> = {
  ip: { title: "addresses and networks", line: "192.0.2.0/24", item: (ip) => ({ ip }) },
  hostname: { title: "hostnames", line: "shop.example.com", item: (url_hostname) => ({ hostname: { url_hostname } }) },
  asn: { title: "networks by number (ASN)", line: "64500", item: (asn) => ({ asn: Number(asn.replace(/^AS/i, "")) }) },
  redirect: {
    title: "redirects",
    line: "example.com/old https://example.com/new",
    item: (source_url, target_url) => ({ redirect: { source_url, target_url } }),
  },
};

/** One item on each line; text after # is its comment. */
export const itemsOf = (kind: RuleListKind, text: string): readonly RuleListItemWrite[] =>
  text.split("\n").flatMap((line) => {
    const at = kind === "redirect" ? line.indexOf(" #") : line.indexOf("#");
    const [first = "", second = ""] = (at < 0 ? line : line.slice(0, at)).split(/\s+/).filter(Boolean);
    const comment = at < 0 ? "" : line.slice(at).replace(/^ ?#/, "").trim();
    return first === "" ? [] : [{ ...KINDS[kind].item(first, second), ...(comment === "" ? {} : { comment }) }];
  });

export const textOf = ({ ip, asn, hostname, redirect }: RuleListItem): string =>
  ip ?? hostname?.url_hostname ?? (redirect ? `${redirect.source_url} → ${redirect.target_url}` : `AS${asn}`);
