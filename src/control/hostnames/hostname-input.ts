import { brandingFlag } from "#control/certificates/branding-flag.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  BUNDLE_METHODS,
  CERTIFICATE_AUTHORITIES,
  type SslSettings,
  TLS_VERSIONS,
  VALIDATION_METHODS,
} from "#model/hostnames/custom-hostname.ts";

type Given = Readonly<Record<string, unknown>>;

/** The certificate fields of a write, validated; absent if not given. */
export interface SslInput {
  readonly method?: string;
  readonly certificate_authority?: string;
  readonly bundle_method?: string;
  readonly wildcard?: boolean;
  readonly settings?: SslSettings;
  readonly custom?: { readonly certificate: unknown; readonly key: unknown };
}

interface Field {
  readonly name: string;
  readonly error: ErrorName;
  readonly values: readonly unknown[];
}

const SWITCH = ["on", "off"] as const;
const FIELDS: readonly Field[] = [
  { name: "method", error: "hostname_method_invalid", values: VALIDATION_METHODS },
  { name: "type", error: "hostname_type_invalid", values: ["dv"] },
  { name: "bundle_method", error: "hostname_bundle_invalid", values: BUNDLE_METHODS },
  // SPEC 2.7: the empty text means the default authority.
  { name: "certificate_authority", error: "hostname_authority_invalid", values: ["", ...CERTIFICATE_AUTHORITIES] },
  { name: "wildcard", error: "hostname_ssl_invalid", values: [true, false] },
];
const SETTING_FIELDS: readonly Field[] = [
  { name: "http2", error: "hostname_http2_invalid", values: SWITCH },
  { name: "tls_1_2_only", error: "hostname_tls12_invalid", values: SWITCH },
  { name: "tls_1_3", error: "hostname_tls13_invalid", values: SWITCH },
  { name: "min_tls_version", error: "hostname_min_tls_invalid", values: TLS_VERSIONS },
  { name: "early_hints", error: "hostname_ssl_invalid", values: SWITCH },
];
const CIPHERS_MAX = 50;

/** Throws the code of the first invalid member (contract.md §5). */
export function readSsl(ssl: Given): SslInput {
  checkFields(ssl, FIELDS, "/ssl");
  const custom = readCustom(ssl);
  // An uploaded certificate needs no validation; for others, method and type require each other.
  if (custom === undefined && (said(ssl["method"]) !== said(ssl["type"]) || (!said(ssl["method"]) && !isPartial(ssl))))
    throw new PlatformError("hostname_method_and_type", { source: "/ssl" });
  return {
    ...picked<SslInput>(ssl, ["method", "certificate_authority", "bundle_method", "wildcard"]),
    ...(said(ssl["settings"]) ? { settings: readSettings(ssl["settings"]) } : {}),
    ...(custom === undefined ? {} : { custom }),
  };
}

/** Whether the edit changes fields that do not concern validation. */
const isPartial = (ssl: Given): boolean =>
  ["settings", "bundle_method", "certificate_authority", "wildcard"].some((name) => said(ssl[name]));

function readCustom(ssl: Given): SslInput["custom"] {
  if (said(ssl["custom_csr_id"])) throw new PlatformError("hostname_csr_not_found", { source: "/ssl/custom_csr_id" });
  const bundle = ssl["custom_cert_bundle"];
  if (said(bundle)) {
    if (!Array.isArray(bundle) || bundle.length === 0)
      throw new PlatformError("hostname_chain_empty", { source: "/ssl/custom_cert_bundle" });
    if (bundle.length > 1)
      throw new PlatformError("hostname_chain_duplicate", {
        message: "Only one certificate is supported: send a bundle of one",
        source: "/ssl/custom_cert_bundle",
      });
    const one = (bundle[0] ?? {}) as Given;
    return { certificate: one["custom_certificate"], key: one["custom_key"] };
  }
  if (!said(ssl["custom_certificate"]) && !said(ssl["custom_key"])) return undefined;
  return { certificate: ssl["custom_certificate"], key: ssl["custom_key"] };
}

function readSettings(settings: unknown): SslSettings {
  if (!isObject(settings)) throw new PlatformError("hostname_ssl_invalid", { source: "/ssl/settings" });
  checkFields(settings, SETTING_FIELDS, "/ssl/settings");
  const ciphers = settings["ciphers"];
  if (
    said(ciphers) &&
    !(Array.isArray(ciphers) && ciphers.length <= CIPHERS_MAX && ciphers.every((name) => /^[\w-]{1,64}$/.test(String(name))))
  )
    throw new PlatformError("hostname_ssl_invalid", { message: "ciphers must be names of cipher suites", source: "/ssl/settings/ciphers" });
  const only12 = settings["tls_1_2_only"] === "on" ? { min_tls_version: "1.2" as const } : {};
  return { ...only12, ...picked<SslSettings>(settings, ["http2", "tls_1_3", "early_hints", "min_tls_version", "ciphers"]) };
}

function checkFields(given: Given, fields: readonly Field[], pointer: string): void {
  for (const { name, error, values } of fields)
    if (said(given[name]) && !values.includes(given[name]))
      throw new PlatformError(error, {
        source: `${pointer}/${name}`,
        ...(error === "hostname_authority_invalid"
          ? { message: `Invalid certificate_authority: it must be empty or one of ${CERTIFICATE_AUTHORITIES.join(", ")}` }
          : {}),
      });
}

/** The branding flag under any of its spellings, beside `hostname` or in `ssl` (SPEC 2.7; DESIGN §3); undefined if not given. */
export function readBranding(body: Given, vendorPrefix: string): boolean | undefined {
  const beside = brandingFlag(body, "", vendorPrefix);
  const inside = isObject(body["ssl"]) ? brandingFlag(body["ssl"], "/ssl", vendorPrefix) : undefined;
  return beside === true || inside === true ? true : (inside ?? beside);
}

const METADATA_BYTES_MAX = 4096;

/** The metadata as JSON; null if removed or empty. */
export function readMetadata(value: unknown): string | null {
  if (value === null) return null;
  const isFine = isObject(value) && Object.values(value).every((text) => typeof text === "string");
  const text = isFine ? JSON.stringify(value) : "";
  if (!isFine || Buffer.byteLength(text) > METADATA_BYTES_MAX)
    throw new PlatformError("hostname_metadata_invalid", { source: "/custom_metadata" });
  return text === "{}" ? null : text;
}

const said = (value: unknown): boolean => value !== undefined && value !== null;
const isObject = (value: unknown): value is Given => typeof value === "object" && value !== null && !Array.isArray(value);
const picked = <T>(given: Given, names: readonly (keyof T & string)[]): T =>
  Object.fromEntries(names.filter((name) => said(given[name])).map((name) => [name, given[name]])) as T;
