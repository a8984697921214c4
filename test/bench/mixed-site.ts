import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { succeed } from "../support/api.ts";
import { serveWebSocket } from "../support/websocket-server.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";

const ZONE = "mixed.example";
export const MIXED_HOST = `www.${ZONE}`;
const BIG_BYTES = 256_000_000;
const FILE_BYTES = 1_000_000;

export interface MixedSite extends BenchServer {
  readonly http: URL;
  readonly https: URL;
  close(): Promise<void>;
}

/**
 * A server with one site, whose origin serves small, large and very large responses, errors and cacheable responses,
 * reads bodies and echoes over WebSockets.
 */
export async function startMixedSite(args: readonly string[] = []): Promise<MixedSite> {
  const origin = createServer(answer);
  origin.on("upgrade", (req, socket, rest) => {
    serveWebSocket(socket as Socket, `sec-websocket-key: ${req.headers["sec-websocket-key"]}`, rest, (peer, frame) => {
      if (frame.opcode < 3) peer.send(frame.opcode, frame.payload);
      else peer.socket.end();
    });
  });
  await new Promise<void>((done) => origin.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, done));
  const { port } = origin.address() as AddressInfo;
  const server = await startBenchServer(["--edge-origin-port", String(port), "--edge-connections-per-address-max", "0", ...args]);
  const zoneId = await server.createZone(ZONE);
  await succeed(
    server.call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true }),
  );
  await succeed(server.call("PATCH", `/zones/${zoneId}/settings/ssl`, { value: "flexible" }));
  return {
    ...server,
    http: new URL(server.selvedge.ready.http),
    https: new URL(server.selvedge.ready.https),
    close: async () => {
      await server.selvedge.stop();
      origin.closeAllConnections();
      origin.close();
    },
  };
}

const PIECE = Buffer.alloc(65_536, "x");
const FILE = Buffer.alloc(FILE_BYTES, "x");

function answer(req: IncomingMessage, res: ServerResponse): void {
  res.on("error", () => undefined);
  if (req.url === "/big") return sendBig(res);
  if (req.url === "/file") return void res.end(FILE);
  if (req.url === "/reset") return void req.socket.destroy();
  if (req.url === "/half") return void res.writeHead(200, { "content-length": FILE_BYTES }).write(PIECE, () => req.socket.destroy());
  const asset = /^\/asset-(\d+)\.css$/.exec(req.url ?? "")?.[1];
  if (asset !== undefined) return sendAsset(res, Number(asset));
  req.resume().on("end", () => res.end("fine"));
}

/** Some are cacheable for long, some for a second, some with revalidation; all of them are large. */
function sendAsset(res: ServerResponse, number: number): void {
  res.setHeader("cache-control", ["max-age=60", "max-age=1, stale-while-revalidate=5", "no-cache"][number % 3]!);
  res.setHeader("etag", `"${number}"`);
  if (res.req.headers["if-none-match"] === `"${number}"`) return void res.writeHead(304).end();
  res.end(PIECE.subarray(0, 1000 + ((number * 7919) % 64_000)));
}

function sendBig(res: ServerResponse): void {
  let sent = 0;
  const more = (): void => {
    while (sent < BIG_BYTES && !res.destroyed) {
      sent += PIECE.length;
      if (!res.write(PIECE)) return void res.once("drain", more);
    }
    res.end();
  };
  more();
}
