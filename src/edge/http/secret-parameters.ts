/**
 * A query as it may be written down: values of parameters whose names say that they are secrets are left out. Rows are read by
 * more people than those who may use what a request carried. Fields such as Authorization and Cookie are in no row at all.
 */
export const withoutSecrets = (query: string): string => (query === "" ? query : query.replace(SECRETS, "$1[removed]"));

/** The name is one of these, or ends with one behind a separator: `access_token`, `X-Amz-Signature`. */
const SECRETS =
  // linear: pumped
  /((?:^|[&;])(?:[^=&;]*[-_.])?(?:token|key|api_?key|secret|pass(?:word|wd|phrase)?|pwd|auth|authorization|bearer|credentials?|sig|signature|session|session_?id|sid|jwt|code|otp)=)[^&;]+/gi;
