import { hostnameMatches } from "./hostname.ts";
import { classifyIp } from "./ip-class.ts";
import { parseIp, unmapIp } from "./ip.ts";

/** Names and addresses in the Host field that a listener accepts. */
export interface AllowedHosts {
  /** Names in lower case, `*.example.com` for names one label below, and addresses; `*` alone accepts all. */
  readonly names: readonly string[];
  /** Accept any address: the listener is bound to all addresses of the machine, which may also have external ones. */
  readonly anyAddress: boolean;
}

/**
 * Whether a request's Host field names this server. Prevents DNS rebinding: a page whose name resolves to this server
 * makes browsers send requests under the page's name, never under another. Loopback is always accepted.
 */
export type HostGate = (host: string) => boolean;

/** Limit of remembered accepted fields, which makes a client's next request one lookup. */
const KNOWN_MAX = 1_000;

export function createHostGate({ names, anyAddress }: AllowedHosts): HostGate {
  const known = new Set<string>();
  const allowsAll = names.includes("*");
  const isAllowed = (host: string): boolean => {
    if (allowsAll || names.includes(host)) return true;
    const address = parseIp(host);
    if (address !== undefined) return anyAddress || classifyIp(unmapIp(address)) === "loopback" || names.some((name) => isSame(name, host));
    // RFC 6761 §6.3.
    return host === "localhost" || host.endsWith(".localhost") || names.some((name) => hostnameMatches(name, host));
  };
  return (field) => {
    if (known.has(field)) return true;
    if (!isAllowed(hostOf(field))) return false;
    if (known.size >= KNOWN_MAX) known.clear();
    known.add(field);
    return true;
  };
}

/** Whether the field names this machine's loopback. */
export const namesLoopback = createHostGate({ names: [], anyAddress: false });

/**
 * The host that a request names: a target in absolute form overrides the Host field (RFC 9112 §3.2.2). Undefined if it names none, as with
 * HTTP/1.0.
 */
export function requestedHost(target: string, field: string | undefined): string | undefined {
  if (target.startsWith("/")) return field;
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? field ?? "";
}

/** Number of Host fields: Node.js uses the first and hides the others. `fields`: alternating names and values. */
export function hostFieldsOf(fields: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < fields.length; i += 2) if (fields[i]?.toLowerCase() === "host") hosts++;
  return hosts;
}

/** Host without port, brackets and trailing dot; empty if the field is invalid (RFC 9110 §7.2). */
function hostOf(field: string): string {
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::[0-9]*)?$/.exec(field);
  const host = parts?.[1] ?? parts?.[2] ?? "";
  return (host.endsWith(".") ? host.slice(0, -1) : host).toLowerCase();
}

/** Compares addresses, which have several spellings. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [parseIp(one), parseIp(other)];
  return a !== undefined && b !== undefined && Buffer.from(a.bytes).equals(b.bytes);
}
