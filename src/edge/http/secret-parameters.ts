/**
 * A query that may be logged: without values of parameters whose names say that they are secret, and without values that
 * are URLs with a password or with such a parameter. More people read logs than may use the secrets of a request.
 * Authorization and Cookie are never logged at all.
 */
export function withoutSecrets(query: string): string {
  if (query === "" || !MAY_HOLD.test(query)) return query;
  return query.replace(PARAMETER, (whole: string, start: string, name: string, value: string) =>
    isSecret(name) || holdsSecret(value) ? `${start}${name}=${REMOVED}` : whole,
  );
}

/** A path that may be logged: without passwords of URLs in it, which requests to proxies have. */
export function withoutPasswords(path: string): string {
  if (!MAY_HOLD_PASSWORD.test(path)) return path;
  const shown = path.replace(PASSWORD, `$1${REMOVED}@`);
  return shown.includes("%") ? shown.replace(/[^/]+/g, (segment) => (holdsPassword(segment) ? REMOVED : segment)) : shown;
}

const REMOVED = "[removed]";
const PARAMETER = /(^|[&;])([^=&;]*)=([^&;]+)/g;

/** Part of every name below, or of an encoding that could hide one, so that most queries need one search only. */
const MAY_HOLD =
  /token|key|secret|pass|pwd|auth|bearer|credential|sig|session|sid|jwt|code|otp|@|%(?:25|40|[46][1-9a-f]|[57][0-9a]|[uU]00)/i;
const MAY_HOLD_PASSWORD = /@|%(?:25|40)/;

/**
 * The name is one of these, or ends with one after a separator or as a word: `access_token`, `X-Amz-Signature`,
 * `clientSecret`.
 */
const SECRET_NAME =
  /(?:^|[-_.])(?:token|key|api_?key|secret|pass(?:word|wd|phrase)?|pwd|auth|authorization|bearer|credentials?|sig|signature|session|session_?id|sid|jwt|code|otp)$/i;

/** Each part of a name with members counts (`user[password]`, `secret[key]`). */
const isSecret = (name: string): boolean => plain(name).split(/[[\]]/).some(isSecretPart);

/** Only the last characters of a longer name are compared. */
const NAME_CHARS_MAX = 64;
const isSecretPart = (part: string): boolean => SECRET_NAME.test(part.slice(-NAME_CHARS_MAX).replace(/[a-z0-9](?=[A-Z])/g, "$&-"));

/** `scheme://user:password@host`, or with one slash, as some clients shorten it. */
// linear: pumped
const PASSWORD = /(:\/{1,2}[^/@:?#]*:)[^/@]*@/g;
const holdsPassword = (text: string): boolean => plain(text).search(PASSWORD) >= 0;

/** True if the value is a URL with a password, or with a secret in its parameters or fragment. */
function holdsSecret(value: string): boolean {
  if (!MAY_HOLD.test(value)) return false;
  const text = plain(value);
  if (text.search(PASSWORD) >= 0) return true;
  for (const [, name = ""] of text.matchAll(/[?&;#]([^=?&;#]*)=(?=[^&;#])/g)) if (isSecret(name)) return true;
  return false;
}

const LAYERS_MAX = 4;

/** The text with up to `LAYERS_MAX` layers of percent-encoding removed. */
function plain(text: string): string {
  let decoded = text;
  for (let layer = 0; layer < LAYERS_MAX && decoded.includes("%"); layer++) {
    const next = decoded.replace(/%(?:u00)?([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}
