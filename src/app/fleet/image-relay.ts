import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { failureEnvelope } from "#api/envelope.ts";
import { toFailure } from "#api/failure.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createOperatorPorts } from "#kernel/net/operator-ports.ts";
import { DELIVERY_PATH, UPLOAD_PATH } from "#kernel/net/image-urls.ts";
import { Agent as HttpAgent, createServer, request as httpRequest } from "#kernel/net/node-http.ts";
import type { Log } from "#app/log/log.ts";
import type { Closing } from "#app/operations/disposables.ts";

export interface ImageRelayDeps {
  /** Where control's API is, such as `https://control.example.net:8780`. */
  readonly control: string;
  /** PEM of the authority of its certificate; null: those that the system trusts. */
  readonly root: string | null;
  readonly log: Log;
  readonly operatorPorts: SharedArrayBuffer;
}

/** Fields that control needs of a request for an image, and that visitors get of its answer; all others stay on their machine. */
const OF_REQUESTS = ["accept", "if-none-match", "content-type", "content-length", "transfer-encoding"] as const;
const OF_ANSWERS = [
  ...["content-type", "content-length", "etag", "vary", "cache-control", "cdn-cache-control", "retry-after"],
  ...["x-content-type-options", "access-control-allow-origin", "access-control-allow-methods", "access-control-allow-headers"],
  "access-control-max-age",
] as const;
const CONNECTIONS_MAX = 64;
/** Further requests are refused, so that a slow control does not fill the node. */
const REQUESTS_MAX = 512;
const SILENCE_MAX_MS = 30_000;

/**
 * Opens a loopback port at which the edges of a node get images as those of control's machine do: each request goes on to
 * control, which checks it. Returns the port.
 */
export async function openImageRelay({ control, root, log, operatorPorts }: ImageRelayDeps, closing: Closing): Promise<number> {
  const base = new URL(control);
  const pool = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const [agent, send] =
    base.protocol === "https:"
      ? [new HttpsAgent({ ...pool, ...(root === null ? {} : { ca: root }) }), httpsRequest]
      : ([new HttpAgent(pool), httpRequest] as const);
  let running = 0;

  function relay(request: IncomingMessage, response: ServerResponse): void {
    if (!isForImages(request)) return refuse(request, response, "no_route");
    if (running >= REQUESTS_MAX) return refuse(request, response, "image_storage");
    running++;
    response.once("close", () => void running--);
    const { method, url = "" } = request;
    // The path stays as it is: a signature is for its bytes.
    const sent = send({
      ...{ protocol: base.protocol, hostname: base.hostname.replace(/^\[|\]$/g, ""), port: base.port, agent, timeout: SILENCE_MAX_MS },
      ...{ method, path: url, headers: only(request, OF_REQUESTS) },
    });
    const fail = (reason: unknown): void => {
      sent.destroy();
      if (response.headersSent || response.destroyed) return void response.destroy();
      log.warn({ reason: String(reason) }, "control does not answer a request for an image");
      refuse(request, response, "image_storage");
    };
    sent.on("timeout", () => fail("no answer in time"));
    sent.on("error", fail);
    sent.on("response", (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) return fail(`control answers ${statusCode}`);
      response.writeHead(statusCode, only(answer, OF_ANSWERS));
      answer.on("error", fail);
      answer.pipe(response);
    });
    response.on("close", () => sent.destroy());
    request.pipe(sent);
  }

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 4 * SILENCE_MAX_MS }, relay);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  closing.add(async () => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  const { port } = server.address() as AddressInfo;
  createOperatorPorts(operatorPorts).add(port);
  return port;
}

const isForImages = ({ url = "", method = "" }: IncomingMessage): boolean =>
  url.startsWith(DELIVERY_PATH) ? ["GET", "HEAD"].includes(method) : url.startsWith(UPLOAD_PATH) && ["POST", "OPTIONS"].includes(method);

const only = ({ headers }: IncomingMessage, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

function refuse(request: IncomingMessage, response: ServerResponse, name: ErrorName): void {
  const failure = toFailure(new PlatformError(name));
  request.resume();
  response
    .writeHead(failure.status, { ...failure.headers, "content-type": "application/json", "cache-control": "no-store" })
    .end(request.method === "HEAD" ? undefined : failureEnvelope(failure.errors));
}
