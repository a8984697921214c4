import { classifyIp } from "#kernel/net/ip-class.ts";
import { parseIp } from "#kernel/net/ip.ts";
import type { Config } from "./config.ts";
import { addressesOf } from "./listen-places.ts";

/** Every listener, and whether it carries credentials. */
const LISTENERS = [
  { key: "api.host", carriesCredentials: true },
  { key: "gateway.host", carriesCredentials: true },
  { key: "dns.host", carriesCredentials: false },
  { key: "edge.host", carriesCredentials: false },
] as const;

/**
 * Reasons why this configuration must not listen beyond this machine; empty if it may. An installation that is reachable
 * from outside must have its own token and must not send credentials in clear text.
 */
export function unsafeBinds(config: Config, bootstrapTokenUnchanged: boolean): readonly string[] {
  if (config.insecure_bind) return [];
  const hosts = {
    "api.host": config.api.host,
    "gateway.host": config.gateway.host,
    "dns.host": config.dns.host,
    "edge.host": config.edge.host,
  };
  const hasTls = config.tls.certificate !== "";
  const outside = LISTENERS.filter(({ key }) => !areLoopback(hosts[key]));
  const reasons: string[] = [];
  if (outside.length > 0 && bootstrapTokenUnchanged) {
    reasons.push(
      `${outside.map(({ key }) => key).join(", ")}: the bootstrap token is still the one that the first start generated and printed; give it a new secret with: ${resetCommand(config)}`,
    );
  }
  const clear = outside.filter(({ carriesCredentials }) => carriesCredentials && !hasTls);
  if (clear.length > 0) reasons.push(`${clear.map(({ key }) => key).join(", ")}: TLS is off; set tls.certificate and tls.key`);
  return reasons;
}

/** Throws an Error with the reasons. */
export function refuseUnsafeBinds(config: Config, bootstrapTokenUnchanged: boolean): void {
  const reasons = unsafeBinds(config, bootstrapTokenUnchanged);
  if (reasons.length > 0)
    throw new Error(`this configuration listens beyond this machine. ${reasons.join(". ")}. Set insecure_bind to allow it anyway`);
}

/** A database's address contains a password, and is not repeated. */
const resetCommand = ({ data, database }: Config): string =>
  `selvedge token reset --data ${data}${database.url === "" ? "" : " --database-url URL"}`;

/** Whether the listener is only reachable from this machine. */
export const areLoopback = (hosts: readonly string[]): boolean => addressesOf(hosts).every(isLoopbackHost);

/** Whether the URL names this machine itself. */
export const isLoopbackUrl = (url: string): boolean => isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ""));

export function isLoopbackHost(host: string): boolean {
  const address = parseIp(host);
  return address === undefined ? host === "localhost" : classifyIp(address) === "loopback";
}
