import type { CallRule } from "#kernel/call-rules.ts";
import type { IsoDate } from "#kernel/clock.ts";

/** One dated change of the API. Rows are never deleted and ids never reused. */
export interface Deprecation {
  /** Also the anchor of the row on the reference page. */
  readonly id: string;
  /** The first day (UTC) on which the newest behaviour is in force. */
  readonly date: IsoDate;
  /** The day on which the row came into the table; absent for rows of its first edition. Feeds are sorted by it. */
  readonly added?: IsoDate;
  /** `METHOD /path/with/:parameters`, as in the route table; empty for a rule of a protocol. */
  readonly routes: readonly string[];
  readonly effect: Effect;
  /**
   * The protection that the row adds. The API date of a token or an account restores the older behaviour only if the
   * operator allows it (ADR 0203).
   */
  readonly protects?: string;
  /** The replacement; null if nothing replaces it. */
  readonly replacement: string | null;
  /** The older behaviour, until the date. */
  readonly was: string;
  readonly why: string;
  /** Present if the older behaviour is a constant or a refusal on this server: the reason for it. The reference shows it. */
  readonly hollow?: string;
  /** Reference to the specification of the change. */
  readonly spec: string;
}

/** The effect of a row, as data; `effects/` has one interpreter per kind. */
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
  | JoinedAlias
  | CallRuleEffect
  | ProtocolRule;

/**
 * A rule of a protocol below the management API. It has no routes, and no API date restores the older behaviour: the
 * planes only implement the newest rule.
 */
export interface ProtocolRule {
  readonly kind: "protocol_rule";
}

/** A rule that begins on the date, for calls that only the use-case can judge. */
export interface CallRuleEffect {
  readonly kind: "call_rule";
  readonly rule: CallRule;
  /** The rule refuses requests with this field only; others get the newest behaviour. Absent: it refuses all that it concerns. */
  readonly field?: string;
}

/** The endpoint answers 410 from the date on. */
export interface EndpointGone {
  readonly kind: "endpoint_gone";
  /** A part of the path that changed, if the endpoint continues under another name. */
  readonly renamed?: readonly [from: string, to: string];
}

/** Fields that responses have until the date. Handlers do not know them: `value` says how they are computed. */
export interface OmitResponseFields {
  readonly kind: "omit_response_fields";
  readonly fields: readonly LegacyField[];
  /** Applies only to objects of this `type`. */
  readonly type?: string;
}

export interface LegacyField {
  /** A field of the object; with a dot, a field of an object in it. */
  readonly field: string;
  /** The field that it follows; if absent, it comes last. */
  readonly after?: string;
  readonly value: LegacyValue;
}

export type LegacyValue =
  | { readonly constant: string | number | boolean | null }
  /** A fact about the zone in the path. */
  | { readonly zone: "id" | "name" }
  /** Labels of the object's `name`: `from` is included, `to` is not. */
  | { readonly labels: { readonly from: number; readonly to?: number } };

/** Items that a list has until the date. Until then, edits of the list may have them in their `items`. */
export interface OmitListItems {
  readonly kind: "omit_list_items";
  readonly ids: readonly string[];
}

/** Fields that requests may have and that are ignored, before the date and after it. */
export interface IgnoreRequestFields {
  readonly kind: "ignore_request_fields";
  readonly fields: readonly string[];
}

/** Fields that requests may have until the date, and that are an error from then on. */
export interface RejectRequestFields {
  readonly kind: "reject_request_fields";
  /** The fields are in the object of this name. */
  readonly within: string;
  readonly fields: readonly string[];
  /** Applies only to requests of this `type`, or to those without a type that have one of `telltale`. */
  readonly type: string;
  readonly telltale: readonly string[];
  /** Until the date, this field gets the values of the fields, joined with dots. */
  readonly joined_into: string;
  readonly message: string;
}

/** Forms of query parameters that are rewritten to the newest ones until the date, and are an error from then on. */
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
 * Older names for something newer. Until the date they are read and written through the newer thing, so that the two
 * never differ. The alias of an endpoint is a separate route with the newest handler, and answers 410 from the date on; a
 * field is then an error if the request does not have the newest one as well.
 */
export interface LegacyAlias {
  readonly kind: "legacy_alias";
  /** `endpoint`: requests and responses have only the legacy fields. `fields`: these stand beside the newest ones. */
  readonly of: "endpoint" | "fields";
  /** The newest path of an endpoint, with its parameters at the same positions. */
  readonly stands_for?: string;
  /** If several stand for one newest field, the first one in a request counts. */
  readonly fields: readonly AliasField[];
  /** Further fields of the endpoint's responses, always the same. */
  readonly constants?: Readonly<Record<string, string | boolean | null>>;
}

/** Both names are paths with dots. */
export interface AliasField {
  readonly field: string;
  readonly newest: string;
  /**
   * Pairs of legacy and newest values. A newest value is shown as its first legacy value; a newest value without a pair
   * is shown as the last pair's. Absent if the values are the same.
   */
  readonly values?: readonly (readonly [legacy: string | boolean, newest: string | boolean])[];
}

/**
 * An older list of texts that stands for the objects of one type in a newer list: each text is the object's `item`. Until
 * the date it is read and written through the newer list; from then on a request that has only the older one is an error.
 */
export interface ListedAlias {
  readonly kind: "listed_alias";
  readonly field: string;
  readonly newest: string;
  readonly type: string;
  readonly item: string;
}

/**
 * An older text that stands for a newer list of objects: the parts between the separators are the objects' `item`. Until
 * the date it is read and written through the list; from then on a request that has only the text is an error.
 */
export interface JoinedAlias {
  readonly kind: "joined_alias";
  readonly field: string;
  /** A path with dots. */
  readonly newest: string;
  readonly item: string;
  readonly separator: string;
}
