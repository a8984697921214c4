import type { LoggedRequest } from "#model/request-log.ts";
import type { SecurityEvent } from "#model/security-event.ts";
import { EventStreamReader } from "#wire/http/event-stream.ts";
import { loadConfig } from "../config.ts";
import { ApiFailure } from "./api-client.ts";
import { configInput } from "./config-input.ts";
import { CliError, complain, EXIT, type ExitCode } from "./outcome.ts";
import { type ApiOptions, explained, openApi, plainZoneName, requireZone } from "./zone-api.ts";

export interface EventsTailOptions extends ApiOptions {
  readonly zone?: string;
  readonly account?: string;
  /** Requests instead of security events; of a zone alone. */
  readonly requests?: boolean;
  /** `name=value`, as the API's own parameters. */
  readonly filter?: readonly string[];
  /** Seconds after which it ends. */
  readonly for?: string;
}

const EVENT_BYTES_MAX = 1_048_576;
const RETRY_FIRST_MS = 500;
const RETRY_LAST_MS = 30_000;

/** Prints security events or requests as they come, until it is interrupted. A connection that ends is made again, behind the event seen last. */
export async function eventsTail(options: EventsTailOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const query = queryOf(options);
  if ((options.zone === undefined) === (options.account === undefined)) throw new CliError("name either --zone or --account", EXIT.usage);
  if (options.requests === true && options.zone === undefined) throw new CliError("--requests needs --zone", EXIT.usage);
  const api = openApi(options, data);
  const scope =
    options.zone === undefined ? `/accounts/${options.account}` : `/zones/${await requireZone(api, plainZoneName(options.zone))}`;
  const path = options.requests === true ? "logs/requests/tail" : "security/events/tail";
  let lastEventId: string | undefined;
  const reader = (): EventStreamReader =>
    new EventStreamReader(
      ({ event, data: text }) => {
        if (event === "missed") return complain([`missed ${(JSON.parse(text) as { events: number }).events} events that came too fast`]);
        const row = JSON.parse(text) as SecurityEvent | LoggedRequest;
        lastEventId = "id" in row ? row.id : row.ray_id;
        process.stdout.write(`${json ? text : "id" in row ? lineOf(row) : requestLineOf(row)}\n`);
      },
      { eventBytesMax: EVENT_BYTES_MAX },
    );

  for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
    const stream = reader();
    try {
      await explained("events", () =>
        api.follow(`${scope}/${path}?${query.toString()}`, lastEventId, (bytes) => {
          waitMs = RETRY_FIRST_MS;
          stream.push(bytes);
        }),
      );
      if (options.for !== undefined) return EXIT.ok;
    } catch (error) {
      // What the API refuses does not get better by asking again.
      if (error instanceof ApiFailure || (error instanceof CliError && !error.isConnection)) throw error;
      complain([`${(error as Error).message}; trying again in ${waitMs / 1000} s`]);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function queryOf({ filter = [], for: seconds }: EventsTailOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const given of filter) {
    const equals = given.indexOf("=");
    if (equals < 1) throw new CliError(`--filter ${given}: must be name=value, such as action=block`, EXIT.usage);
    query.append(given.slice(0, equals), given.slice(equals + 1));
  }
  if (seconds !== undefined) query.set("for_seconds", seconds);
  return query;
}

/** What a terminal would take for its own is shown as an escape. */
const plain = (text: string): string =>
  text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);

function lineOf(event: SecurityEvent): string {
  const { occurred_at, action, service, client_ip, method, host, path, status, rule_description, rule_id } = event;
  return plain(`${occurred_at} ${action} ${service} ${client_ip} ${method} ${host}${path} ${status} ${rule_description || rule_id}`);
}

function requestLineOf({ occurred_at, client_ip, method, host, path, status, bytes_out, duration_ms }: LoggedRequest): string {
  return plain(`${occurred_at} ${client_ip} ${method} ${host}${path} ${status} ${bytes_out} bytes ${duration_ms} ms`);
}
