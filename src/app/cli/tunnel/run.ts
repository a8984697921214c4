import { randomUUID } from "node:crypto";
import { systemClock } from "#kernel/clock.ts";
import { compileIngress, IngressError } from "#model/tunnels/ingress-rules.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import { CliError, complain, EXIT, type ExitCode } from "#app/cli/outcome.ts";
import { createLog } from "#app/log/log.ts";
import { type Connector, createConnector } from "#app/tunnel/connector.ts";
import { readEndpoint, readTunnelToken } from "#app/tunnel/tunnel-token.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";

export interface TunnelRunOptions {
  readonly url?: string;
  /** Each has connections. */
  readonly edge: readonly string[];
  readonly connections: string;
  readonly drain: string;
  readonly logLevel: string;
}

/** Connects the services of this machine to the edge, until SIGTERM or SIGINT. */
export async function runTunnel(text: string | undefined, options: TunnelRunOptions): Promise<ExitCode> {
  const token = readTunnelToken(text ?? process.env["SELVEDGE_TUNNEL_TOKEN"] ?? "");
  if (token === undefined)
    throw new CliError("the token is not valid: use the one that GET /accounts/ID/cfd_tunnel/ID/token shows", EXIT.usage);
  const edges = options.edge.length === 0 ? [null] : options.edge.map(endpointIn);
  if (edges[0] === null && token.host === "")
    throw new CliError("the token does not say where the edge is: add --edge HOST:PORT", EXIT.usage);
  const deps = {
    ...{ token, id: randomUUID(), ingress: options.url === undefined ? null : ingressTo(options.url), clock: systemClock },
    connections: numberIn(options.connections, "--connections", 1, 64),
    log: createLog({ level: options.logLevel, levels: {} }),
    socketCalls: await loadSocketCalls(),
    // One edge that refuses may be a machine that is cut off; the others serve.
    onRefused: (reason: string) => {
      if (connectors.every((connector) => connector.isRefused())) end.resolve(reason);
    },
  };
  const end = Promise.withResolvers<string | null>();
  const connectors: readonly Connector[] = edges.map((edge) => createConnector({ ...deps, edge }));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => end.resolve(null));
  void Promise.any(connectors.map(({ serving }) => serving)).then(() =>
    process.stdout.write(`${JSON.stringify({ event: "connected", tunnel: token.tunnel })}\n`),
  );
  const refusal = await end.promise;
  const drainMs = numberIn(options.drain, "--drain", 0, 3600) * 1000;
  await Promise.all(connectors.map((connector) => connector.stop(drainMs)));
  if (refusal === null) return EXIT.ok;
  complain([`the edge refused the connection: ${refusal}`]);
  return EXIT.failed;
}

function endpointIn(text: string): NonNullable<ReturnType<typeof readEndpoint>> {
  const endpoint = readEndpoint(text);
  if (endpoint === undefined) throw new CliError(`--edge ${text} is not HOST or HOST:PORT`, EXIT.usage);
  return endpoint;
}

function ingressTo(url: string): IngressConfig {
  const config = { ingress: [{ service: url }] };
  try {
    compileIngress(config);
  } catch (error) {
    if (error instanceof IngressError) throw new CliError(`--url: ${error.message}`, EXIT.usage);
    throw error;
  }
  return config;
}

function numberIn(text: string, flag: string, least: number, most: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least || number > most)
    throw new CliError(`${flag} must be a number between ${least} and ${most}`, EXIT.usage);
  return number;
}
