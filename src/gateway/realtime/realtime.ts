import type { Duplex } from "node:stream";
import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { Admitted } from "#gateway/auth/admission.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import { isInspected } from "../guard/guards.ts";
import { type Refusal, RefusalError, renderError } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { LogRecord } from "#gateway/logs/log.ts";
import type { ReadyBody, Step } from "#gateway/request/plan.ts";
import { checkAddress } from "#gateway/providers/pools.ts";
import { stepOf } from "#gateway/plans/steps.ts";
import { NO_USAGE } from "#gateway/usage/usage-formats.ts";
import { createSessionMeter } from "./session-meter.ts";
import type { Subprotocols } from "./subprotocols.ts";
import { createSession, type RealtimeDeps } from "./session.ts";

export interface Realtime {
  /**
   * Connects a WebSocket client with its provider: after the handshake, bytes pass both ways unchanged, and a slow side
   * makes the other one wait. Resolves when both are closed and the row is written. If it resolves with a refusal,
   * nothing was sent to either side.
   */
  connect(req: ClientRequest, socket: Duplex, head: Buffer, admitted: Admitted, protocols: Subprotocols): Promise<Refusal | undefined>;
  /** Cuts every session. */
  close(): void;
}

const NO_BODY: ReadyBody = { kind: "whole", bytes: Buffer.alloc(0) };
/**
 * The work of all sessions in a tick, in units of a byte that only passes: one or two milliseconds. A session that sends at full speed
 * delays other requests by a few of these.
 */
export const SESSION_UNITS_PER_TICK = 512 * 1024;

export function createRealtime(deps: RealtimeDeps): Realtime {
  const sessions = new Set<() => void>();
  const turns = createMessageTurns(SESSION_UNITS_PER_TICK);
  return {
    connect: async (req, socket, head, admitted, protocols) => {
      const step = await stepFor(deps, req, admitted, protocols);
      if ("name" in step) return step;
      const loading = deps.prices.load();
      if (loading !== undefined) await loading;
      const record = recordOf(deps, req, admitted);
      const meter = createSessionMeter(deps, { gateway: admitted.gateway, step, metadata: record.metadata });
      const refusal = meter.begin();
      if (refusal !== undefined) {
        const nothing = {
          usage: NO_USAGE,
          cost: null,
          isCustomCost: false,
          cached: false,
          contentType: "",
          requestBytes: 0,
          responseBytes: 0,
        };
        record.finish({ step, status: renderError(refusal).status, success: false, ...nothing });
        return refusal;
      }
      const session = opened(() => createSession(deps, { req, socket, head, admitted, protocols, step, record, meter, turns }));
      if (session === undefined) {
        meter.end();
        return { name: "aig_internal" };
      }
      sessions.add(session.cut);
      await session.done;
      meter.end();
      sessions.delete(session.cut);
      return undefined;
    },
    close: () => {
      for (const cut of sessions) cut();
    },
  };
}

/** The step with its key, at a permitted address; or the refusal. */
async function stepFor(deps: RealtimeDeps, req: ClientRequest, admitted: Admitted, protocols: Subprotocols): Promise<Step | Refusal> {
  try {
    const planned = plannedStep(deps, req, admitted, protocols);
    if ("name" in planned) return planned;
    if (planned.isGuarded) checkAddress(planned.origin, deps.allows);
    // Browsers cannot set fields, so they send their own key as a subprotocol.
    const isOwn = planned.options.keyAlias === undefined && protocols.others.some((name) => name.startsWith("openai-insecure-api-key."));
    if (isOwn) return planned;
    const { step, take } = await deps.keys.apply(planned, admitted);
    return (take?.() ?? 0) > 0 ? { name: "aig_rate_limited" } : step;
  } catch (error) {
    return error instanceof RefusalError ? error.refusal : { name: "aig_internal" };
  }
}

/** The step for the provider; the default is OpenAI's path if the client names none. */
function plannedStep(deps: RealtimeDeps, req: ClientRequest, admitted: Admitted, { others }: Subprotocols): Step | Refusal {
  const { route, path, gateway } = admitted;
  if (route.kind !== "direct") return { name: "aig_bad_request", message: "A WebSocket URL must name one provider: …/openai?model=…" };
  if (isInspected(gateway))
    return { name: "aig_bad_request", message: "Data loss prevention or guardrails are on, and they cannot inspect realtime sessions." };
  const rest = path.rest === "" ? "/realtime" : path.rest;
  const place = path.rest === "" ? { ...route.place, path: `${route.place.path.replace(/\/$/, "")}${rest}` } : route.place;
  const passed = deps.rules.toProvider(req.headers);
  const headers: FlatHeaders = ["connection", "Upgrade", "upgrade", "websocket"];
  for (let i = 0; i < passed.length; i += 2) {
    const name = passed[i] ?? "";
    // Compressed messages could not be counted.
    if (name !== "sec-websocket-extensions" && name !== "sec-websocket-protocol") headers.push(name, passed[i + 1] ?? "");
  }
  if (others.length > 0) headers.push("sec-websocket-protocol", others.join(", "));
  return stepOf({
    index: 0,
    upstream: route.upstream,
    place,
    rest,
    query: path.query,
    method: "GET",
    model: new URLSearchParams(path.query).get("model")?.slice(0, 256) ?? "",
    headers,
    body: NO_BODY,
    options: deps.options.read(req.headers, deps.options.ofGateway(gateway)),
    transforms: [],
  });
}

const recordOf = ({ clock, fields, log }: RealtimeDeps, req: ClientRequest, { gateway }: Admitted): LogRecord =>
  log.begin({
    id: newUlid(clock.nowMs()),
    eventId: fields.eventId(req.headers),
    gateway,
    method: "GET",
    headers: req.headers,
    body: NO_BODY,
    isCompatible: false,
  });

/** Undefined if the client library refuses the request. */
function opened<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
