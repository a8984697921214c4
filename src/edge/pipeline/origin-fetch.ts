import type { EdgeErrorName } from "#edge/pages/edge-errors.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { Forward, type ForwardDeps } from "./forward.ts";
import type { ResponseSink } from "#edge/exchange/response-sink.ts";
import type { OriginSelector } from "#edge/origin/origin.ts";
import type { OriginPlan } from "#edge/exchange/decisions.ts";
import { edgePage } from "./pipeline.ts";
import type { Source } from "#edge/cache/fill/fill-context.ts";

export interface LaunchDeps {
  readonly pools: ForwardDeps["pools"];
  readonly origins: OriginSelector;
  report(error: unknown): void;
}

/** The response stages run for each visitor that receives the response, not for the fill. */
const NO_STAGES: ForwardDeps["pipeline"] = {
  response: () => null,
  substitute: () => null,
  substituteHeld: () => null,
  readsBodyLater: () => false,
};
/** Requests without a body have no trailers. */
const NO_TRAILERS: ForwardDeps["originHeads"] = { trailers: () => [] };

/** Sends requests without a body to origins, for one visitor or several. */
export function createLaunch({ pools, origins, report }: LaunchDeps) {
  return (exchange: Exchange, head: string, visitor: ResponseSink): Source => {
    let forward: Forward | null = null;
    let isAborted = false;
    const send = (plan: OriginPlan | EdgeErrorName): void => {
      if (isAborted) return;
      if (typeof plan === "string") return visitor.sendPage(edgePage(exchange, plan));
      const request = { exchange, plan, head, hasBody: false, chunked: false, held: null };
      forward = new Forward({ pools, originHeads: NO_TRAILERS, pipeline: NO_STAGES }, request, visitor);
      forward.start(false);
    };
    const plan = origins.select(exchange);
    if (plan instanceof Promise)
      void plan.then(send).catch((error: unknown) => {
        report(error);
        visitor.cut();
      });
    else send(plan);
    return {
      abort: () => {
        isAborted = true;
        forward?.abort();
      },
      onVisitorDrain: () => forward?.onVisitorDrain(),
    };
  };
}
