import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { EventSink, GatewayLogRow } from "#events/rows.ts";
import type { ReadyBody } from "./plan.ts";
import type { Usage } from "./usage-shapes.ts";

/** What is known when a request is accepted. */
export type RequestFacts = Pick<GatewayLogRow, "id" | "account_id" | "gateway_id" | "method" | "request_content_type"> & {
  /** As the client sent it: fields of its own for the row are read from here. */
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadyBody;
  /** Off: the gateway keeps no rows (`collect_logs`). */
  readonly collect: boolean;
};

/** What is known when it is over: the step that answered or failed last, and how. */
export type RequestOutcome = Usage &
  Pick<
    GatewayLogRow,
    | "provider"
    | "model"
    | "path"
    | "step"
    | "cached"
    | "cost"
    | "status_code"
    | "success"
    | "response_content_type"
    | "request_bytes"
    | "response_bytes"
  > & {
    /** The request said itself what it costs. */
    readonly isCustomCost: boolean;
  };

export interface LogRecord {
  readonly id: string;
  /** Whether there will be a row. */
  readonly isLogged: boolean;
  /** The answer begins with this head, before fields of one connection are taken out of it. */
  answered(status: number, headers: IncomingHttpHeaders): void;
  /** Bytes of the answer as the client gets them. */
  sent(bytes: Buffer): void;
  /** Writes the row; only the first call counts, so that every way to an end may call it. */
  finish(outcome: RequestOutcome): void;
}

export interface GatewayLog {
  /** Begins the one row of an accepted request. Refused requests must not come here (SPEC 1.1). */
  begin(facts: RequestFacts): LogRecord;
}

const ignore = (): void => undefined;

export function createGatewayLog(deps: {
  readonly events: EventSink;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}): GatewayLog {
  const { events, clock, metrics } = deps;
  const requests = {
    ok: metrics.counter("selvedge_gateway_requests_total", "Accepted gateway requests by outcome", { outcome: "ok" }),
    failed: metrics.counter("selvedge_gateway_requests_total", "Accepted gateway requests by outcome", { outcome: "failed" }),
  };
  const tokens = {
    in: metrics.counter("selvedge_gateway_tokens_total", "Tokens that providers counted", { direction: "in" }),
    out: metrics.counter("selvedge_gateway_tokens_total", "Tokens that providers counted", { direction: "out" }),
  };
  return {
    begin: ({ collect, headers: _headers, body: _body, ...facts }) => {
      const atMs = clock.nowMs();
      const startedMs = clock.monotonicMs();
      let isOpen = true;
      return {
        id: facts.id,
        isLogged: collect,
        answered: ignore,
        sent: ignore,
        finish: ({ tokensIn, tokensOut, tokensCacheRead: _read, tokensCacheWrite: _write, isCustomCost, ...outcome }) => {
          if (!isOpen) return;
          isOpen = false;
          requests[outcome.success ? "ok" : "failed"].value++;
          tokens.in.value += tokensIn ?? 0;
          tokens.out.value += tokensOut ?? 0;
          if (!collect) return;
          const duration_ms = Math.round(clock.monotonicMs() - startedMs);
          events.push("gateway_logs", {
            ...facts,
            ...outcome,
            at_ms: atMs,
            duration_ms,
            tokens_in: tokensIn,
            tokens_out: tokensOut,
            custom_cost: isCustomCost,
          });
        },
      };
    },
  };
}
