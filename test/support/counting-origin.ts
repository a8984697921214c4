import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";

/** A request as a parser that is not ours understood it. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  /** Null while it has not come to its end. */
  body: string | null;
  trailers: Readonly<Record<string, string>>;
}

export interface CountingOrigin {
  readonly port: number;
  /** In order of arrival, on any connection. */
  readonly requests: readonly SeenRequest[];
  /** Messages that the other parser did not understand; must stay empty. */
  readonly faults: readonly string[];
  /** Every byte since the last reset. */
  received(): string;
  reset(): void;
  close(): void;
}

/** Parser errors for an interrupted message, which are not the sender's fault. */
const BROKEN_OFF = new Set(["ECONNRESET", "HPE_INVALID_EOF_STATE", "EPIPE"]);

/** An origin that parses with `node:http`, answers each complete request with 200, and records it. */
export async function startCountingOrigin(): Promise<CountingOrigin> {
  const requests: SeenRequest[] = [];
  const faults: string[] = [];
  let received = "";
  const server = createServer({ maxHeaderSize: 65_536 }, (req, res) => {
    const seen: SeenRequest = { ...lineAndFields(req), body: null, trailers: {} };
    requests.push(seen);
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => {
      seen.body = Buffer.concat(pieces).toString("latin1");
      seen.trailers = req.trailers as Record<string, string>;
      res.end("seen");
    });
    req.on("error", () => undefined);
  });
  server.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    if (!BROKEN_OFF.has(error.code ?? "")) faults.push(`${error.code} in ${JSON.stringify(error.rawPacket?.toString("latin1"))}`);
    socket.destroy();
  });
  const sockets = createTcpServer((socket) => {
    server.emit("connection", socket);
    // Added only now, because the server reads past listeners that were added before.
    socket.on("data", (bytes) => (received += bytes.toString("latin1")));
  });
  await new Promise<void>((done) => sockets.listen(0, "127.0.0.1", done));
  return {
    port: (sockets.address() as AddressInfo).port,
    requests,
    faults,
    received: () => received,
    reset: () => {
      requests.length = faults.length = 0;
      received = "";
    },
    close: () => {
      sockets.close();
      server.closeAllConnections();
    },
  };
}

const lineAndFields = (req: IncomingMessage) => ({
  method: req.method ?? "",
  target: req.url ?? "",
  headers: req.headersDistinct as Record<string, string[]>,
});
