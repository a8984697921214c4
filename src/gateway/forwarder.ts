import type { IncomingMessage, ServerResponse } from "node:http";
import { newUlid } from "#kernel/ids.ts";
import type { Admitted } from "./admission.ts";
import type { GatewayErrorName } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import type { GatewayDeps } from "./gateway.ts";
import { createHeaderRules } from "./headers.ts";
import { createGatewayLog } from "./log.ts";
import type { ReadyBody } from "./plan.ts";
import { createRequestPlanner } from "./planner.ts";
import { createPools } from "./pools.ts";
import { createPrices } from "./prices.ts";
import type { Upstreams } from "./providers.ts";
import { createBodyReader } from "./request-body.ts";
import { createRequestOptions } from "./request-options.ts";
import { createResponseFields } from "./response-fields.ts";
import { createRunner } from "./runner.ts";
import { mediaType } from "./usage.ts";

export interface Forwarder {
  /**
   * Reads the body, asks the provider and answers. Resolves with a reason when the request must be refused after
   * all; then nothing was sent to the provider and no row begun. Never rejects.
   */
  forward(req: IncomingMessage, res: ServerResponse, admitted: Admitted): Promise<GatewayErrorName | undefined>;
  close(): Promise<void>;
}

const PRICES_WARM_UP_MS = 2_000;

export function createForwarder(deps: GatewayDeps & { readonly upstreams: Upstreams }): Forwarder {
  const { config, clock, metrics, upstreams } = deps;
  const { limits } = config;
  const rules = createHeaderRules(config.vendorPrefix);
  const fields = createResponseFields(config.vendorPrefix, clock);
  const requestOptions = createRequestOptions(config.vendorPrefix);
  const prices = createPrices(deps);
  // Once the whole server is ready: the table takes a moment to load.
  const warmUp = setTimeout(() => void prices.load(), PRICES_WARM_UP_MS).unref();
  const log = createGatewayLog({ ...deps, prices });
  const pools = createPools(limits);
  const runner = createRunner({ pools, guards: [] });
  const planner = createRequestPlanner({ rules, upstreams });
  const bodies = createBodyReader(limits, metrics.gauge("selvedge_gateway_held_request_bytes", "Request bodies in memory"));

  const begin = (req: IncomingMessage, { gateway }: Admitted, body: ReadyBody) =>
    log.begin({
      id: newUlid(clock.nowMs()),
      account_id: gateway.account_id,
      gateway_id: gateway.gateway_id,
      method: req.method ?? "",
      request_content_type: mediaType(req.headers["content-type"] ?? ""),
      collect: gateway.collect_logs,
      headers: req.headers,
      body,
    });

  return {
    forward: async (req, res, admitted) => {
      const body = await bodies.read(req);
      if (body.kind === "gone") return undefined;
      if (body.kind === "refused") return body.reason;
      const { path, gateway } = admitted;
      const options = requestOptions.read(req.headers, gateway);
      const plan = planner.plan({ method: req.method ?? "GET", headers: req.headers, path, gateway, body, options }, admitted);
      const first = typeof plan === "string" ? undefined : plan.next();
      if (typeof plan === "string" || first === undefined) {
        bodies.release(body);
        return typeof plan === "string" ? plan : "aig_bad_request";
      }
      const record = begin(req, admitted, body);
      const eventId = fields.eventId(req.headers);
      const exchange = new Exchange(
        {
          res,
          rules,
          fields: (step, isCached) => fields.forAnswer({ id: record.id, isLogged: record.isLogged, eventId, isCached }, step),
          limits,
          record,
          requestBytes: () => (body.kind === "whole" ? body.bytes.length : body.stream.bytes),
          isHead: req.method === "HEAD",
          onSettled: () => bodies.release(body),
        },
        first,
      );
      // The first requests load it; a row without its cost could not be told from one without a price.
      const loading = prices.load();
      if (loading !== undefined) await loading;
      await runner.run(plan, first, exchange);
      return undefined;
    },
    close: () => {
      clearTimeout(warmUp);
      return pools.destroy();
    },
  };
}
