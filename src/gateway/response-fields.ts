import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/ids.ts";
import type { Admitted } from "./admission.ts";
import type { FlatHeaders } from "./headers.ts";

export interface ResponseFields {
  /** Fields of an accepted request's answer. `id` is the id of its row, which is named only where one is kept. */
  forAnswer(request: IncomingHttpHeaders, id: string, admitted: Pick<Admitted, "path" | "gateway">, model: string): FlatHeaders;
  /** Fields of a refusal; it has no row, hence no log id. */
  forRefusal(request: IncomingHttpHeaders): FlatHeaders;
}

/** The fields `{prefix}-aig-…` by which a client finds its request again. */
export function createResponseFields(vendorPrefix: string, clock: Clock): ResponseFields {
  const name = (field: string): string => `${vendorPrefix}-aig-${field}`;
  const names = {
    logId: name("log-id"),
    requestId: name("request-id"),
    eventId: name("event-id"),
    step: name("step"),
    cacheStatus: name("cache-status"),
    provider: name("provider"),
    model: name("model"),
  };
  // A client may name the event itself, to join several requests to one.
  const eventId = (request: IncomingHttpHeaders): string => {
    const given = request[names.eventId] ?? request["cf-aig-event-id"];
    return typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newUlid(clock.nowMs());
  };
  return {
    forAnswer: (request, id, { path, gateway }, model) => {
      const fields = [
        names.requestId,
        id,
        names.eventId,
        eventId(request),
        names.step,
        "0",
        names.cacheStatus,
        "MISS",
        names.provider,
        path.provider,
      ];
      if (gateway.collect_logs) fields.push(names.logId, id);
      // Models are named by clients: what a field value cannot carry stays out (RFC 9110 §5.5).
      if (/^[\x21-\x7e]+$/.test(model)) fields.push(names.model, model);
      return fields;
    },
    forRefusal: (request) => [names.requestId, newUlid(clock.nowMs()), names.eventId, eventId(request), names.step, "0"],
  };
}
