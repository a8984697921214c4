import { isIP } from "node:net";
import type { ListenPlace } from "#kernel/net/listen-place.ts";
import type { Config } from "./config-schema.ts";
import { parseListenHost } from "./listen-host.ts";

/** The port of DNS over TLS (RFC 7858 §3.1). */
const DOT_PORT = 853;

/** `port` is that of the hosts that name none. */
function placesAt(hosts: readonly string[], port: number): readonly ListenPlace[] {
  const places = hosts.map((text) => ({ port, ...parseListenHost(text) }) as ListenPlace);
  const hasIpv4 = places.some(({ host }) => isIP(host) === 4);
  return places.map((place) => (place.host === "::" && hasIpv4 ? { ...place, onlyIpv6: true } : place));
}

/** The addresses of a listener without ports. */
export const addressesOf = (hosts: readonly string[]): readonly string[] => placesAt(hosts, 0).map(({ host }) => host);

/** The addresses at which each listener accepts clients; at least one. */
export const LISTEN_PLACES = {
  api: ({ api }: Config) => placesAt(api.host, api.port),
  ops: ({ ops }: Config) => placesAt(ops.host, ops.port),
  gateway: ({ gateway }: Config) => placesAt(gateway.host, gateway.port),
  dns: ({ dns }: Config) => placesAt(dns.host, dns.port),
  dot: ({ dns }: Config): readonly ListenPlace[] => {
    const places = placesAt(dns.host, 0);
    return dns.tls_port === "auto"
      ? places.map((place) => ({ ...place, port: DOT_PORT, orAny: true }))
      : places.map((place) => ({ ...place, port: dns.tls_port as number }));
  },
  http: ({ edge, http }: Config) => placesAt(edge.host, http.port),
  https: ({ edge, https }: Config) => placesAt(edge.host, https.port),
} as const satisfies Readonly<Record<string, (config: Config) => readonly ListenPlace[]>>;
