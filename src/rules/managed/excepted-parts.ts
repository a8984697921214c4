import { problem, type Shape } from "#rules/parameters/shape.ts";
import type { Target } from "../seclang/program/program.ts";
import { VARIABLES } from "../seclang/syntax/variable-table.ts";
import { SECLANG_RULESET_ID } from "./request-rulesets.ts";
import { MANAGED_RULESETS } from "./rulesets.ts";

/** Parts of requests that some rules of a managed ruleset ignore. */
export interface PartExceptions {
  /** The same for the same exceptions. */
  readonly key: string;
  readonly parts: readonly ExceptedPart[];
}

export interface ExceptedPart {
  readonly rule_ids: ReadonlySet<string>;
  /** A field of expressions or a variable of ModSecurity, as events name it. */
  readonly part: string;
  /** The name within the part; empty if it has none. */
  readonly name: string;
  /** Replaces both for SecLang: all of a collection, or the names that match a pattern. */
  readonly target?: Target;
}

/** Parts of requests in which managed rules match: fields of expressions. */
const FIELDS: ReadonlySet<string> = new Set([
  "http.host",
  "http.request.body.form",
  "http.request.body.form.names",
  "http.request.body.multipart",
  "http.request.body.multipart.filenames",
  "http.request.body.multipart.names",
  "http.request.body.raw",
  "http.request.body.size",
  "http.request.cookies",
  "http.request.headers",
  "http.request.method",
  "http.request.uri",
  "http.request.uri.args",
  "http.request.uri.args.names",
  "http.request.uri.path",
  "http.request.uri.query",
  "http.user_agent",
]);

/** Parts in rules of the Core Rule Set: ModSecurity's variables; with `&`, the number of their values. */
const isVariable = (part: string): boolean => VARIABLES.has(part.replace(/^&/, ""));

/** A part named in events. A part that no rule names would exclude nothing. */
export const exceptedPart: Shape = (value, at) =>
  typeof value === "string" && (FIELDS.has(value) || isVariable(value))
    ? []
    : [problem(at, `part must be a part that security events name, such as http.request.uri.args or ARGS, not ${JSON.stringify(value)}`)];

export const isRequestRuleset = (id: string): boolean =>
  id === SECLANG_RULESET_ID || MANAGED_RULESETS.get(id)?.phase === "http_request_firewall_managed";
