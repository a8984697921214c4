import type { IncomingHttpHeaders } from "node:http";
import { isEventId } from "#gateway/http/identifiers.ts";
import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { Step } from "./plan.ts";

/** Facts for the fields of an answer. */
interface AnswerFacts {
  /** Identifier of the row. */
  readonly id: string;
  /** Whether the row is kept; the answer names it only then. */
  readonly isLogged: boolean;
  readonly eventId: string;
}

type AnswerStep = Pick<Step, "index" | "provider" | "model">;

export interface ResponseFields {
  /** Fields of an accepted request's answer, for the step that answers it. */
  forAnswer(request: IncomingHttpHeaders, facts: AnswerFacts): (step: AnswerStep, isCached: boolean) => FlatHeaders;
  /** Fields of a refusal, which has no row and so no log id. */
  forRefusal(request: IncomingHttpHeaders): FlatHeaders;
  /** The event's identifier; a client may choose it, to join several requests to one event. */
  eventId(request: IncomingHttpHeaders): string;
}

/** Names of the fields without the prefix. */
const FIELDS = ["log-id", "request-id", "event-id", "step", "cache-status", "provider", "model"] as const;
type Names = Readonly<Record<(typeof FIELDS)[number], string>>;

const namesOf = (prefix: string): Names => Object.fromEntries(FIELDS.map((field) => [field, `${prefix}-aig-${field}`])) as Names;

/** The prefix that published clients for this kind of gateway use. */
const PUBLISHED = namesOf("cf");

/**
 * The fields `{prefix}-aig-…` by which a client finds its request again. A client that sent fields under the published
 * prefix reads the answer's there too, so it gets both.
 */
export function createResponseFields(vendorPrefix: string, clock: Clock): ResponseFields {
  const own = namesOf(vendorPrefix);
  const isOwnPublished = vendorPrefix === "cf";
  const eventId = (request: IncomingHttpHeaders): string => {
    const given = request[own["event-id"]] ?? request[PUBLISHED["event-id"]];
    // An invalid identifier is possible only in a refused request; accepted ones were checked before
    // (request-options.ts).
    return typeof given === "string" && isEventId(given) ? given : newUlid(clock.nowMs());
  };
  const add = (
    names: Names,
    { id, isLogged, eventId: event }: AnswerFacts,
    step: AnswerStep,
    isCached: boolean,
    into: FlatHeaders,
  ): void => {
    into.push(names["request-id"], id, names["event-id"], event, names.step, String(step.index));
    into.push(names["cache-status"], isCached ? "HIT" : "MISS", names.provider, step.provider);
    if (isLogged) into.push(names["log-id"], id);
    // Clients name models, and a field cannot carry every value (RFC 9110 §5.5).
    if (/^[\x21-\x7e]+$/.test(step.model)) into.push(names.model, step.model);
  };
  return {
    eventId,
    forAnswer: (request, facts) => {
      const isPublished = !isOwnPublished && sentPublished(request);
      return (step, isCached) => {
        const fields: FlatHeaders = [];
        add(own, facts, step, isCached, fields);
        if (isPublished) add(PUBLISHED, facts, step, isCached, fields);
        return fields;
      };
    },
    forRefusal: (request) => {
      const [id, event] = [newUlid(clock.nowMs()), eventId(request)];
      const fields = [own["request-id"], id, own["event-id"], event, own.step, "0"];
      if (!isOwnPublished && sentPublished(request))
        fields.push(PUBLISHED["request-id"], id, PUBLISHED["event-id"], event, PUBLISHED.step, "0");
      return fields;
    },
  };
}

function sentPublished(request: IncomingHttpHeaders): boolean {
  for (const name in request) if (name.startsWith("cf-aig-")) return true;
  return false;
}
