/** Why values of a record do not fit each other: a reason that follows the field's name, or "it" without a field. */
export interface ValueConflict {
  readonly field?: string;
  readonly reason: string;
}

/**
 * These checks are for values that other name servers check when they read a message. A record without them would make them
 * refuse the transfer of its whole zone.
 */
export type ValueCheck = (values: readonly unknown[]) => ValueConflict | undefined;

/** RFC 9460 §2.4.2: priority 0 means an alias, which has no parameters. */
export const aliasConflict: ValueCheck = ([priority, , params]) =>
  priority === 0 && (params as readonly unknown[]).length > 0 ? { reason: "must not have parameters with priority 0" } : undefined;

/** SHA-1, SHA-256, GOST R 34.11-94 and SHA-384 (RFC 3658, 4509, 5933, 6605). */
const DIGEST_BYTES: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };

/** SHA-1 and SHA-256 (RFC 4255, 6594). */
const FINGERPRINT_BYTES: Readonly<Record<number, number>> = { 1: 20, 2: 32 };

function lengthConflict(field: string, bytes: Buffer, typeField: string, type: number, lengths: Readonly<Record<number, number>>) {
  const length = lengths[type];
  if (length === undefined || bytes.length === length) return undefined;
  return { field, reason: `must be ${2 * length} hexadecimal digits for ${typeField} ${type}` };
}

export const digestConflict: ValueCheck = ([, , type, digest]) =>
  lengthConflict("digest", digest as Buffer, "digest_type", type as number, DIGEST_BYTES);

export const fingerprintConflict: ValueCheck = ([, type, fingerprint]) =>
  lengthConflict("fingerprint", fingerprint as Buffer, "type", type as number, FINGERPRINT_BYTES);

/** RFC 2535 §3.1.2: only flags that say so leave the key out. */
export const keyConflict: ValueCheck = ([flags, , , key]) =>
  ((flags as number) & 0xc000) === 0xc000 || (key as Buffer).length > 0
    ? undefined
    : { field: "public_key", reason: "must not be empty with these flags" };

/** RFC 1183 §3.1: a PSDN address has four digits at least. */
export const addressConflict: ValueCheck = ([address]) =>
  /^\d{4,}$/.test((address as Buffer).toString("latin1")) ? undefined : { reason: "must be a number of at least four digits" };

/** RFC 3402 §3.2: empty, or a delimiter, an expression, the delimiter, a replacement, the delimiter and flags. */
export const substitutionConflict: ValueCheck = ([, , , , regex]) =>
  isSubstitution((regex as Buffer).toString("latin1"))
    ? undefined
    : { field: "regex", reason: "must be empty or a substitution such as !^.*$!sip:info@example.com!" };

function isSubstitution(text: string): boolean {
  if (text === "") return true;
  const delimiter = text.charAt(0);
  if (/[1-9\\i\0]/.test(delimiter)) return false;
  const parts = [""];
  for (let at = 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === delimiter) parts.push("");
    else parts[parts.length - 1] += character === "\\" && at + 1 < text.length ? character + text.charAt(++at) : character;
  }
  const [expression = "", replacement = "", flags = "", ...more] = parts;
  if (parts.length < 3 || more.length > 0 || expression === "" || !/^i*$/.test(flags)) return false;
  const groups = groupsOf(expression);
  return groups !== undefined && [...replacement.matchAll(/\\([0-9])/g)].every(([, digit]) => digit !== "0" && Number(digit) <= groups);
}

/** Number of groups in an extended regular expression; undefined if its parentheses do not match. */
function groupsOf(expression: string): number | undefined {
  let groups = 0;
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < expression.length; at += 1) {
    const character = expression.charAt(at);
    if (character === "\\") at += 1;
    else if (inClass) inClass = character !== "]";
    else if (character === "[") inClass = true;
    else if (character === "(") [groups, depth] = [groups + 1, depth + 1];
    else if (character === ")" && --depth < 0) return undefined;
  }
  return depth === 0 && !inClass ? groups : undefined;
}
