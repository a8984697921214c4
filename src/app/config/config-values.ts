import { isIP } from "node:net";
import { AUTHORITIES, type AuthorityName, authorityNamed } from "#acme/authorities.ts";
import type { Binding } from "#acme/client.ts";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import type { OwnershipConfig } from "#control/ownership/policy.ts";
import { type IsoDate, parseIsoDate } from "#kernel/clock.ts";
import type { NativeMode } from "#kernel/process/native-transport.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import { isSafeAddress } from "#control/sign-in/provider-fetch.ts";
import { isRecipient } from "#kernel/crypto/age-keys.ts";
import { CLIENT_ADDRESS_FIELDS, type ClientAddressField } from "#kernel/net/client-addresses.ts";
import { parseHostname } from "#kernel/net/hostname.ts";

import { parseListenHost } from "./listen-host.ts";
import { isLogArea, LOG_AREAS, type LogArea } from "./log-areas.ts";
import { ROLES, type Role } from "./roles.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** Values of configuration keys, by the name of their type in the schema. */
export interface ConfigTypes {
  readonly text: string;
  readonly site: string;
  readonly issuer: string;
  readonly path: string;
  readonly paths: readonly string[];
  readonly secret: string;
  readonly password: string;
  readonly label: string;
  readonly tag: string;
  readonly hosts_to_listen: readonly string[];
  readonly addresses_to_listen: readonly string[];
  readonly port: number;
  readonly port_or_auto: number | "auto";
  readonly count: number;
  readonly switch: boolean;
  readonly day: IsoDate | "";
  readonly database: string;
  readonly bus: string;
  readonly counters: string;
  readonly level: LogLevel;
  readonly levels: Readonly<Partial<Record<LogArea, LogLevel>>>;
  readonly native: NativeMode;
  readonly roles: readonly Role[];
  readonly activation: OwnershipConfig["activation"];
  readonly txt_content: RecordPolicy["txtContent"];
  readonly names_rule: Exclude<RecordPolicy["names"], "any">;
  readonly accounts: readonly string[];
  readonly addresses: readonly string[];
  readonly servers: readonly string[];
  readonly networks: readonly string[];
  readonly client_field: ClientAddressField;
  readonly recipients: readonly string[];
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  readonly domains: readonly string[];
  readonly providers: Readonly<Record<string, string>>;
  readonly issuers: readonly IssuerName[];
  readonly directories: Readonly<Partial<Record<AuthorityName, string>>>;
  readonly bindings: Readonly<Partial<Record<AuthorityName, Binding>>>;
}

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

const ISSUER_NAMES: readonly string[] = ["local", ...AUTHORITIES.map(({ name }) => name)];
const ACTIVATIONS: readonly OwnershipConfig["activation"][] = ["auto", "at_once", "delegation"];
const TXT_CONTENTS: readonly ConfigTypes["txt_content"][] = ["quoted", "as_sent"];
const NAMES_RULES: readonly ConfigTypes["names_rule"][] = ["letter_first", "rfc1123"];
const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];
const NATIVE_MODES: readonly NativeMode[] = ["auto", "off"];
const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};
const DATABASE_SCHEMES = ["sqlite:", "postgres://", "postgresql://"];

/** Changes are signed and secrets in them sealed, but the rest must not cross a network in clear text. */
function isBusUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.hostname === "" || url.username !== "" || url.password !== "") return false;
  const isLocal = url.hostname === "localhost" || /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === "tls:" || (url.protocol === "nats:" && isLocal);
}

function isCountersUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== "" && /^\/?\d{0,4}$/.test(url.pathname) && url.search === "";
}

/** OpenID Connect Core 1.0 §1.2: without a query. The secret goes there. */
function isIssuerUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && isSafeAddress(url) && url.username === "" && url.search === "" && url.hash === "";
}

/** As a link begins: without a path, and without anything that a link would show. */
const isSite = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;

const textOrUndefined = (value: unknown): string | undefined => (typeof value === "string" && !value.includes("\0") ? value : undefined);
const numberFromText = (text: string): unknown => (/^\d{1,15}$/.test(text) ? Number(text) : text);
const listFromText = (text: string): unknown =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** One as text, or several as a list. */
const listenHosts = (value: unknown, accepts: (item: string) => boolean): readonly string[] | undefined => {
  const list = listOf(typeof value === "string" ? [value] : value, accepts);
  return list === undefined || list.length === 0 || new Set(list).size < list.length ? undefined : list;
};

const showListenHosts = (hosts: readonly string[]): string => JSON.stringify(hosts.length === 1 ? hosts[0] : hosts);

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

const isIssuer = (text: string): boolean => ISSUER_NAMES.includes(text);

function acceptDirectories(value: unknown): ConfigTypes["directories"] | undefined {
  const given = acceptAuthorities(value);
  return given && Object.values(given).every(isBaseAddress) ? given : undefined;
}

/** Bindings from a file or a variable: `KEY_ID:KEY`. */
function acceptBindings(value: unknown): ConfigTypes["bindings"] | undefined {
  const given = acceptAuthorities(value);
  if (given === undefined) return undefined;
  const bindings: Partial<Record<AuthorityName, Binding>> = {};
  for (const [name, text] of Object.entries(given)) {
    const { keyId, hmacKey } = /^(?<keyId>[!-9;-~]{1,256}):(?<hmacKey>[A-Za-z0-9_-]{16,512})$/.exec(text)?.groups ?? {};
    if (keyId === undefined || hmacKey === undefined) return undefined;
    bindings[name as AuthorityName] = { keyId, hmacKey };
  }
  return bindings;
}

function acceptLevels(value: unknown): ConfigTypes["levels"] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date) return undefined;
  const entries = Object.entries(value);
  return entries.every(([area, level]) => isLogArea(area) && LEVELS.some((known) => known === level))
    ? (Object.fromEntries(entries) as ConfigTypes["levels"])
    : undefined;
}

function acceptAuthorities(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date) return undefined;
  const entries = Object.entries(value);
  return entries.every(([name, text]) => authorityNamed(name) !== undefined && typeof text === "string")
    ? Object.fromEntries(entries)
    : undefined;
}

function integerWithin(value: unknown, min: number, max: number): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}

// TOML has a date type, and a day written without quotes has that type.
function acceptDay(value: unknown): IsoDate | "" | undefined {
  if (value === "") return "";
  if (value instanceof Date) return parseIsoDate(value.toISOString().slice(0, 10));
  return typeof value === "string" ? parseIsoDate(value) : undefined;
}

function listOf(value: unknown, accepts: (item: string) => boolean): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((item): item is string => typeof item === "string" && accepts(item)) ? value : undefined;
}

function isServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const { address = "", port = "" } = /^(?:\[(?<address>[^\]]+)\]|(?<address>[^:]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  return isIP(address) === (text.startsWith("[") ? 6 : 4) && integerWithin(Number(port), 1, 65_535) !== undefined;
}

function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

function acceptProviders(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date) return undefined;
  const providers: Record<string, string> = {};
  for (const [name, url] of Object.entries(value)) {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name) || typeof url !== "string" || !isBaseAddress(url)) return undefined;
    providers[name] = url;
  }
  return providers;
}

function isBaseAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.search === "" && url.hash === "";
}

function providersFromText(text: string): unknown {
  const providers: Record<string, string> = {};
  for (const item of text.split(",")) {
    const at = item.indexOf("=");
    if (at < 1) return text;
    providers[item.slice(0, at).trim()] = item.slice(at + 1).trim();
  }
  return providers;
}

/** An address for printing: user name and password masked. */
export function withoutCredentials(text: string): string {
  // linear: pumped
  return text.replace(/^([a-z+.-]+:\/\/)[^/?#]*@/i, "$1[secret]@");
}
