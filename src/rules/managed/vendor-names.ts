/** Names in the vendor's configurations that do not exist here: they are kept, and have no effect. */

/** Its rules have random UUIDs (RFC 9562 §5.4) without hyphens; identifiers of rules here are digests, so that a misspelt one is still refused. */
const VENDOR_RULE_ID = /^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

export const isVendorRuleId = (id: string): boolean => VENDOR_RULE_ID.test(id);

/** `wordpress`, `language-java`, `cve-2021-44228`, `capec/1000/152/248/66`. */
const VENDOR_CATEGORY = /^[a-z0-9][a-z0-9_./-]{0,63}$/i;

export const isVendorCategory = (category: string): boolean => VENDOR_CATEGORY.test(category);

export interface VendorRuleset {
  readonly id: string;
  readonly name: string;
  readonly phase: string;
  /** The remedy, for messages. */
  readonly instead: string;
}

const PHASE = "http_request_firewall_managed";

/** Its managed rulesets that have no rules here. */
export const VENDOR_RULESETS: ReadonlyMap<string, VendorRuleset> = new Map(
  [
    {
      id: "77454fe2d30c4220b5701f6fdfb893ba",
      name: "Free Managed Ruleset",
      phase: PHASE,
      instead: "execute efb7b8c949ac4650a09736fc376e9aee, the Managed Ruleset, which every plan has",
    },
    {
      id: "c2e184081120413c86c3ab7e14069605",
      name: "Exposed Credentials Check",
      phase: PHASE,
      instead: "this server has no data about leaked credentials",
    },
  ].map((row) => [row.id, row]),
);
