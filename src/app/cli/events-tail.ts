import { systemClock } from "#kernel/clock.ts";
import type { LoggedRequest } from "#model/events/request-log.ts";
import type { SecurityEvent } from "#model/events/security-event.ts";
import { EventStreamReader } from "#wire/http/event-stream.ts";
import { loadConfig } from "#app/config/config.ts";
import { forSeconds } from "./command-parts.ts";
import { configInput } from "./config-input.ts";
import { CliError, complain, EXIT, type ExitCode } from "./outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "./zone/zone-api.ts";

export interface EventsTailOptions extends ApiOptions {
  readonly zone?: string;
  readonly account?: string;
  /** Show requests instead of security events. */
  readonly requests?: boolean;
  /** `name=value`, like the API's own parameters. */
  readonly filter?: readonly string[];
  /** Seconds until it ends. */
  readonly for?: string;
}

const EVENT_BYTES_MAX = 1_048_576;
/** Limit of one stream. */
const STREAM_SECONDS_MAX = 86_400;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 30_000;

/**
 * Prints security events or requests as they occur, until it is interrupted. A lost connection is reopened after the last
 * event that was printed.
 */
export async function eventsTail(options: EventsTailOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const query = queryOf(options);
  if ((options.zone === undefined) === (options.account === undefined)) throw new CliError("set either --zone or --account", EXIT.usage);
  const seconds = forSeconds("--for", options.for);
  const api = openZoneApi(options, data);
  const scope =
    options.zone === undefined
      ? `/accounts/${encodeURIComponent(options.account ?? "")}`
      : `/zones/${encodeURIComponent(await requireZone(api, plainZoneName(options.zone)))}`;
  const path = `${scope}/${options.requests === true ? "logs/requests/tail" : "security/events/tail"}`;
  const endMs = systemClock.monotonicMs() + seconds * 1000;
  endWithReader();
  const seen: Seen = { hasBegun: false, lastId: undefined };

  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
    const leftSeconds = Math.ceil((endMs - systemClock.monotonicMs()) / 1000);
    if (leftSeconds <= 0) return EXIT.ok;
    if (Number.isFinite(seconds)) query.set("for_seconds", String(Math.min(leftSeconds, STREAM_SECONDS_MAX)));
    const stream = printed(seen, json);
    try {
      await explained("events", () =>
        api.follow(`${path}?${query.toString()}`, seen.lastId, (bytes) => {
          waitMs = RETRY_FIRST_MS;
          stream.push(bytes);
        }),
      );
      if (systemClock.monotonicMs() >= endMs) return EXIT.ok;
    } catch (error) {
      // A server that never answered is more likely a wrong address than a temporary failure, and refusals of the API do
      // not change by repetition.
      if (!seen.hasBegun || !(error instanceof CliError && error.mayPass)) throw error;
      complain([`${error.message}; trying again in ${waitMs / 1000} s`]);
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, Math.max(0, endMs - systemClock.monotonicMs()))));
  }
}

interface Seen {
  /** Whether a stream has been opened. */
  hasBegun: boolean;
  /** The next stream continues after this event. */
  lastId: string | undefined;
}

/** Parses a stream and prints its events. */
function printed(seen: Seen, json: boolean): EventStreamReader {
  return new EventStreamReader(
    ({ event, data: text }) => {
      if (event === "missed") return complain([missedLine(JSON.parse(text) as Missed)]);
      const row = JSON.parse(text) as SecurityEvent | LoggedRequest;
      process.stdout.write(`${plain(json ? text : "id" in row ? lineOf(row) : requestLineOf(row))}\n`);
    },
    {
      eventBytesMax: EVENT_BYTES_MAX,
      onId: (id) => {
        seen.lastId = id;
        seen.hasBegun = true;
      },
    },
  );
}

/** As in the API: null if the number is unknown. */
interface Missed {
  readonly events: number | null;
  readonly at_least?: boolean;
}

const missedLine = ({ events, at_least: isAtLeast = false }: Missed): string =>
  events === null
    ? "missed the events that occurred while the connection was down: the server no longer knows the last event received"
    : `missed ${isAtLeast ? "at least " : ""}${events} events that arrived too fast`;

/** The reader of the output may end early, such as `head`. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed));
}

function queryOf({ filter = [] }: EventsTailOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const given of filter) {
    const equals = given.indexOf("=");
    if (equals < 1) throw new CliError(`--filter ${given}: must be name=value, such as action=block`, EXIT.usage);
    query.append(given.slice(0, equals), given.slice(equals + 1));
  }
  return query;
}

/** Characters that a terminal would interpret, or print in reverse: user agents and descriptions may contain them. */
const COMMANDS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const escaped = (one: string): string => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
/** In JSON, the escapes have the same meaning. */
const plain = (text: string): string => text.replaceAll(COMMANDS, escaped);

// Columns of fixed width where possible. A path may have any length, and hides no other field at the end.
function lineOf(event: SecurityEvent): string {
  const { occurred_at, action, status, client_ip, service, rule_description, rule_id, method, host, path } = event;
  const first = `${occurred_at} ${action.padEnd(ACTION_WIDTH)} ${statusOf(status)} ${client_ip.padEnd(ADDRESS_WIDTH)}`;
  return `${first} ${service}: ${rule_description || rule_id}  ${method} ${host}${path}`;
}

function requestLineOf({ occurred_at, status, client_ip, duration_ms, bytes_out, method, host, path }: LoggedRequest): string {
  const numbers = `${duration_ms.toFixed(1).padStart(8)} ms ${String(bytes_out).padStart(9)} bytes`;
  return `${occurred_at} ${statusOf(status)} ${client_ip.padEnd(ADDRESS_WIDTH)} ${numbers}  ${method} ${host}${path}`;
}

const statusOf = (status: number): string => String(status).padStart(3);
/** Width of `managed_challenge`, and of an IPv4 address. */
const ACTION_WIDTH = 17;
const ADDRESS_WIDTH = 15;
