import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import { newUlid } from "#kernel/ids.ts";
import type { Admitted } from "./admission.ts";
import type { GatewayErrorName } from "./errors.ts";
import type { GatewayDeps } from "./gateway.ts";
import { createHeaderRules } from "./headers.ts";
import { type LogRecord, createGatewayLog } from "./log.ts";
import { createPools } from "./pools.ts";
import { createPrices } from "./prices.ts";
import { pathBelowVersion } from "./providers.ts";
import { Exchange } from "./proxy.ts";
import { type RequestBody, createBodyReader } from "./request-body.ts";
import { MODEL_CHARACTERS_MAX, readModel, readModelFromHead } from "./request-model.ts";
import { createResponseFields } from "./response-fields.ts";
import { mediaType } from "./usage.ts";

export interface Forwarder {
  /**
   * Reads the body, asks the provider and answers. Resolves with a reason when the request must be refused after
   * all; then nothing was sent to the provider and no row begun. Never rejects.
   */
  forward(req: IncomingMessage, res: ServerResponse, admitted: Admitted): Promise<GatewayErrorName | undefined>;
  close(): Promise<void>;
}

type ReadyBody = Extract<RequestBody, { readonly kind: "whole" | "stream" }>;

const PRICES_WARM_UP_MS = 2_000;
const LOGGED_PATH_CHARACTERS_MAX = 1024;

export function createForwarder(deps: GatewayDeps): Forwarder {
  const { config, clock, metrics } = deps;
  const { limits } = config;
  const rules = createHeaderRules(config.vendorPrefix);
  const fields = createResponseFields(config.vendorPrefix, clock);
  const prices = createPrices(deps);
  // Once the whole server is ready: the table takes a moment to load.
  const warmUp = setTimeout(() => void prices.load(), PRICES_WARM_UP_MS).unref();
  const log = createGatewayLog({ ...deps, prices });
  const pools = createPools(limits);
  const bodies = createBodyReader(limits, metrics.gauge("selvedge_gateway_held_request_bytes", "Request bodies in memory"));

  const beginRecord = (req: IncomingMessage, { path, gateway }: Admitted, model: string): LogRecord =>
    log.begin({
      id: newUlid(clock.nowMs()),
      account_id: gateway.account_id,
      gateway_id: gateway.gateway_id,
      provider: path.provider,
      model,
      // Without the query, since some providers take keys there.
      path: path.rest.slice(0, LOGGED_PATH_CHARACTERS_MAX),
      method: req.method ?? "",
      request_content_type: mediaType(req.headers["content-type"] ?? ""),
      collect: gateway.collect_logs,
    });

  return {
    forward: async (req, res, admitted) => {
      const body = await bodies.read(req);
      if (body.kind === "gone") return undefined;
      if (body.kind === "refused") return body.reason;
      const model = modelOf(req, admitted, body);
      if (model === undefined) {
        bodies.release(body);
        return "aig_bad_request_body";
      }
      const record = beginRecord(req, admitted, model);
      const exchange = new Exchange({
        res,
        provider: admitted.upstream.provider,
        rules,
        headers: fields.forAnswer(req.headers, record.id, admitted, model),
        limits,
        record,
        requestBytes: () => (body.kind === "whole" ? body.bytes.length : body.stream.bytes),
        isHead: req.method === "HEAD",
        onSettled: () => bodies.release(body),
      });
      try {
        // The first requests load it; a row without its cost could not be told from one without a price.
        const loading = prices.load();
        if (loading !== undefined) await loading;
        const opened = pools.get(admitted.place.origin);
        const pool = opened instanceof Promise ? await opened : opened;
        pool.dispatch(toProvider(req, admitted, body, rules.toProvider(req.headers)), exchange);
      } catch {
        // The client library reports failures to the exchange; what is thrown here nobody foresaw.
        exchange.fail("aig_internal");
      }
      return undefined;
    },
    close: () => {
      clearTimeout(warmUp);
      return pools.destroy();
    },
  };
}

/**
 * The request's model, empty where it names none; undefined for a chat completion that no provider could answer:
 * it is refused here, so that it inflates no log (SPEC 1.1).
 */
function modelOf(req: IncomingMessage, { path, upstream }: Admitted, body: ReadyBody): string | undefined {
  const isChat = req.method === "POST" && upstream.provider.chatPaths.has(pathBelowVersion(upstream.provider, path.rest));
  const inPath = upstream.provider.modelInPath?.exec(path.rest)?.[1];
  if (inPath !== undefined) return decoded(inPath).slice(0, MODEL_CHARACTERS_MAX);
  if (!isChat && mediaType(req.headers["content-type"] ?? "") !== "application/json") return "";
  if (body.kind === "stream") return readModelFromHead(body.head);
  const reading = readModel(body.bytes);
  if (isChat && (reading.kind === "malformed" || reading.model === "")) return undefined;
  return reading.kind === "object" ? reading.model : "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toProvider(req: IncomingMessage, { path, place }: Admitted, body: ReadyBody, headers: string[]): Dispatcher.DispatchOptions {
  const isStream = body.kind === "stream";
  if (isStream && body.length !== undefined) headers.push("content-length", body.length);
  const target = { method: req.method ?? "GET", path: place.path + path.query, headers };
  // The types know node's streams only; the client library takes any async iterable.
  const stream = isStream ? (body.stream as unknown as NonNullable<Dispatcher.DispatchOptions["body"]>) : null;
  return { ...target, body: isStream ? stream : body.bytes.length > 0 ? body.bytes : null } as Dispatcher.DispatchOptions;
}
