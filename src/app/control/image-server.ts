import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { createImageHandler, type ImageHandler } from "#api/images/image-handler.ts";
import type { Control } from "#control/control.ts";
import { createOperatorPorts } from "#kernel/net/operator-ports.ts";
import { DELIVERY_PATH, UPLOAD_PATH } from "#kernel/net/image-urls.ts";
import { createServer } from "#kernel/net/node-http.ts";
import type { Log } from "#app/log/log.ts";
import type { Closing } from "#app/operations/disposables.ts";

export interface ImageServer {
  /** On loopback, for the edges of this machine. */
  readonly port: number;
  readonly handler: ImageHandler;
}

const BODY_MS = 120_000;

/** Opens the listener at which the edges of this process get images. */
export async function openImageServer(
  { control, log, operatorPorts }: { readonly control: Control; readonly log: Log; readonly operatorPorts: SharedArrayBuffer },
  closing: Closing,
): Promise<ImageServer> {
  const handler = createImageHandler({ control, failed: (error) => log.error({ err: error }, "a request for an image failed") });
  const server = createServer(
    { requestTimeout: BODY_MS, keepAliveTimeout: BODY_MS },
    (request, response) => void handler(request, response),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  server.unref();
  closing.add(async () => {
    server.closeAllConnections();
    server.close();
    control.imageProcessor.close();
  });
  const { port } = server.address() as AddressInfo;
  createOperatorPorts(operatorPorts).add(port);
  return { port, handler };
}

/** The same paths at the API's address, for installations without a zone. */
export function addImages(app: FastifyInstance, handler: ImageHandler): void {
  for (const [method, path] of [
    ["GET", DELIVERY_PATH],
    ["POST", UPLOAD_PATH],
  ] as const)
    app.route({
      method,
      url: `${path}*`,
      onRequest: async (request, reply) => {
        reply.hijack();
        await handler(request.raw, reply.raw);
      },
      handler: async () => undefined,
    });
}
