import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/ids.ts";
import type { FlatHeaders } from "./headers.ts";
import type { Step } from "./plan.ts";

/** What an answer's fields tell. */
export interface AnswerFacts {
  /** Of the row. */
  readonly id: string;
  /** Whether the row is kept: only then it is named. */
  readonly isLogged: boolean;
  readonly eventId: string;
  readonly isCached: boolean;
}

export interface ResponseFields {
  /** Fields of an accepted request's answer. */
  forAnswer(facts: AnswerFacts, step: Pick<Step, "index" | "provider" | "model">): FlatHeaders;
  /** Fields of a refusal; it has no row, hence no log id. */
  forRefusal(request: IncomingHttpHeaders): FlatHeaders;
  /** A client may name the event itself, to join several requests to one. */
  eventId(request: IncomingHttpHeaders): string;
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
  const eventId = (request: IncomingHttpHeaders): string => {
    const given = request[names.eventId] ?? request["cf-aig-event-id"];
    return typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given) ? given : newUlid(clock.nowMs());
  };
  return {
    eventId,
    forAnswer: ({ id, isLogged, eventId: event, isCached }, { index, provider, model }) => {
      const cacheStatus = isCached ? "HIT" : "MISS";
      const fields = [names.requestId, id, names.eventId, event, names.step, String(index)];
      fields.push(names.cacheStatus, cacheStatus, names.provider, provider);
      if (isLogged) fields.push(names.logId, id);
      // Models are named by clients: what a field value cannot carry stays out (RFC 9110 §5.5).
      if (/^[\x21-\x7e]+$/.test(model)) fields.push(names.model, model);
      return fields;
    },
    forRefusal: (request) => [names.requestId, newUlid(clock.nowMs()), names.eventId, eventId(request), names.step, "0"],
  };
}
