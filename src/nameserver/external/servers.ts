import { getServers } from "node:dns";
import { parseIp } from "#kernel/net/ip.ts";
import type { Server } from "./query-server.ts";

const DNS_PORT = 53;

/** Parses addresses with or without a port, as in the configuration; without any, returns the system's. */
export const resolversOf = (texts: readonly string[]): readonly Server[] =>
  (texts.length > 0 ? texts : getServers()).map(serverOf).filter((server) => server !== undefined);

/** `192.0.2.53`, `192.0.2.53:5300`, `2001:db8::53` or `[2001:db8::53]:5300`; undefined for other text. */
function serverOf(text: string): Server | undefined {
  const alone = parseIp(text);
  if (alone) return { ip: alone, port: DNS_PORT };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const ip = parseIp(bracketed ?? plain ?? "");
  return ip && { ip, port: Number(port ?? DNS_PORT) };
}
