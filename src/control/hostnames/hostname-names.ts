import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { hostnameProblem, isSpecialUse, isWithin, parseHostname, registrableDomain } from "#kernel/net/hostname.ts";
import { parseIp } from "#kernel/net/ip.ts";

const LENGTH_MAX = 255;
/** RFC 2606 §3. */
const PROHIBITED = ["example.com", "example.net", "example.org"] as const;
/** Special-use names that are accepted for testing: RFC 6761 §6.2 and §6.5. */
const REHEARSAL = ["test", "example"] as const;

interface NameErrors {
  readonly pointer: string;
  readonly invalid: ErrorName;
  readonly wildcard: ErrorName;
  /** The message for wildcards, if the error has no specific one. */
  readonly wildcardMessage?: string;
  readonly notAscii: ErrorName;
  readonly reserved: ErrorName;
  readonly noDomain: ErrorName;
  readonly prohibited: ErrorName;
}

/** Hostnames and origins have the same rules, but different error codes (contract.md §5). */
export const NAME_ERRORS = {
  hostname: {
    pointer: "/hostname",
    invalid: "hostname_invalid",
    wildcard: "hostname_invalid",
    wildcardMessage: "Invalid custom hostname: the name must not contain *; set ssl.wildcard to cover the names below it",
    notAscii: "hostname_not_ascii",
    reserved: "hostname_reserved",
    noDomain: "hostname_no_domain",
    prohibited: "hostname_prohibited",
  },
  origin: {
    pointer: "/custom_origin_server",
    invalid: "hostname_origin_invalid",
    wildcard: "hostname_origin_wildcard",
    notAscii: "hostname_origin_not_ascii",
    reserved: "hostname_origin_reserved",
    noDomain: "hostname_origin_no_domain",
    prohibited: "hostname_origin_prohibited",
  },
} as const satisfies Record<string, NameErrors>;

/** The canonical form of a name. Throws the error that describes its problem. */
export function checkedName(value: unknown, errors: NameErrors, pointer: string = errors.pointer): string {
  const refuse = (name: ErrorName, message?: string): never => {
    throw new PlatformError(name, { source: pointer, ...(message === undefined ? {} : { message }) });
  };
  if (typeof value !== "string" || value === "" || value.length > LENGTH_MAX || parseIp(value) !== undefined) return refuse(errors.invalid);
  if (value.includes("*")) return refuse(errors.wildcard, errors.wildcardMessage);
  // Control characters are ASCII, so they get another error.
  if (/[^\x00-\x7f]/.test(value)) return refuse(errors.notAscii);
  const name = parseHostname(value);
  if (name === undefined) return refuse(errors.invalid, `Invalid name: ${hostnameProblem(value) ?? "it is not valid"}.`);
  if (PROHIBITED.some((domain) => isWithin(name, domain))) return refuse(errors.prohibited);
  const isRehearsal = REHEARSAL.some((suffix) => isWithin(name, suffix));
  if (isSpecialUse(name) && !isRehearsal) return refuse(errors.reserved);
  if (!name.includes(".") || (!isRehearsal && registrableDomain(name) === undefined)) return refuse(errors.noDomain);
  return name;
}
