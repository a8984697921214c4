import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import type { EdgeLimits } from "#edge/config.ts";
import { siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";

export interface SecureEdge extends TestEdge {
  /** PEM of the authority behind the site's certificate. */
  readonly rootPem: string;
  /** A connection of HTTP/2 as node:http2 speaks it. */
  session(): ClientHttp2Session;
}

/** An edge with `www.example.com` over TLS, in front of an origin on this port. */
export async function startSecureEdge(
  originPort: number,
  limits: Partial<EdgeLimits> = {},
  config: NonNullable<Parameters<typeof startEdge>[1]> = {},
): Promise<SecureEdge> {
  const root = await createRoot(systemClock);
  const ca = createLocalCa({ root, clock: systemClock });
  const edge = await startEdge(siteOps(originPort), config, limits);
  const hosts = ["example.com", "*.example.com", ...(config.doh?.hosts ?? [])];
  const issued = await ca.issue(hosts);
  const certificate: Op = {
    kind: "certificate",
    id: "c1",
    value: {
      zone_id: "zone",
      hosts,
      chain: issued.chain,
      private_key: edge.sealer.seal(issued.privateKey, "certificate:c1"),
      not_after: issued.notAfter,
    },
  };
  edge.replica.apply([certificate]);
  const sessions = new Set<ClientHttp2Session>();
  return {
    ...edge,
    rootPem: root.certificate,
    session: () => {
      const session = connect("https://www.example.com", {
        host: "127.0.0.1",
        port: edge.https,
        servername: "www.example.com",
        ca: root.certificate,
      });
      session.on("error", () => undefined);
      sessions.add(session);
      return session;
    },
    close: async (timeoutMs) => {
      for (const session of sessions) session.destroy();
      await edge.close(timeoutMs);
    },
  };
}

/** The answer on one stream, complete or broken off. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly interim: readonly Readonly<Record<string, unknown>>[];
  readonly body: string;
  readonly trailers: Readonly<Record<string, string | string[] | undefined>>;
  /** The code of the reset; 0 if the stream ended normally. */
  readonly code: number;
}

export const fetchOver = (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string | Buffer): Promise<Answer> => {
  const stream = session.request({ ":path": "/", ":authority": "www.example.com", ...headers }, { endStream: body === undefined });
  const answer = answerOf(stream);
  if (body !== undefined) stream.end(body);
  return answer;
};

export function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let head: Record<string, unknown> = {};
  let trailers = {};
  let body = "";
  const interim: Record<string, unknown>[] = [];
  stream.on("headers", (fields) => interim.push({ ...fields }));
  stream.on("response", (fields) => (head = { ...fields }));
  stream.on("trailers", (fields) => (trailers = { ...fields }));
  stream.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
  stream.on("error", () => undefined);
  return new Promise((resolve) =>
    stream.on("close", () =>
      resolve({ status: Number(head[":status"] ?? 0), headers: head as Answer["headers"], interim, body, trailers, code: stream.rstCode }),
    ),
  );
}
