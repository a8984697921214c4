import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import type { GatewayLimits } from "./config.ts";
import type { GatewayErrorName } from "./errors.ts";
import { sendError } from "./errors.ts";
import type { FlatHeaders, HeaderRules } from "./headers.ts";
import type { LogRecord } from "./log.ts";
import type { Provider } from "./providers.ts";
import { BodyTooLargeError } from "./request-body.ts";
import { UsageReader } from "./usage.ts";

/** Status of the row when the client left before the answer began; no client ever sees it. */
const CLIENT_GONE_STATUS = 499;

export interface ExchangeOptions {
  readonly res: ServerResponse;
  readonly provider: Provider;
  readonly rules: HeaderRules;
  /** Fields that the gateway adds to the answer. */
  readonly headers: FlatHeaders;
  readonly limits: GatewayLimits;
  readonly record: LogRecord;
  /** Bytes of the request's body so far. */
  readonly requestBytes: () => number;
  /** HEAD answers have a length and no body. */
  readonly isHead: boolean;
  /** Called once, whatever the end. */
  readonly onSettled: () => void;
}

/**
 * One request under way at a provider: carries the answer to the client and settles the log row. A class, since
 * one is made for every request and its shape must stay the same.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #usage: UsageReader | undefined;
  #status = 0;
  #contentType = "";
  #responseBytes = 0;
  /** The head of an answer that is held back to go out in one write. */
  #heldHeaders: FlatHeaders | undefined;
  readonly #heldChunks: Buffer[] = [];
  #isSettled = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    options.res.once("close", () => this.#clientClosed());
    if (options.res.destroyed) this.#clientClosed();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) controller.abort(new Error("the client left"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx are between provider and gateway; the final answer comes after them (RFC 9110 §15.2).
    if (status < 200 || this.#isSettled) return;
    const { provider, rules, limits, res, isHead } = this.#options;
    this.#status = status;
    this.#contentType = String(headers["content-type"] ?? "");
    this.#usage = new UsageReader(provider.usage, this.#contentType, headers["content-encoding"]);
    const forClient = rules.toClient(headers);
    forClient.push(...this.#options.headers);
    const length = Number(headers["content-length"] ?? Number.NaN);
    if (length <= limits.responseBufferBytes || isHead) {
      this.#heldHeaders = forClient;
      return;
    }
    res.writeHead(status, forClient);
    // Usually the first piece follows in the same turn and takes the head along; if not, the head goes alone.
    setImmediate(() => {
      if (this.#responseBytes === 0 && !this.#isSettled) res.flushHeaders();
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    this.#responseBytes += chunk.length;
    this.#usage?.chunk(chunk);
    if (this.#heldHeaders !== undefined) {
      this.#heldChunks.push(chunk);
      return;
    }
    const { res, limits } = this.#options;
    if (res.write(chunk) || res.writableLength < limits.backlogBytesMax) return;
    controller.pause();
    res.once("drain", () => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#isSettled) return;
    const { res } = this.#options;
    if (this.#heldHeaders === undefined) res.end();
    else {
      res.writeHead(this.#status, this.#heldHeaders);
      res.end(this.#heldChunks.length === 1 ? this.#heldChunks[0] : Buffer.concat(this.#heldChunks));
    }
    this.#settle(this.#status, this.#status < 400);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(errorName(error));
  }

  /** Ends the exchange: with an error where nothing went out yet, else by cutting the client off. */
  fail(name: GatewayErrorName): void {
    if (this.#isSettled) return;
    const { res, headers } = this.#options;
    if (res.headersSent) {
      this.#settle(this.#status, false);
      cutOff(res);
      return;
    }
    // The client may still be sending; its connection cannot carry another request.
    const status = sendError(res, name, headers, !res.req.complete);
    this.#settle(status, false);
  }

  #clientClosed(): void {
    if (this.#isSettled) return;
    this.#settle(this.#options.res.headersSent ? this.#status : CLIENT_GONE_STATUS, false);
    this.#controller?.abort(new Error("the client left"));
  }

  #settle(status: number, success: boolean): void {
    this.#isSettled = true;
    const { record, requestBytes, onSettled } = this.#options;
    const usage = this.#usage?.end() ?? { tokensIn: null, tokensOut: null };
    record.finish({
      ...usage,
      status_code: status,
      success,
      response_content_type: this.#contentType,
      request_bytes: requestBytes(),
      response_bytes: this.#responseBytes,
    });
    onSettled();
  }
}

/** An answer without its end must not look finished: chunked framing breaks, and HTTP/1.0 sees a reset. */
function cutOff(res: ServerResponse): void {
  if (res.req.httpVersion === "1.0") res.socket?.resetAndDestroy();
  else res.destroy();
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "ETIMEDOUT",
]);

function errorName(error: Error & { readonly code?: unknown }): GatewayErrorName {
  if (error instanceof BodyTooLargeError) return "aig_body_too_large";
  return TIMEOUT_CODES.has(String(error.code)) ? "aig_upstream_timeout" : "aig_upstream_failed";
}
