import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect } from "node:net";
import type { Config } from "#app/config/config.ts";
import { listenAdvice, LISTENERS } from "#app/config/listeners.ts";
import { tryListen } from "#app/config/try-listen.ts";
import { type Finding, good, wrong } from "./findings.ts";

// The addresses that a server listens at, and the machines that it needs.

const LIMIT_MS = 3_000;
/** Of NATS. */
const BUS_PORT = 4222;

/** Binds each address of the process's roles for a moment. */
export async function checkPorts(config: Config): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const listener of LISTENERS) {
    if (listener.role !== null && !config.roles.includes(listener.role)) continue;
    for (const place of listener.places(config)) {
      if (place.orAny === true) continue;
      const error = await tryListen(place, listener.isUdpToo === true);
      if (error === null) continue;
      findings.push({ what: "ports", finding: listenAdvice(error, listener, place) ?? error.message, isGood: false });
    }
  }
  return findings.length === 0 ? [good("ports", "good, all addresses are free")] : findings;
}

/** Any response will do: a resolver that refuses answers, too. */
const DEAD: ReadonlySet<string> = new Set(["ETIMEOUT", "ECONNREFUSED", "ECANCELLED"]);

/** Those of the system count only as advice: an installation without names to look up works without them. */
export async function checkResolvers({ dns }: Config): Promise<readonly Finding[]> {
  const isOwn = dns.resolvers.length > 0;
  const servers = isOwn ? dns.resolvers : new Resolver().getServers();
  const findings: Finding[] = [];
  for (const server of servers) {
    const resolver = new Resolver({ timeout: LIMIT_MS, tries: 1 });
    resolver.setServers([server]);
    const code = await resolver.resolveNs(".").then(
      () => "",
      (error: unknown) => (error as NodeJS.ErrnoException).code ?? "",
    );
    if (!DEAD.has(code)) continue;
    const cause = `the resolver ${server} of ${isOwn ? "dns.resolvers" : "/etc/resolv.conf"} does not answer (${code}): origins, certificate authorities and providers cannot be found by name`;
    const remedy = isOwn ? "Start it, or set dns.resolvers to others" : "Start it, correct /etc/resolv.conf, or set dns.resolvers";
    findings.push({ ...wrong("resolver", cause, remedy), isGood: !isOwn });
  }
  return findings.length > 0 ? findings : [good("resolver", `good, ${servers.join(", ")}`)];
}

/** The bus, if the configuration has one. */
/** `bus`: its URL; empty without one. */
export async function checkBus(bus: string): Promise<readonly Finding[]> {
  if (bus === "") return [];
  const url = new URL(bus);
  const port = Number(url.port || BUS_PORT);
  const failure = await reach(url.hostname.replace(/^\[|\]$/g, ""), port);
  if (failure === null) return [good("bus", `good, ${url.hostname}:${port} accepts connections`)];
  const cause = `${url.hostname}:${port} of the bus cannot be reached (${failure}): nodes get no changes`;
  return [wrong("bus", cause, "Start that server, let this machine through its firewall, or correct bus.url")];
}

async function reach(host: string, port: number): Promise<string | null> {
  const socket = connect({ host, port, timeout: LIMIT_MS });
  try {
    await once(
      socket.once("timeout", () => socket.destroy(new Error("no answer"))),
      "connect",
    );
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  } finally {
    socket.destroy();
  }
}
