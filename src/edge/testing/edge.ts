import { UNSHARED } from "#kernel/net/shared-limits.ts";
import { randomBytes } from "node:crypto";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import type { EventTables } from "#events/rows/rows.ts";
import { systemClock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import { createMetrics, type MetricRegistry } from "#kernel/process/metrics.ts";
import type { TicketKeys } from "#kernel/process/worker-protocol.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica, type MemoryReplica } from "#snapshot/memory-replica.ts";
import { EDGE_LIMITS, type EdgeConfig, type EdgeLimits } from "#edge/config.ts";
import { planOf, planText, type ScanSubject, subjectOf, subjectText } from "#edge/detection/scan-plan.ts";
import type { BodyTee } from "#edge/detection/body-tee.ts";
import { loadSocketCalls, type SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { closedInTheEnd } from "#kernel/testing/left-open.ts";
import { createEdge } from "#edge/edge.ts";
import type { GeoipDatabases } from "#edge/geoip.ts";
import { testEdgeConfig } from "./config.ts";
import { recordOp, rulesetOp, zoneOp } from "./entries.ts";

const loaded = await loadSocketCalls();

/** The implementations of TLS that this machine has: OpenSSL in the epoll loop, Node.js beside that loop, and Node.js alone. */
export const TLS_WAYS: readonly (readonly [way: string, socketCalls: SocketCalls | null])[] = [
  ...(loaded === null || loaded.secure === null ? [] : [["TLS of our own loop", loaded] as const]),
  ...(loaded === null ? [] : [["TLS of Node.js, other connections of our own loop", { ...loaded, secure: null }] as const]),
  ["TLS of Node.js", null],
];

export interface TestEdge {
  readonly http: number;
  readonly https: number;
  readonly replica: MemoryReplica;
  readonly sealer: Sealer;
  readonly metrics: MetricRegistry;
  readonly requests: EventTables["requests"][];
  readonly security: EventTables["security_events"][];
  readonly scanned: { readonly subject: ScanSubject; body: string; ended: boolean }[];
  readonly errors: unknown[];
  readonly warnings: Readonly<Record<string, unknown>>[];
  readonly tunnels: { links: readonly TunnelLink[] };
  readonly sightings: PageSighting[];
  useTicketKeys(keys: TicketKeys): void;
  usePlaces(databases: GeoipDatabases): void;
  close(timeoutMs?: number): Promise<void>;
}

/** An edge on free loopback ports, whose events and scanned bodies a test can inspect. */
export async function startEdge(
  ops: readonly Op[],
  given: Partial<EdgeConfig> & { readonly socketCalls?: SocketCalls | null; readonly tap?: BodyTee; readonly sealer?: Sealer } = {},
  limits: Partial<EdgeLimits> = {},
  originRoots: readonly string[] = [],
): Promise<TestEdge> {
  const { socketCalls = loaded, tap, sealer = createSealer(randomBytes(32)), ...config } = given;
  const replica = createMemoryReplica(ops);
  const metrics = createMetrics();
  const requests: TestEdge["requests"] = [];
  const security: TestEdge["security"] = [];
  const scanned: TestEdge["scanned"] = [];
  const errors: unknown[] = [];
  const warnings: TestEdge["warnings"] = [];
  const sightings: PageSighting[] = [];
  const tunnels: TestEdge["tunnels"] = { links: [] };
  const edge = createEdge({
    sharedLimits: UNSHARED,
    replica,
    sealer,
    clearanceKey: randomBytes(32),
    metrics,
    socketCalls,
    originRoots,
    clock: systemClock,
    events: {
      pushRequest: (row, events) => {
        requests.push(row);
        for (const { rule, matches } of events) security.push({ ...row, ...rule, id: newUlid(row.at_ms), matches });
      },
    },
    tap: tap ?? {
      takes: () => true,
      begin: (scope, request, response) => {
        const scan = {
          subject: subjectOf(planOf(planText(scope, response)), subjectText(request, response.status))!,
          body: "",
          ended: false,
        };
        scanned.push(scan);
        const chunk = (bytes: Uint8Array, start: number, end: number): void =>
          void (scan.body += Buffer.from(bytes.subarray(start, end)).toString("latin1"));
        return {
          chunk,
          last: (bytes, start, end) => {
            chunk(bytes, start, end);
            scan.ended = true;
          },
          end: () => void (scan.ended = true),
          abort: () => undefined,
        };
      },
    },
    warn: (message, fields) => void warnings.push({ message, ...fields }),
    onTunnels: (links) => void (tunnels.links = links),
    onSightings: (some) => void sightings.push(...some),
    onError: (error) => void errors.push(error),
    config: { ...testEdgeConfig(), ...config, limits: { ...EDGE_LIMITS, ...limits } },
  });
  const { http, https } = await edge.listen();
  const { useTicketKeys, usePlaces } = edge;
  const close = closedInTheEnd((timeoutMs = 0) => edge.close(timeoutMs));
  return {
    http,
    https,
    replica,
    sealer,
    metrics,
    requests,
    security,
    scanned,
    errors,
    warnings,
    tunnels,
    sightings,
    useTicketKeys,
    usePlaces,
    close,
  };
}

/** `www.example.com`, proxied to an origin on this port of this machine. */
export const siteOps = (port: number): readonly Op[] => [
  zoneOp("zone", "example.com"),
  recordOp("www", "zone", "www.example.com", "A", "127.0.0.1"),
  routeOp(port),
];

export const routeOp = (port: number): Op =>
  rulesetOp("route", "zone", "zone", "http_request_origin", [
    { action: "route", expression: "true", action_parameters: { origin: { port } } },
  ]);

export interface TestOrigin {
  readonly port: number;
  close(): void;
}

/** An origin of node:http. */
export const httpOrigin = (listener: RequestListener): Promise<TestOrigin> => listening(createHttpServer(listener));

/** An origin that handles its sockets itself. */
export const rawOrigin = (onSocket: (socket: Socket) => void): Promise<TestOrigin> =>
  listening(
    createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined);
      onSocket(socket);
    }),
  );

/**
 * An origin that answers by path with exact bytes, one request of a connection after the other; `heads` collects the
 * requests. Ends the connection after an answer in `closes`.
 */
export const pathOrigin = (
  answers: Readonly<Record<string, string>>,
  heads: string[] = [],
  closes: ReadonlySet<string> = new Set(),
): Promise<TestOrigin> =>
  rawOrigin((socket) => {
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
        heads.push(text.slice(0, end));
        const path = text.split(" ")[1]!;
        text = text.slice(end + 4);
        socket.write(answers[path] ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "latin1");
        if (closes.has(path)) socket.end();
      }
    });
    socket.on("end", () => socket.end());
  });

async function listening(server: Server): Promise<TestOrigin> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    close: closedInTheEnd(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    }),
  };
}

/** Limits the wait for something that never comes, in milliseconds. */
const WAIT_MS = 120_000;

/** A client that sends and reads raw bytes. */
export interface RawClient {
  readonly socket: Socket;
  received(): string;
  send(text: string): void;
  /** Waits until the received text matches, or the connection has ended. */
  until(pattern: RegExp): Promise<string>;
  /** Waits until the other side closes, and returns everything received. */
  closed(): Promise<string>;
}

export function rawClient(port: number): RawClient {
  let text = "";
  let isClosed = false;
  const listeners = new Set<() => void>();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    changed();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    isClosed = true;
    changed();
  });
  const wait = (done: () => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      const limit = setTimeout(
        () => end(() => reject(new Error(`nothing more came after: ${JSON.stringify(text.slice(0, 2000))}`))),
        WAIT_MS,
      );
      const end = (settle: () => void): void => {
        clearTimeout(limit);
        listeners.delete(look);
        settle();
      };
      const look = (): void => {
        if (done() || isClosed) end(() => resolve(text));
      };
      listeners.add(look);
      look();
    });
  return {
    socket,
    received: () => text,
    send: (bytes) => void socket.write(bytes, "latin1"),
    until: (pattern) => wait(() => pattern.test(text)),
    closed: () => wait(() => false),
  };
}

/** Sends one message and returns everything received until the connection closed. */
export async function exchangeRaw(port: number, bytes: string): Promise<string> {
  const client = rawClient(port);
  client.send(bytes);
  return client.closed();
}
