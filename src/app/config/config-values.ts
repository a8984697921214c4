import { isIP } from "node:net";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import type { OwnershipConfig } from "#control/ownership/policy.ts";
import type { NativeMode } from "#kernel/process/native-transport.ts";
import { isRecipient } from "#kernel/crypto/age-keys.ts";
import { CLIENT_ADDRESS_FIELDS } from "#kernel/net/client-addresses.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { parseListenHost } from "./listen-host.ts";
import { LOG_AREAS } from "./log-areas.ts";
import { ROLES } from "./roles.ts";
import {
  ISSUER_NAMES,
  LEVELS,
  SWITCH_WORDS,
  isBusUrl,
  isClickHouseUrl,
  isCountersUrl,
  isIssuerUrl,
  isSite,
  textOrUndefined,
  numberFromText,
  listFromText,
  listenHosts,
  showListenHosts,
  isIssuer,
  acceptDirectories,
  acceptBindings,
  acceptLevels,
  integerWithin,
  acceptDay,
  listOf,
  isServer,
  isNetwork,
  acceptProviders,
  providersFromText,
  withoutCredentials,
} from "./config-formats.ts";
import type { ConfigTypes } from "./config-types.ts";

interface ValueType<T> {
  /** Completes "KEY must be …". */
  readonly expects: string;
  /** The value from a file's native form, or undefined if it is invalid. */
  accept(value: unknown): T | undefined;
  /** Converts the text of a variable or flag to the native form; returns unchanged text if it cannot. */
  fromText?(text: string): unknown;
  /** How the value is printed; secrets are masked. */
  show?(value: T): string;
  /** Values from several sources add up instead of replacing each other. */
  merge?(lower: T, higher: T): T;
  /** The value must not be repeated in messages. */
  readonly secret?: true;
}

const ACTIVATIONS: readonly OwnershipConfig["activation"][] = ["auto", "at_once", "delegation"];
const TXT_CONTENTS: readonly ConfigTypes["txt_content"][] = ["quoted", "as_sent"];
const NAMES_RULES: readonly ConfigTypes["names_rule"][] = ["letter_first", "rfc1123"];
const NATIVE_MODES: readonly NativeMode[] = ["auto", "off"];
const DATABASE_SCHEMES = ["sqlite:", "postgres://", "postgresql://"];

/** Each type is one row; the schema names it and every source goes through it. */
export const VALUE_TYPES: { readonly [T in keyof ConfigTypes]: ValueType<ConfigTypes[T]> } = {
  text: { expects: "text", accept: textOrUndefined },
  site: {
    expects: "https://HOST or http://HOST, with a port if needed",
    accept: (value) => (typeof value === "string" && (value === "" || isSite(value)) ? value : undefined),
  },
  issuer: {
    expects: "https://HOST with a path if needed, or http:// with a loopback address",
    accept: (value) => (typeof value === "string" && (value === "" || isIssuerUrl(value)) ? value : undefined),
  },
  path: { expects: "a path", accept: (value) => textOrUndefined(value) || undefined },
  paths: {
    expects: "a list of paths",
    accept: (value) => listOf(value, (item) => item !== "" && !item.includes("\0")),
    fromText: listFromText,
  },
  secret: {
    // The characters that an Authorization header can contain after "Bearer " (RFC 6750 §2.1).
    expects: "8 to 256 letters, digits or any of -._~+/=",
    accept: (value) => (typeof value === "string" && /^([A-Za-z0-9._~+/=-]{8,256})?$/.test(value) ? value : undefined),
    show: (value) => (value === "" ? '""' : '"[secret]"'),
    secret: true,
  },
  password: {
    expects: "text",
    accept: textOrUndefined,
    show: (value) => (value === "" ? '""' : '"[secret]"'),
    secret: true,
  },
  label: {
    expects: "1 to 16 lowercase letters and digits, starting with a letter",
    accept: (value) => (typeof value === "string" && /^[a-z][a-z0-9]{0,15}$/.test(value) ? value : undefined),
  },
  tag: {
    expects: "text of at most 64 printable ASCII characters",
    accept: (value) => (typeof value === "string" && /^[ -~]{0,64}$/.test(value) ? value : undefined),
  },
  hosts_to_listen: {
    expects: "an IP address or localhost, with a port if needed, such as 192.0.2.1:53 or [2001:db8::1]:53, or a list of them",
    accept: (value) => listenHosts(value, (item) => parseListenHost(item) !== undefined),
    fromText: listFromText,
    show: showListenHosts,
  },
  addresses_to_listen: {
    expects: "an IP address or localhost, or a list of them",
    accept: (value) => listenHosts(value, (item) => parseListenHost(item)?.host === item),
    fromText: listFromText,
    show: showListenHosts,
  },
  port_or_auto: {
    expects: "auto, or a port number from 0 (any free port) to 65535",
    accept: (value) => (value === "auto" ? value : integerWithin(value, 0, 65_535)),
    fromText: numberFromText,
  },
  port: {
    expects: "a port number from 0 (any free port) to 65535",
    accept: (value) => integerWithin(value, 0, 65_535),
    fromText: numberFromText,
  },
  count: { expects: "a whole number", accept: (value) => integerWithin(value, 0, Number.MAX_SAFE_INTEGER), fromText: numberFromText },
  switch: {
    expects: "true or false",
    accept: (value) => (typeof value === "boolean" ? value : undefined),
    fromText: (text) => SWITCH_WORDS[text.toLowerCase()] ?? text,
  },
  day: { expects: "a calendar day such as 2024-11-30", accept: acceptDay },
  database: {
    expects: "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME",
    accept: (value) =>
      typeof value === "string" && (value === "" || DATABASE_SCHEMES.some((scheme) => value.startsWith(scheme))) ? value : undefined,
    show: (value) => JSON.stringify(withoutCredentials(value)),
    secret: true,
  },
  bus: {
    expects: "tls://HOST:PORT, or nats://HOST:PORT with a loopback address",
    accept: (value) => (typeof value === "string" && (value === "" || isBusUrl(value)) ? value : undefined),
  },
  counters: {
    expects: "redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT/DATABASE",
    accept: (value) => (typeof value === "string" && (value === "" || isCountersUrl(value)) ? value : undefined),
    show: (value) => JSON.stringify(withoutCredentials(value)),
    secret: true,
  },
  clickhouse: {
    expects: "http://USER:PASSWORD@HOST:8123/DATABASE or https://USER:PASSWORD@HOST:8443/DATABASE",
    accept: (value) => (typeof value === "string" && (value === "" || isClickHouseUrl(value)) ? value : undefined),
    show: (value) => JSON.stringify(withoutCredentials(value)),
    secret: true,
  },
  level: { expects: `one of ${LEVELS.join(", ")}`, accept: (value) => LEVELS.find((level) => level === value) },
  levels: {
    expects: `areas of the log with levels, such as edge=warn; areas: ${LOG_AREAS.join(", ")}; levels: ${LEVELS.join(", ")}`,
    accept: acceptLevels,
    fromText: providersFromText,
    merge: (lower, higher) => ({ ...lower, ...higher }),
  },
  native: { expects: `one of ${NATIVE_MODES.join(", ")}`, accept: (value) => NATIVE_MODES.find((mode) => mode === value) },
  activation: { expects: `one of ${ACTIVATIONS.join(", ")}`, accept: (value) => ACTIVATIONS.find((one) => one === value) },
  txt_content: { expects: `one of ${TXT_CONTENTS.join(", ")}`, accept: (value) => TXT_CONTENTS.find((one) => one === value) },
  names_rule: { expects: `one of ${NAMES_RULES.join(", ")}`, accept: (value) => NAMES_RULES.find((one) => one === value) },
  accounts: {
    expects: "a list of account identifiers of 32 hexadecimal digits",
    accept: (value) => listOf(value, (item) => /^[0-9a-f]{32}$/.test(item)),
    fromText: listFromText,
  },
  addresses: { expects: "a list of IP addresses", accept: (value) => listOf(value, (item) => isIP(item) !== 0), fromText: listFromText },
  servers: {
    expects: "a list of IP addresses, with a port if it is not 53, such as 192.0.2.53 or [2001:db8::53]:5300",
    accept: (value) => listOf(value, isServer),
    fromText: listFromText,
  },
  roles: {
    expects: `a list of one or more of ${ROLES.join(", ")}`,
    accept: (value) => {
      const names: readonly unknown[] = Array.isArray(value) ? value : [];
      const isKnown = names.length > 0 && names.every((name) => ROLES.some((role) => role === name));
      return isKnown ? ROLES.filter((role) => names.includes(role)) : undefined;
    },
    fromText: listFromText,
  },
  recipients: {
    expects: "a list of public keys of age, such as age1…",
    accept: (value) => listOf(value, isRecipient),
    fromText: listFromText,
  },
  client_field: {
    expects: `one of ${CLIENT_ADDRESS_FIELDS.join(", ")}`,
    accept: (value) => CLIENT_ADDRESS_FIELDS.find((field) => typeof value === "string" && field === value.toLowerCase()),
  },
  networks: { expects: "a list of networks such as 10.0.0.0/8", accept: (value) => listOf(value, isNetwork), fromText: listFromText },
  names: {
    expects: "a list of at least one host name, such as ns1.example.net",
    accept: (value) => (Array.isArray(value) && value.length > 0 ? listOf(value, (item) => parseHostname(item) === item) : undefined),
    fromText: listFromText,
  },
  hosts: {
    expects: "a list of host names and addresses without ports, such as api.example.com, *.example.com or 192.0.2.1",
    accept: (value) => listOf(value, (item) => item === "*" || isIP(item) !== 0 || parseHostname(item, { wildcard: true }) === item),
    fromText: listFromText,
  },
  domains: {
    expects: "a list of domains in lower case, such as example.com",
    accept: (value) => listOf(value, (item) => parseHostname(item) === item),
    fromText: listFromText,
  },
  providers: {
    expects: "provider names with http:// or https:// base URLs, such as openai=http://127.0.0.1:9000/v1",
    accept: acceptProviders,
    fromText: providersFromText,
    show: (value) => JSON.stringify(Object.fromEntries(Object.entries(value).map(([name, url]) => [name, withoutCredentials(url)]))),
    merge: (lower, higher) => ({ ...lower, ...higher }),
    secret: true,
  },
  issuers: {
    expects: `a list of at least one of ${ISSUER_NAMES.join(", ")}, in order of preference`,
    accept: (value) =>
      Array.isArray(value) && value.length > 0 ? (listOf(value, isIssuer) as readonly IssuerName[] | undefined) : undefined,
    fromText: listFromText,
  },
  directories: {
    expects:
      "names of certificate authorities with the https:// URLs of their directories, such as lets_encrypt=https://127.0.0.1:14000/dir",
    accept: acceptDirectories,
    fromText: providersFromText,
    merge: (lower, higher) => ({ ...lower, ...higher }),
  },
  bindings: {
    expects: "names of certificate authorities with a key identifier and a key in base64url, such as google=KEY_ID:KEY",
    accept: acceptBindings,
    fromText: providersFromText,
    show: (value) =>
      `"${Object.keys(value)
        .map((name) => `${name}=[secret]`)
        .join(",")}"`,
    merge: (lower, higher) => ({ ...lower, ...higher }),
    secret: true,
  },
};
