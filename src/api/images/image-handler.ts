import type { IncomingMessage, ServerResponse } from "node:http";
import { requestBytes } from "#api/connection/request-bytes.ts";
import { failureEnvelope, successEnvelope } from "#api/envelope.ts";
import { toFailure } from "#api/failure.ts";
import { FORM_OVERHEAD_BYTES, formFileOf, isForm, readForm } from "#api/form-body.ts";
import type { ImageControl } from "#control/images/image-control.ts";
import { IMAGE_BYTES_MAX } from "#control/images/image-facts.ts";
import { createStreamLimiter } from "#control/events/stream-limiter.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { accountOfHash, DELIVERY_PATH, UPLOAD_PATH } from "#kernel/net/image-urls.ts";
import { imageFileOf } from "./image-uploads.ts";

/** Answers requests for images, and uploads without credentials, outside of the API: behind the edge, and at the API's own address. */
export type ImageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ImageHandlerDeps {
  readonly control: Pick<ImageControl, "images" | "imageDelivery">;
  /** Called with what is nobody's mistake but the server's. */
  readonly failed: (error: unknown) => void;
}

/** Each may hold a whole file in memory, for as long as its client takes. */
const UPLOADS = { ofOne: 6, ofAll: 16, takers: "uploads", what: "run" } as const;

export function createImageHandler({ control, failed }: ImageHandlerDeps): ImageHandler {
  const places = createStreamLimiter(UPLOADS);

  async function deliver(request: IncomingMessage, response: ServerResponse, path: string, query: string): Promise<void> {
    const image = await control.imageDelivery.find({ path, query, accept: request.headers.accept ?? "" });
    response.setHeaders(
      new Map([
        ["content-type", image.type],
        ["etag", image.etag],
        ["vary", "Accept"],
        ["cache-control", `${image.isPrivate ? "private" : "public"}, max-age=${image.maxAgeSeconds}`],
        // The edge asks each time whether the image is still the same, so that changes count at once.
        ["cdn-cache-control", image.isPrivate ? "no-store" : "no-cache"],
        ["x-content-type-options", "nosniff"],
        ["access-control-allow-origin", "*"],
      ]),
    );
    if (hasTag(request.headers["if-none-match"], image.etag)) return void response.writeHead(304).end();
    const bytes = await image.bytes();
    response.writeHead(200, { "content-length": bytes.length });
    response.end(request.method === "HEAD" ? undefined : bytes);
  }

  async function receive(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    // Pages of any site may upload: the secret in the URL is the permission.
    response.setHeader("access-control-allow-origin", "*");
    const [hash = "", secret = "", ...rest] = path.slice(UPLOAD_PATH.length).split("/");
    const accountId = accountOfHash(hash);
    if (accountId === null || rest.length > 0) throw new PlatformError("image_upload_ended");
    await control.images.assertAwaited(accountId, secret);
    if (!isForm(request.headers)) throw new PlatformError("image_input", { message: "Send a form of the type multipart/form-data." });
    const leave = places.take(accountId);
    try {
      const bytes = await requestBytes(request, request.headers["content-length"], IMAGE_BYTES_MAX + FORM_OVERHEAD_BYTES);
      const file = imageFileOf(formFileOf(readForm(bytes, request.headers, IMAGE_BYTES_MAX, "file")));
      const body = successEnvelope(await control.images.receive(accountId, secret, file), [], null);
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(body);
    } finally {
      leave();
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    // The client left: nobody's mistake, and nobody to tell.
    if (request.errored !== null) return void response.destroy();
    const failure = toFailure(error);
    if (failure.unexpected) failed(error);
    if (response.headersSent) return void response.destroy();
    // The rest of a body is read and dropped, so that the client can read the reason.
    request.resume();
    for (const name of ["etag", "vary", "cache-control", "cdn-cache-control"]) response.removeHeader(name);
    response
      .writeHead(failure.status, { ...failure.headers, "content-type": "application/json", "cache-control": "no-store" })
      .end(request.method === "HEAD" ? undefined : failureEnvelope(failure.errors));
  }

  return async (request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split(/\?(.*)/s);
    const { method = "" } = request;
    try {
      if (path.startsWith(DELIVERY_PATH) && (method === "GET" || method === "HEAD")) await deliver(request, response, path, query);
      else if (path.startsWith(UPLOAD_PATH) && method === "POST") await receive(request, response, path);
      else if (path.startsWith(UPLOAD_PATH) && method === "OPTIONS") permit(response);
      else throw new PlatformError("no_route");
    } catch (error) {
      refuse(request, response, error);
    }
  };
}

/** Answers a browser that asks whether a page may upload with fields or events of its own (Fetch §3.3.4); it tells nothing about the URL. */
function permit(response: ServerResponse): void {
  const fields = { "access-control-allow-origin": "*", "access-control-allow-methods": "POST", "access-control-allow-headers": "*" };
  response.writeHead(204, { ...fields, "access-control-max-age": "7200" }).end();
}

/** RFC 9110 §13.1.2: weak comparison. */
const hasTag = (field: string | undefined, etag: string): boolean =>
  field !== undefined && (field.trim() === "*" || field.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag));
