import type { AddressInfo } from "node:net";
import { BASE_PATH } from "#api/server.ts";
import type { Config } from "#app/config/config.ts";
import type { Role } from "#app/config/roles.ts";
import { LISTEN_PLACES } from "#app/config/listen-places.ts";
import type { ListenerAddresses } from "./ready.ts";

type Listening = Readonly<Record<keyof typeof LISTEN_PLACES, readonly number[]>>;

/**
 * Addresses of all listeners, as shown to people and programs; empty for roles that the process does not have. `ports`: in
 * the order of each listener's addresses.
 */
export function planeAddresses(config: Config, ports: Listening): ListenerAddresses {
  const secure = config.tls.certificate === "" ? "http" : "https";
  const shown = (role: Role | null, listener: keyof Listening, of: (authority: string) => string): readonly string[] =>
    role !== null && !config.roles.includes(role)
      ? []
      : LISTEN_PLACES[listener](config).map(({ host }, i) => of(authority(host, ports[listener][i] ?? 0)));
  const all = {
    api: shown("control", "api", (where) => `${secure}://${where}${BASE_PATH}`),
    ops: shown(null, "ops", (where) => `http://${where}`),
    gateway: shown("gateway", "gateway", (where) => `${secure}://${where}`),
    dns: shown("nameserver", "dns", (where) => where),
    dot: shown("nameserver", "dot", (where) => where),
    http: shown("edge", "http", (where) => `http://${where}`),
    https: shown("edge", "https", (where) => `https://${where}`),
  };
  const {
    api: [api = ""],
    ops: [ops = ""],
    gateway: [gateway = ""],
    dns: [dns = ""],
    dot: [dot = ""],
    http: [http = ""],
    https: [https = ""],
  } = all;
  const further = Object.entries(all).flatMap(([listener, [, ...others]]) => (others.length === 0 ? [] : [[listener, others] as const]));
  return { api, ops, gateway, dns, dot, http, https, ...(further.length === 0 ? {} : { further: Object.fromEntries(further) }) };
}

const authority = (host: string, port: number): string => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Throws if the API listens on a path. */
export function listenerPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the API listens on no port");
  return address.port;
}
