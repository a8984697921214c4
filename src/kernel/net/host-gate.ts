import { hostnameMatches } from "./hostname.ts";
import { classifyIp } from "./ip-class.ts";
import { parseIp, unmapIp } from "./ip.ts";

/** By which names and addresses clients may call a listener. */
export interface AllowedHosts {
  /** Names in lower case, `*.example.com` for those one label below, and addresses; `*` alone: all. */
  readonly names: readonly string[];
  /** Any address: the listener is bound to all of the machine's, and it may have others outside. */
  readonly anyAddress: boolean;
}

/**
 * Says of a request's Host field whether it names this server. A page elsewhere whose name is made to lead here (DNS rebinding) makes its
 * visitors' browsers send requests to it, under the page's own name; no browser sends one under another. Loopback always passes.
 */
export type HostGate = (host: string) => boolean;

/** Fields that have passed, so that a client's next request costs one look-up. */
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

/** Whether the field names this very machine. */
export const namesLoopback = createHostGate({ names: [], anyAddress: false });

/** The host that a request is for: the authority of a target in absolute form goes before the Host field (RFC 9112 §3.2.2). */
export function askedHost(target: string, field: string): string {
  if (target.startsWith("/")) return field;
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1] ?? field;
}

/** Node takes the first of several and says nothing of the others. `fields`: names and values in turn. */
export function hostFieldsOf(fields: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < fields.length; i += 2) if (fields[i]?.toLowerCase() === "host") hosts++;
  return hosts;
}

/** Without the port, brackets and a last dot; empty where the field is none of RFC 9110 §7.2. */
function hostOf(field: string): string {
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::[0-9]*)?$/.exec(field);
  const host = parts?.[1] ?? parts?.[2] ?? "";
  return (host.endsWith(".") ? host.slice(0, -1) : host).toLowerCase();
}

/** Addresses can be written in several ways. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [parseIp(one), parseIp(other)];
  return a !== undefined && b !== undefined && Buffer.from(a.bytes).equals(b.bytes);
}
