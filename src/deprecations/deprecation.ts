import type { IsoDate } from "#kernel/clock.ts";

/** One dated change to the interface. Rows are never deleted and ids never reused. */
export interface Deprecation {
  /** Also the anchor of the row on the reference page. */
  readonly id: string;
  /** The first day (UTC) on which the newest behaviour is in force. */
  readonly date: IsoDate;
  /** The day on which the row came into the table, where that was not its first edition; feeds order by it. */
  readonly added?: IsoDate;
  /** `METHOD /path/with/:parameters`, as in the route table; none for a rule of a protocol. */
  readonly routes: readonly string[];
  readonly effect: Effect;
  /** The thing that the row protects. The API date of a token or an account brings back what was before it only if the operator allows it (ADR 0203). */
  readonly protects?: string;
  /** The replacement, or null where nothing takes its place. */
  readonly replacement: string | null;
  /** What was possible until the date. */
  readonly was: string;
  readonly why: string;
  /** Why the older behaviour is a constant or a refusal here, if it is. */
  readonly hollow?: string;
  /** Where the change is specified. */
  readonly spec: string;
}

/** What a row does, as data; `effects/` has one interpreter a kind. */
export type Effect =
  | EndpointGone
  | OmitResponseFields
  | OmitListItems
  | IgnoreRequestFields
  | RejectRequestFields
  | RejectQueryForms
  | ErrorWrapper
  | LegacyAlias
  | ListedAlias
  | ProtocolRule;

/**
 * A rule of a protocol below the management API. It has no routes, and no API date brings back what was before it: the
 * planes know the newest rule only.
 */
export interface ProtocolRule {
  readonly kind: "protocol_rule";
}

/** The endpoint answers 410 from the date on. */
export interface EndpointGone {
  readonly kind: "endpoint_gone";
  /** A part of the path, where the endpoint goes on under another name. */
  readonly renamed?: readonly [from: string, to: string];
}

/** Fields that responses carry until the date. Handlers do not know them: `value` says where they come from. */
export interface OmitResponseFields {
  readonly kind: "omit_response_fields";
  readonly fields: readonly LegacyField[];
  /** Only objects whose `type` is this one. */
  readonly type?: string;
}

export interface LegacyField {
  /** A field of the object, or with a dot a field of an object in it. */
  readonly field: string;
  /** The field that it follows; last where absent. */
  readonly after?: string;
  readonly value: LegacyValue;
}

export type LegacyValue =
  | { readonly constant: string | number | boolean | null }
  /** A fact about the zone that the path names. */
  | { readonly zone: "id" | "name" }
  /** Labels of the object's `name`, `from` included and `to` excluded. */
  | { readonly labels: { readonly from: number; readonly to?: number } };

/** Items that a list has until the date, and that its edits may name among their `items`. */
export interface OmitListItems {
  readonly kind: "omit_list_items";
  readonly ids: readonly string[];
}

/** Fields that requests may carry and that have no meaning, before the date and after it. */
export interface IgnoreRequestFields {
  readonly kind: "ignore_request_fields";
  readonly fields: readonly string[];
}

/** Fields that requests may carry until the date, and that are an error from then on. */
export interface RejectRequestFields {
  readonly kind: "reject_request_fields";
  /** Fields of the object in `within`. */
  readonly within: string;
  readonly fields: readonly string[];
  /** Only requests whose `type` is this one, or that have no type and one of `telltale`. */
  readonly type: string;
  readonly telltale: readonly string[];
  /** Until the date the fields, joined with dots, are the value of this field. */
  readonly joined_into: string;
  readonly message: string;
}

/** Forms of query parameters that are rewritten to the newest ones until the date, and an error from then on. */
export interface RejectQueryForms {
  readonly kind: "reject_query_forms";
  readonly forms: readonly QueryForm[];
}

export type QueryForm =
  /** `parameter=PREFIXvalue` means `becomes=value`. */
  | { readonly parameter: string; readonly prefix: string; readonly becomes: string }
  /** `parameter=PREFIXvalue` means the parameter repeated with each of `values` that contains the value. */
  | { readonly parameter: string; readonly prefix: string; readonly any_of: readonly string[] }
  /** `parameter=a,b` means the parameter repeated. */
  | { readonly parameter: string; readonly separator: string };

/** Until the date, errors with these codes come as the `error_chain` of one outer error. */
export interface ErrorWrapper {
  readonly kind: "error_wrapper";
  readonly code: number;
  readonly message: string;
  /** Ranges of codes, both ends included. */
  readonly wraps: readonly (readonly [from: number, to: number])[];
}

/**
 * Older names for something newer, read and written through it until the date, so that the two never differ. An
 * alias of an endpoint is a route of its own with the newest handler; it answers 410 from the date on.
 */
export interface LegacyAlias {
  readonly kind: "legacy_alias";
  /** `endpoint`: requests and answers have the legacy fields alone. `fields`: they stand beside the newest ones. */
  readonly of: "endpoint" | "fields";
  /** The newest path of an endpoint, whose parameters are at the same places. */
  readonly stands_for?: string;
  /** Where several stand for one newest field, a request is read by the first that it has. */
  readonly fields: readonly AliasField[];
  /** What an endpoint's answers hold besides, always the same. */
  readonly constants?: Readonly<Record<string, string | boolean | null>>;
}

/** Both names are paths with dots. */
export interface AliasField {
  readonly field: string;
  readonly newest: string;
  /**
   * Which legacy value stands for which newest one; a newest value is shown as the first legacy one of it, and one
   * without a row as that of the last row. Absent where the values are the same.
   */
  readonly values?: readonly (readonly [legacy: string | boolean, newest: string | boolean])[];
}

/**
 * An older list of texts that stands for those objects of a newer list which have one type: `item` of them. Read and written
 * through the newer one until the date; from then on a request that has the older one alone is an error.
 */
export interface ListedAlias {
  readonly kind: "listed_alias";
  readonly field: string;
  readonly newest: string;
  readonly type: string;
  readonly item: string;
}
