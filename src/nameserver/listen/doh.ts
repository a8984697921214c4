import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "#kernel/net/node-http.ts";
import { MESSAGE_BYTES_MAX } from "#wire/dns/codes.ts";
import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { minTtl } from "#wire/dns/min-ttl.ts";
import type { NameserverLimits } from "#nameserver/config.ts";
import { clientOf } from "#nameserver/message/client.ts";
import type { Respond } from "#nameserver/responder/respond.ts";
import type { Listener } from "./udp.ts";

/**
 * The edge forwards queries to this address. Only the edge connects here: it terminates TLS, limits connections and adds
 * the client's address.
 */
const HOST = "127.0.0.1";
/** RFC 8484 §6. */
export const DOH_PATH = "/dns-query";
const MEDIA_TYPE = "application/dns-message";
const REQUEST_TIMEOUT_MS = 10_000;

/** Rejects a request that contains no DNS message. */
class DohError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** DNS over HTTPS (RFC 8484) behind the edge. `port` 0: any free port. One tick answers some of the queries that arrived together. */
export async function listenDoh(
  config: { readonly port: number; readonly reusePort: boolean },
  limits: Pick<NameserverLimits, "tcpMessagesPerTick">,
  respond: Respond,
): Promise<Listener> {
  const turns = createMessageTurns(limits.tcpMessagesPerTick);
  const inTurn: Respond = (packet, client) => {
    if (turns.take()) return respond(packet, client);
    return new Promise((resolve) => {
      turns.wait(() => {
        turns.take();
        resolve(respond(packet, client));
      });
    });
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS }, (req, res) => {
    void answer(req, res, inTurn).catch(() => res.destroy());
  });
  server.listen({ host: HOST, port: config.port, reusePort: config.reusePort });
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async (timeoutMs) => {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const limit = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

async function answer(req: IncomingMessage, res: ServerResponse, respond: Respond): Promise<void> {
  try {
    const packet = await readQuestion(req);
    const response = await respond(packet, clientOf("doh", forwardedFor(req), 0));
    if (response === undefined) throw new DohError(400, "The message is not a DNS query.");
    // RFC 8484 §5.1: caches may keep the answer for as long as its lowest TTL at most.
    const headers = { "content-type": MEDIA_TYPE, "cache-control": `max-age=${minTtl(response)}`, "content-length": response.length };
    res.writeHead(200, headers).end(response);
  } catch (error) {
    if (!(error instanceof DohError)) throw error;
    res.writeHead(error.status, { "content-type": "text/plain", ...error.headers }).end(`${error.message}\n`);
  }
}

/** The edge overwrites this header, so it contains exactly one address. */
const forwardedFor = (req: IncomingMessage): string | undefined => {
  const value = req.headers["x-forwarded-for"];
  return typeof value === "string" ? value : undefined;
};

function readQuestion(req: IncomingMessage): Promise<Buffer> {
  const url = new URL(req.url ?? "/", "http://edge");
  if (url.pathname !== DOH_PATH) throw new DohError(404, `DNS queries go to ${DOH_PATH}.`);
  if (req.method === "GET" || req.method === "HEAD") return Promise.resolve(fromParameter(url.searchParams.get("dns")));
  if (req.method !== "POST") throw new DohError(405, "Only GET and POST are supported.", { allow: "GET, HEAD, POST" });
  if (req.headers["content-type"]?.toLowerCase() !== MEDIA_TYPE) throw new DohError(415, `The content type must be ${MEDIA_TYPE}.`);
  return readBody(req);
}

/** RFC 8484 §6: base64url without padding. */
function fromParameter(text: string | null): Buffer {
  if (text === null || text === "" || !/^[A-Za-z0-9_-]+$/.test(text))
    throw new DohError(400, 'The parameter "dns" must be a DNS message in base64url without padding.');
  return bounded(Buffer.from(text, "base64url"));
}

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MESSAGE_BYTES_MAX) throw TOO_LARGE;
  }
  return bounded(Buffer.concat(chunks));
}

const TOO_LARGE = new DohError(413, `A DNS message can have at most ${MESSAGE_BYTES_MAX} bytes.`);

function bounded(packet: Buffer): Buffer {
  if (packet.length > MESSAGE_BYTES_MAX) throw TOO_LARGE;
  return packet;
}
