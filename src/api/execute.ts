import { API_CALL, begins } from "#kernel/process/heartbeat.ts";
import { Readable } from "node:stream";
import { type Call, type CursorPage, type Page, DryRunEnd } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { DatedRequest } from "#deprecations/engine.ts";
import type { Facts, JsonObject, Query } from "#deprecations/effect-handler.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { formFileOf } from "./form-body.ts";
import { cursorInfo, type Message, pagedEnvelope, resultInfo, successEnvelope } from "./envelope.ts";
import { readCursorPage, readPage } from "./paging.ts";
import { compileQuery } from "./query.ts";
import type { Answer, Edition, Paging, RawReply, Resolved, Route } from "./route.ts";
import { compileCheck, droppedNote, knownPart } from "./validation.ts";

/** Resolves once every plane has applied the revision, or names those that have not in time. `waitMs`: as the client wishes. */
export type Settled = (rev: number, waitMs?: number) => Promise<{ readonly behind: readonly string[] }>;

export interface Execution {
  readonly call: Call;
  readonly resolved: Resolved;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: unknown;
  readonly lastEventId?: string | undefined;
  readonly prefersAsync?: boolean;
  readonly waitMs?: number;
  stillAllowed(): Promise<boolean>;
  /** The interface of the request's day; null for the newest. */
  readonly dated: DatedRequest | null;
}

/** Runs one admitted request and returns its answer. Throws the error for the client. */
export type Executor = (execution: Execution) => Promise<Answer>;

/** Replaces the result of a dry run. */
const TRIED = Symbol("tried");

function isTrial(value: Query[string] | undefined): boolean {
  if (value === undefined || value === "false" || value === "0") return false;
  if (value === "true" || value === "1" || value === "") return true;
  throw new PlatformError("invalid_input", { message: `"dry_run" must be true or false.`, source: "/dry_run" });
}

const FIRST_PAGE = { page: 1, per_page: 1 } as const;

/** Query parameters besides the route's own, by `paging`. */
const PAGE_PARAMETERS: Readonly<Record<Paging, readonly string[]>> = {
  page: ["page", "per_page"],
  cursor: ["per_page", "cursor"],
  ...{ one: [], list: [], raw: [] },
};

const PLANES_BEHIND = 10001;
/** Code of a use-case's note beside its result. */
const NOTE = 10002;

/** Compiles a route's schemas once. */
export function createExecutor(route: Route, control: Control, settled: Settled, edition: Edition): Executor {
  const others = route.strict_query ? PAGE_PARAMETERS[route.paging] : null;
  const readQuery = route.query ? compileQuery(route.query, route.invalid_query, others) : () => ({});
  const label = `${route.method} ${route.path}`;
  const checkBody = route.body ? compileCheck(route.body, "body", route.invalid_body) : null;
  return async ({ call, resolved, params, query: given, body: sent, lastEventId, prefersAsync = false, waitMs, dated, stillAllowed }) => {
    begins(API_CALL, label);
    const query = dated ? dated.query(given) : given;
    const whole = checkBody === null ? undefined : dated ? dated.body(sent) : sent;
    const page = route.paging === "page" ? readPage(query, route.per_page, route.invalid_query) : FIRST_PAGE;
    const cursor = route.paging === "cursor" ? readCursorPage(query, route.per_page) : FIRST_PAGE;
    const typedQuery = readQuery(route.fold_query?.(query) ?? query);
    checkBody?.(whole);
    const body = takeKnown(route, whole, call);
    if (dated) call.rules = dated.rules;
    if (route.dry_run) call.dry_run = isTrial(query["dry_run"]);
    const heads = { last_event_id: lastEventId, prefers_async: prefersAsync, file: formFileOf(sent) };
    const asked = { control, edition, call, params, query: typedQuery, body, resolved, page, cursor, ...heads } as Parameters<
      Route["handler"]
    >[0];
    const reply = await route.handler(asked).catch((error: unknown) => {
      if (error instanceof DryRunEnd) return TRIED;
      throw error;
    });
    const notes = (call.notes ?? []).map((message) => ({ code: NOTE, message }));
    if (reply === TRIED) return { type: "application/json", body: successEnvelope(null, notes, null) };
    const messages = [...notes, ...(call.rev === null ? [] : await waitForPlanes(call.rev, settled, waitMs))];
    if (route.paging === "raw") return rawAnswer(reply as RawReply, stillAllowed, route.media_type === "text/event-stream");
    return { type: "application/json", body: render(route, reply, messages, dated, { zone: resolved.zone }) };
  };
}

function takeKnown({ body: schema, drops_unknown: kept }: Route, body: unknown, call: Call): unknown {
  if (schema === undefined || kept === undefined) return body;
  const { value, dropped } = knownPart(schema, body, kept);
  const note = droppedNote(dropped);
  if (note !== null) (call.notes ??= []).push(note);
  return value;
}

const rawAnswer = ({ body, ...reply }: RawReply, stillAllowed: () => Promise<boolean>, isEndless: boolean): Answer => ({
  ...reply,
  body:
    typeof body === "string" || Buffer.isBuffer(body)
      ? body
      : // If the client leaves before the first part, this frees what the body holds.
        Readable.from(whileAllowed(body, stillAllowed, isEndless), { objectMode: false }).once("close", () => void body.return?.()),
});

/**
 * A reader whose token was revoked, has expired or lost its permissions during the read gets no more data. A bounded
 * answer is aborted, so that no client takes its part for the whole (RFC 9112 §8).
 */
async function* whileAllowed(
  parts: AsyncIterable<string>,
  stillAllowed: () => Promise<boolean>,
  isEndless: boolean,
): AsyncGenerator<string> {
  for await (const part of parts) {
    if (part !== "" && !(await stillAllowed())) {
      if (isEndless) return;
      throw new PlatformError("unauthorized_resource", { detail: "the credential was revoked while its response was sent" });
    }
    yield part;
  }
}

/** The change is durable either way; the message says where it is not visible yet. */
async function waitForPlanes(rev: number, settled: Settled, waitMs: number | undefined): Promise<readonly Message[]> {
  const { behind } = await settled(rev, waitMs);
  return behind.length === 0
    ? []
    : [{ code: PLANES_BEHIND, message: `The change is stored but not yet visible in: ${behind.join(", ")}.` }];
}

function render(route: Route, reply: unknown, messages: readonly Message[], dated: DatedRequest | null, facts: Facts): Answer["body"] {
  const shape = (item: unknown): unknown =>
    dated && typeof item === "object" && item !== null ? dated.result(item as JsonObject, facts) : item;
  switch (route.paging) {
    case "one":
      return successEnvelope(shape(reply), messages, null, route.also?.(reply));
    case "list":
      return successEnvelope(dated ? dated.list(reply as readonly JsonObject[]).map(shape) : reply, messages, null);
    case "page": {
      const page = reply as Page<unknown>;
      const { more } = page;
      // If the client leaves before the first part, this frees what the page holds.
      if (more) return Readable.from(pagedEnvelope(page, shape, messages), { objectMode: false }).once("close", () => void more.return?.());
      return successEnvelope(dated ? page.items.map(shape) : page.items, messages, resultInfo(page), route.also?.(page));
    }
    case "cursor": {
      const { items, after } = reply as CursorPage<unknown>;
      return successEnvelope(dated ? items.map(shape) : items, messages, cursorInfo(after));
    }
    default:
      throw new PlatformError("internal", { detail: `route ${route.id} has no paging` });
  }
}
