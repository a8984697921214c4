import { type Static, Type } from "typebox";

/** Policies of Page Shield: Content Security Policies (CSP) for the pages that match an expression. */
export const PAGE_POLICIES_MAX = 100;

const fields = {
  description: Type.String({ maxLength: 500 }),
  action: Type.Enum(["allow", "log", "add_reporting_directives"], {
    description:
      "`allow`: browsers load only what the policy allows. `log`: they load everything, and report what it does not allow. `add_reporting_directives`: the origin's own policy stays, and browsers report what it does not allow.",
  }),
  expression: Type.String({ minLength: 1, maxLength: 4096 }),
  enabled: Type.Boolean(),
  value: Type.String({ maxLength: 6144, description: "Directives, as in the Content-Security-Policy field: `script-src 'self'`." }),
};

export const PagePolicyWrite = Type.Object(fields);
export type PagePolicyWrite = Static<typeof PagePolicyWrite>;
export const PagePolicyEdit = Type.Partial(PagePolicyWrite);
export type PagePolicyEdit = Static<typeof PagePolicyEdit>;

export const PagePolicy = Type.Object({ id: Type.String({ maxLength: 32 }), ...fields });
export type PagePolicy = Static<typeof PagePolicy>;

/** Directives of CSP Level 3 and of documents that extend it. */
const DIRECTIVES = new Set([
  ...["base-uri", "child-src", "connect-src", "default-src", "fenced-frame-src", "font-src", "form-action", "frame-ancestors", "frame-src"],
  ...["img-src", "manifest-src", "media-src", "object-src", "sandbox", "script-src", "script-src-attr", "script-src-elem", "style-src"],
  ...["style-src-attr", "style-src-elem", "worker-src", "require-trusted-types-for", "trusted-types", "upgrade-insecure-requests"],
]);

/** Why a text is not a policy's value, as a sentence; null if it is one. */
export function policyValueProblem(value: string): string | null {
  // CSP Level 3 §2.2.1: a header field with commas would be several policies.
  if (!/^[\x20-\x2b\x2d-\x7e]*$/.test(value)) return "A policy must contain only printable ASCII characters and no comma.";
  const directives = value.split(";").map((text) => text.trim().split(/ +/, 1)[0] ?? "");
  const named = directives.filter((name) => name !== "");
  if (named.length === 0) return "A policy must have a directive, such as script-src 'self'.";
  const unknown = named.find((name) => !DIRECTIVES.has(name.toLowerCase()));
  if (unknown === undefined) return null;
  if (/^report-(?:uri|to)$/i.test(unknown)) return `${unknown} is added by the server and must not be part of a policy.`;
  return `${unknown} is not a directive of Content Security Policy.`;
}
