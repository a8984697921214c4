import { parseHostname } from "#kernel/net/hostname.ts";
import { isId } from "#kernel/crypto/ids.ts";
import { IMAGE_ID } from "#model/images/image.ts";
import { PlatformError } from "#kernel/errors/errors.ts";

/** RFC 9562 §4. */
const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Path parameters that are not 32 hexadecimal characters, by name. */
const FORMS: Readonly<Record<string, (text: string) => boolean>> = {
  // Chosen by the account (contract.md §8).
  gateway_id: (text) => /^[A-Za-z0-9_.-]{1,64}$/.test(text),
  // Providers are identified by their names.
  provider: (text) => /^[a-z0-9-]{1,80}$/.test(text),
  custom_provider_id: isUuid,
  custom_cost_id: isUuid,
  custom_hostname_id: isUuid,
  certificate_pack_id: isUuid,
  zone_name: (text) => parseHostname(text) !== undefined,
  tunnel_id: isUuid,
  connector_id: isUuid,
  app_id: isUuid,
  bookmark_id: isUuid,
  // Rows of a log have ULIDs.
  id: (text) => /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(text),
  // Serials of zones, which are 32 bits (RFC 1035 §3.3.13).
  version: (text) => /^\d{1,10}$/.test(text),
  ruleset_version: (text) => /^[\w.-]{1,32}$/.test(text),
  rule_tag: (text) => text.length <= 128,
  // A name server is identified by its name.
  custom_ns_id: (text) => parseHostname(text) !== undefined,
  hostname: (text) => parseHostname(text) !== undefined,
  image_id: (text) => IMAGE_ID.test(text),
  variant_id: (text) => /^[A-Za-z0-9]{1,99}$/.test(text),
  signing_key_name: (text) => /^[\w.-]{1,64}$/.test(text),
  setting_id: (text) => /^[a-z0-9_]{1,64}$/.test(text),
  profile_id: (text) => /^[0-9a-f-]{36}$/.test(text),
  // Jobs that push logs have numbers.
  job_id: (text) => /^\d{1,10}$/.test(text),
  dataset_name: (text) => /^[a-z0-9_]{1,64}$/.test(text),
  phase: (text) => /^[a-z0-9_]{1,64}$/.test(text),
};

/** Throws `bad_identifier` if a path parameter cannot be an identifier. The error shows `path` without its query. */
export function checkIdentifiers(params: Readonly<Record<string, string>>, path: string): void {
  for (const name in params) {
    const wellFormed = FORMS[name] ?? isId;
    if (!wellFormed(params[name] ?? ""))
      throw new PlatformError("bad_identifier", {
        message: `Could not route to ${path.slice(0, PATH_SHOWN_MAX)}, perhaps your object identifier is invalid?`,
      });
  }
}

const PATH_SHOWN_MAX = 300;
