import { isIP } from "node:net";
import { AUTHORITIES, type AuthorityName, authorityNamed } from "#acme/authorities.ts";
import type { Binding } from "#acme/client.ts";
import { type IsoDate, parseIsoDate } from "#kernel/clock.ts";
import { isSafeAddress } from "#control/sign-in/provider-fetch.ts";
import { isLogArea } from "./log-areas.ts";
import type { ConfigTypes, LogLevel } from "./config-types.ts";

export const ISSUER_NAMES: readonly string[] = ["local", ...AUTHORITIES.map(({ name }) => name)];
export const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error", "silent"];
export const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

/** Changes are signed and secrets in them sealed, but the rest must not cross a network in clear text. */
export function isBusUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || url.hostname === "" || url.username !== "" || url.password !== "") return false;
  const isLocal = url.hostname === "localhost" || /^(?:127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === "tls:" || (url.protocol === "nats:" && isLocal);
}

export function isCountersUrl(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== "" && /^\/?\d{0,4}$/.test(url.pathname) && url.search === "";
}

/** Other parameters in it would be settings of the client. */
export function isClickHouseUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return false;
  return /^\/?\w{0,128}$/.test(url.pathname) && url.search === "" && url.hash === "";
}

/** OpenID Connect Core 1.0 §1.2: without a query. The secret goes there. */
export function isIssuerUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && isSafeAddress(url) && url.username === "" && url.search === "" && url.hash === "";
}

/** As a link begins: without a path, and without anything that a link would show. */
export const isSite = (value: string): boolean =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && new URL(value).origin === value;

export const textOrUndefined = (value: unknown): string | undefined =>
  typeof value === "string" && !value.includes("\0") ? value : undefined;
export const numberFromText = (text: string): unknown => (/^\d{1,15}$/.test(text) ? Number(text) : text);
export const listFromText = (text: string): unknown =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");

/** One as text, or several as a list. */
export const listenHosts = (value: unknown, accepts: (item: string) => boolean): readonly string[] | undefined => {
  const list = listOf(typeof value === "string" ? [value] : value, accepts);
  return list === undefined || list.length === 0 || new Set(list).size < list.length ? undefined : list;
};

export const showListenHosts = (hosts: readonly string[]): string => JSON.stringify(hosts.length === 1 ? hosts[0] : hosts);

export const isIssuer = (text: string): boolean => ISSUER_NAMES.includes(text);

export function acceptDirectories(value: unknown): ConfigTypes["directories"] | undefined {
  const given = acceptAuthorities(value);
  return given && Object.values(given).every(isBaseAddress) ? given : undefined;
}

/** Bindings from a file or a variable: `KEY_ID:KEY`. */
export function acceptBindings(value: unknown): ConfigTypes["bindings"] | undefined {
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

export function acceptLevels(value: unknown): ConfigTypes["levels"] | undefined {
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

export function integerWithin(value: unknown, min: number, max: number): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}

// TOML has a date type, and a day written without quotes has that type.
export function acceptDay(value: unknown): IsoDate | "" | undefined {
  if (value === "") return "";
  if (value instanceof Date) return parseIsoDate(value.toISOString().slice(0, 10));
  return typeof value === "string" ? parseIsoDate(value) : undefined;
}

export function listOf(value: unknown, accepts: (item: string) => boolean): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.every((item): item is string => typeof item === "string" && accepts(item)) ? value : undefined;
}

export function isServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const { address = "", port = "" } = /^(?:\[(?<address>[^\]]+)\]|(?<address>[^:]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  return isIP(address) === (text.startsWith("[") ? 6 : 4) && integerWithin(Number(port), 1, 65_535) !== undefined;
}

export function isNetwork(text: string): boolean {
  const [address = "", prefix, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

export function acceptProviders(value: unknown): Readonly<Record<string, string>> | undefined {
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

export function providersFromText(text: string): unknown {
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
