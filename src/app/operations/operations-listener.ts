import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ERROR_CODES } from "#kernel/errors/error-codes.ts";
import { descriptorOf } from "#kernel/process/fd-registry.ts";
import { requestedHost, type HostGate, hostFieldsOf } from "#kernel/net/host-gate.ts";
import { createServer } from "#kernel/net/node-http.ts";
import { listenAtFurther } from "#kernel/process/further-listener.ts";
import type { ListenPlace } from "#kernel/net/listen-place.ts";
import { closeHttp, trackConnections } from "./close-http.ts";
import type { Operations } from "./operations.ts";

export interface OperationsListener {
  /** Its sockets, in the order of the addresses. */
  readonly sockets: readonly { readonly port: number; readonly fd: number | undefined }[];
  /** `idleMs`: see DrainTimes. */
  close(drainMs: number, idleMs?: number): Promise<void>;
}

export interface OperationsListenerDeps {
  readonly operations: Operations;
  /** At least one. */
  readonly places: readonly ListenPlace[];
  /** A descriptor that listens already at the place of this index. */
  readonly fdAt: (index: number) => number | undefined;
  readonly allowsHost: HostGate;
  /** Called with unexpected errors. */
  readonly onError: (error: unknown) => void;
}

const TIMEOUT_MS = 10_000;
/** Enough for some scrapers and probes; further connections are closed. */
const CONNECTIONS_MAX = 256;

/**
 * Metrics and health on a separate port, over plain HTTP and without credentials. Rejects with the system's error if it
 * cannot listen.
 */
export async function openOperationsListener(deps: OperationsListenerDeps): Promise<OperationsListener> {
  const server = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS, requireHostHeader: false }, (req, res) => {
    void answer(deps, req, res).catch((error: unknown) => {
      deps.onError(error);
      res.destroy();
    });
  });
  const connections = trackConnections(server);
  server.maxConnections = CONNECTIONS_MAX;
  const [{ host, port, onlyIpv6: ipv6Only = false }, ...others] = deps.places as readonly [ListenPlace, ...ListenPlace[]];
  const fd = deps.fdAt(0);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(fd === undefined ? { host, port, ipv6Only } : { fd }, resolve);
  await promise;
  const first = { port: (server.address() as AddressInfo).port, fd: descriptorOf(server) };
  const stop = (): Promise<void> => new Promise((closed) => void server.close(() => closed()));
  const further = await listenAtFurther(server, others, first.port, (i) => deps.fdAt(i + 1)).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    sockets: [first, ...further],
    close: (drainMs, idleMs) => closeHttp({ server, further: () => further, close: stop, connections }, drainMs, idleMs),
  };
}

async function answer({ operations, allowsHost }: OperationsListenerDeps, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const send = (status: number, type: string, body: string): void =>
    void res.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body), "cache-control": "no-store" }).end(body);
  const hosts = hostFieldsOf(req.rawHeaders);
  // RFC 9112 §3.2.
  if (hosts > 1 || (hosts === 0 && req.httpVersion !== "1.0")) return send(400, TEXT, "The request needs one Host field.\n");
  const host = requestedHost(req.url ?? "/", req.headers.host);
  if (host !== undefined && !allowsHost(host))
    return send(421, TEXT, `This listener does not serve this host name. ${ERROR_CODES.misdirected_host.remedy}\n`);
  if (req.method !== "GET" && req.method !== "HEAD") return send(405, TEXT, "This listener accepts only GET.\n");
  const asked = operations.get((req.url ?? "").split("?", 1)[0] ?? "");
  if (asked === undefined) return send(404, TEXT, `This listener serves ${[...operations.keys()].join(", ")}.\n`);
  const { status, type, body } = await asked();
  send(status, type, body);
}

const TEXT = "text/plain; charset=utf-8";
