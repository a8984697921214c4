import type { Page } from "#control/call.ts";
import { ulidTimeMs } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type {
  SecurityEvent,
  SecurityEventExport,
  SecurityEventQuery,
  SecurityEventTail,
  SensitiveDataValues,
  SensitiveDataValuesQuery,
} from "#model/events/security-event.ts";
import { type EventScope, eventsOf } from "./event-filter.ts";
import { askedValues, valuesOfEvents } from "./event-values.ts";
import { eventView } from "./event-view.ts";
import { createRowLog, type LogSource } from "./row-log.ts";
import { createRowMarks } from "./row-marks.ts";
import { createTails, type TailDeps } from "./tail.ts";

export interface SecurityEvents {
  /** Newest first. Throws `invalid_input` for an invalid time, address or cursor, or a cursor of other filters. */
  list(scope: EventScope, query: SecurityEventQuery & { readonly page: number; readonly per_page: number }): Promise<Page<SecurityEvent>>;
  /**
   * All matching events, newest first, as text of the format; the consumer sets the pace. Throws as `list` does, and
   * `rate_limited` if too many exports run.
   */
  export(scope: EventScope, query: SecurityEventExport, accountId: string): AsyncIterableIterator<string>;
  /**
   * Future events as an event stream (WHATWG HTML, "Server-sent events"), until the client disconnects. A client that
   * falls too far behind gets the number of events that it missed. Throws as `list` does, and `rate_limited` if too
   * many clients follow.
   */
  tail(scope: EventScope, query: SecurityEventTail, accountId: string): AsyncIterableIterator<string>;
  /** The values that events of sensitive data tell of: when first and last, and how often. Throws as `list` does. */
  values(scope: EventScope, query: SensitiveDataValuesQuery): Promise<SensitiveDataValues>;
  /** Ends every tail. */
  close(): void;
}

export function createSecurityEvents({ reads, clock, sealer }: TailDeps & { readonly sealer: Sealer }): SecurityEvents {
  const marks = createRowMarks(sealer, "security_events");
  const tails = createTails({ reads, clock }, SECURITY_EVENTS, marks);
  const log = createRowLog(reads, SECURITY_EVENTS, marks);
  return {
    close: tails.close,
    values: async (scope, filter) => valuesOfEvents(reads, eventsOf(scope, filter), askedValues(filter)),
    list: async (scope, { page, per_page, cursor, ...filter }) => log.list(scope, eventsOf(scope, filter), { page, per_page, cursor }),
    export: (scope, { format, limit, ...filter }, accountId) => log.export(eventsOf(scope, filter), { accountId, format, limit }),
    tail: (scope, { last_event_id: lastEventId, for_seconds: forSeconds, ...filter }, accountId) =>
      tails.open(eventsOf(scope, filter), { scope, accountId, lastEventId, forSeconds }),
  };
}

/** Maximum delay between the time in an event's identifier and its writing. */
const WRITTEN_WITHIN_MS = 3_600_000;

const SECURITY_EVENTS: LogSource<"security_events", SecurityEvent> = {
  table: "security_events",
  event: "security_event",
  idOf: ({ id }) => id,
  view: eventView,
  whereIs: (id) => {
    const ms = ulidTimeMs(id);
    if (ms === undefined) return null;
    return [
      { column: "at_ms", operator: "ge", value: ms - WRITTEN_WITHIN_MS },
      { column: "at_ms", operator: "le", value: ms },
      { column: "id", operator: "eq", value: id },
    ];
  },
  columns: [
    "occurred_at",
    "id",
    "ray_id",
    "zone_id",
    "action",
    "service",
    "rule_id",
    "rule_description",
    "ruleset_id",
    "deployed_by",
    "phase",
    "client_ip",
    "country",
    "method",
    "scheme",
    "host",
    "path",
    "query",
    "user_agent",
    "status",
    "matches",
    "scan_limited",
  ],
};
