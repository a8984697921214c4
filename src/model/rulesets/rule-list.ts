import { Type, type Static } from "typebox";

export const RULE_LIST_KINDS = ["ip", "hostname", "asn", "redirect"] as const;
export type RuleListKind = (typeof RULE_LIST_KINDS)[number];

/** The list's name in expressions, after the dollar sign. */
export const RULE_LIST_NAME = "^[a-z0-9_]{1,50}$";

const Description = Type.String({ maxLength: 500 });

export const RuleList = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum([...RULE_LIST_KINDS]),
  description: Type.Optional(Type.String()),
  num_items: Type.Integer(),
  num_referencing_filters: Type.Integer({ description: "Number of rules that use the list." }),
  created_on: Type.String(),
  modified_on: Type.String(),
});
export type RuleList = Static<typeof RuleList>;

export const RuleListCreate = Type.Object({
  name: Type.String({ pattern: RULE_LIST_NAME }),
  kind: Type.Enum([...RULE_LIST_KINDS]),
  description: Type.Optional(Description),
});
export type RuleListCreate = Static<typeof RuleListCreate>;

export const RuleListUpdate = Type.Object({ description: Type.Optional(Description) });
export type RuleListUpdate = Static<typeof RuleListUpdate>;

export const RedirectItem = Type.Object({
  source_url: Type.String(),
  target_url: Type.String(),
  status_code: Type.Optional(Type.Enum([301, 302, 307, 308])),
  include_subdomains: Type.Optional(Type.Boolean()),
  subpath_matching: Type.Optional(Type.Boolean()),
  preserve_query_string: Type.Optional(Type.Boolean()),
  preserve_path_suffix: Type.Optional(Type.Boolean()),
});
export type RedirectItem = Static<typeof RedirectItem>;

/** An item's content; the list's kind determines which member it has. */
const Content = {
  ip: Type.Optional(Type.String({ description: "An IP address or CIDR block." })),
  asn: Type.Optional(Type.Integer()),
  hostname: Type.Optional(Type.Object({ url_hostname: Type.String(), exclude_exact_hostname: Type.Optional(Type.Boolean()) })),
  redirect: Type.Optional(RedirectItem),
};

export const RuleListItem = Type.Object({
  id: Type.String(),
  ...Content,
  comment: Type.Optional(Type.String()),
  created_on: Type.String(),
  modified_on: Type.String(),
});
export type RuleListItem = Static<typeof RuleListItem>;

/** Also bounds the work of one operation. */
export const RULE_LIST_ITEMS_MAX = 100_000;

export const RuleListItemWrite = Type.Object({ ...Content, comment: Type.Optional(Type.String({ maxLength: 500 })) });
export type RuleListItemWrite = Static<typeof RuleListItemWrite>;

export const RuleListItemsWrite = Type.Array(RuleListItemWrite, { maxItems: RULE_LIST_ITEMS_MAX });

export const RuleListItemsDelete = Type.Object({
  items: Type.Array(Type.Object({ id: Type.String({ maxLength: 64 }) }), { minItems: 1, maxItems: RULE_LIST_ITEMS_MAX }),
});
export type RuleListItemsDelete = Static<typeof RuleListItemsDelete>;

export const RuleListOperationId = Type.Object({ operation_id: Type.String() });

export const RuleListOperation = Type.Object({
  id: Type.String(),
  status: Type.Enum(["pending", "running", "completed", "failed"]),
  completed: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
});
export type RuleListOperation = Static<typeof RuleListOperation>;
