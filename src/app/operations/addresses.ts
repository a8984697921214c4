import type { AddressInfo } from "node:net";
import { BASE_PATH } from "#api/server.ts";
import type { Config } from "#app/config/config.ts";
import type { Role } from "#app/config/roles.ts";
import type { Planes } from "#app/planes/planes-deps.ts";
import type { ReadyLine } from "./ready.ts";

/** Addresses of all listeners, as shown to people and programs; empty for roles that the process does not have. */
export function planeAddresses(
  config: Config,
  own: { readonly api: number; readonly ops: number },
  ports: Planes["ports"],
): Pick<ReadyLine, "api" | "ops" | "gateway" | "dns" | "dot" | "http" | "https"> {
  const { api, ops, gateway, dns, edge, tls } = config;
  const onlyAs = (role: Role, address: string): string => (config.roles.includes(role) ? address : "");
  const scheme = tls.certificate === "" ? "http" : "https";
  return {
    api: onlyAs("control", `${scheme}://${authority(api.host, own.api)}${BASE_PATH}`),
    ops: `http://${authority(ops.host, own.ops)}`,
    gateway: onlyAs("gateway", `${scheme}://${authority(gateway.host, ports.gateway)}`),
    dns: onlyAs("nameserver", authority(dns.host, ports.dns)),
    dot: onlyAs("nameserver", authority(dns.host, ports.dot)),
    http: onlyAs("edge", `http://${authority(edge.host, ports.http)}`),
    https: onlyAs("edge", `https://${authority(edge.host, ports.https)}`),
  };
}

const authority = (host: string, port: number): string => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Throws if the API listens on a path. */
export function listenerPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the API listens on no port");
  return address.port;
}
