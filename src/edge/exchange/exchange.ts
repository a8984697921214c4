import { randomBytes } from "node:crypto";
import type { Tap } from "#edge/detection/tap.ts";
import type { Clock } from "#kernel/clock.ts";
import type { LoggedFields } from "#events/rows/rows.ts";
import type { Exhausted } from "#rules/budget.ts";
import type { FieldChange } from "#rules/field-change.ts";
import type { Match } from "#rules/types.ts";
import type { LaterCount } from "#rules/rate-limit/rate-limit.ts";
import type { RuleRun, Skips } from "#rules/run.ts";
import { rememberLast } from "#rules/expression/text/memo.ts";
import { type BodyView, type HeaderFields, NO_BODY_VIEW, type PlaceView, type RequestView, type TlsView } from "#rules/views.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { RequestTarget } from "#wire/http/target.ts";
import type { CacheRule, CacheStatus } from "./cache-decision.ts";
import type { Coding, Algorithm, OriginPlan } from "./decisions.ts";
import type { Page } from "#edge/pages/error-page.ts";
import { mediaType } from "#edge/http/media-type.ts";
import type { CustomHostnameEntry } from "#snapshot/entries.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "#snapshot/edge-settings.ts";
import { editedLines, listLines, parseLines } from "#edge/http/field-lines.ts";
import { changeField, type ResponseEdits, touches } from "#edge/http/header-edits.ts";
import type { Places } from "#edge/geoip.ts";
import type { Zone } from "#edge/zones/zones.ts";

/** Where the connection came from, the same for each of its requests. */
export interface Arrival {
  /** What origins are told with each request, as it is written to them; undefined before the first one. */
  told?: string;
  readonly clientIp: string;
  readonly scheme: "http" | "https";
  /** What the client reached. */
  readonly serverIp?: string | undefined;
  readonly serverPort?: number | undefined;
  /** Null over plain HTTP. */
  readonly tls: TlsView | null;
}

/** One request on its way through the pipeline, and what rules see of it. A class, because each request makes one. */
export class Exchange implements RequestView, RuleRun {
  readonly arrival: Arrival;
  readonly ray_id: string;
  readonly at_ms: number;
  readonly startedMs: number;
  readonly client_ip: string;
  readonly scheme: "http" | "https";
  readonly tls: TlsView | undefined;
  readonly server_ip: string | undefined;
  readonly server_port: number | undefined;
  http_version = "HTTP/1.1";
  method = "";
  host = "";
  path = "";
  query = "";
  user_agent = "";
  zone_name = "";
  accept = "";
  /** `host[:port]`, canonical. */
  authority = "";
  /** The request names services that it passed through already (RFC 8586). */
  hasLoop = false;
  /** The request says which codings of a body its sender takes. */
  hasCodings = false;
  /** Path and query, for the request line. */
  originForm = "";
  zone: Zone | null = null;
  /** The name of somebody else's under which the zone is asked; null where it is its own. */
  customHostname: CustomHostnameEntry | null = null;
  /** The zone's, as configuration rules leave them for this request. */
  settings: EdgeSettings = EDGE_SETTINGS_DEFAULTS;
  /** What an origin rule overrides; empty and 0 where none does. */
  originHost = "";
  originPort = 0;
  hostHeader = "";
  serverName = "";
  /** What rules see of the body; undefined while it was not read, which is for good where no rule looks. */
  body: BodyView | undefined = NO_BODY_VIEW;
  /** The stage that the request has come to. */
  stage = 0;
  /** It asks for several visitors: what rules make of the answer is for each of them to say. */
  isForMany = false;
  /** A part of this installation answers, and no rule or origin of a customer has a say. */
  ownOrigin: OriginPlan | null = null;
  /** What rules of earlier phases skip. */
  skips: Skips | null = null;
  readonly trace = null;
  /** What its rules have cost so far (ADR 0075). */
  steps = 0;
  /** The rule at which that was too much; null where it was not. */
  exhausted: Exhausted | null = null;
  /** Knows where addresses are; null where no zone was found. */
  places: Pick<Places, "of"> | null = null;
  /** Copies what the zone wants looked through; null where no zone was found. */
  tap: Pick<Tap, "takes" | "begin"> | null = null;
  /** Knows who has passed a challenge; null where no zone was found. */
  clearance: { has(exchange: Exchange): boolean } | null = null;
  private cleared: boolean | undefined;
  /** What rate limits count once the response is there. */
  readonly later: LaterCount[] = [];
  /** Rules that matched and leave a security event when the response's status is known. */
  readonly logged: LoggedMatch[] = [];
  /** What rules ask to be written down with the request; null where none does. */
  loggedFields: LoggedFields | null = null;
  /** What rules change in the request's head; null where none does. */
  requestEdits: ResponseEdits | null = null;
  /** Path and query as they came, once a rule has changed them. */
  received_path?: string;
  received_query?: string;
  /** What settings and rules change in the response's head; null where nothing does. */
  responseEdits: ResponseEdits | null = null;
  /** What rules chose for the cache; null where none did. */
  cacheRule: CacheRule | null = null;
  /** What kind of device the visitor has, where the origin is to know. */
  deviceType = "";
  /** What compression rules want; null where none applies. */
  algorithms: readonly Algorithm[] | null = null;
  /** How the body is compressed for this visitor; null where it passes as it is. */
  coding: Coding | null = null;
  /** The whole body where it comes from the cache in one piece; null elsewhere. It never changes. */
  cachedBody: Buffer | null = null;
  /** Other visitors may get the body in another coding, and caches behind us have to know (RFC 9110 §12.5.5). */
  variesByCoding = false;
  /** How the cache had to do with the response; null where it was not asked. */
  cacheStatus: CacheStatus | null = null;
  status = 0;
  originStatus: number | null = null;
  /** Of the response that goes out, without parameters. */
  contentType = "";
  /** The code of the edge's own error that answers; empty where none does. */
  edgeError = "";
  /** How long the origin took to the head of its response; undefined where it was not asked. */
  originTtfbMs: number | undefined = undefined;
  /** Whose time it is measured in; null where nobody measures. */
  clock: Clock | null = null;
  bytesIn = 0;
  bytesOut = 0;
  /** The lines as they came, each with its CRLF. */
  headLines = "";
  private fieldLines = "";
  /** The lines as they came, and as all below have them: without the last CRLF. */
  private received = "";
  /** Rules have changed the fields since the lines were put together. */
  private isStale = false;
  private fields: ReadonlyMap<string, readonly string[]> | null = null;
  private seed = "";

  constructor(rayId: string, atMs: number, startedMs: number, arrival: Arrival) {
    this.arrival = arrival;
    this.ray_id = rayId;
    this.at_ms = atMs;
    this.startedMs = startedMs;
    this.client_ip = arrival.clientIp;
    this.scheme = arrival.scheme;
    this.server_ip = arrival.serverIp;
    this.server_port = arrival.serverPort;
    this.tls = arrival.tls ?? undefined;
  }

  /** Takes over what is known from the head; it is not read again. */
  describe(head: Head, target: RequestTarget): void {
    this.host = target.authority.host;
    this.authority = target.authority.port === null ? this.host : `${this.host}:${target.authority.port}`;
    this.path = target.path;
    this.query = target.query;
    this.originForm = target.originForm;
    this.hasLoop = head.loopIndex >= 0;
    this.hasCodings = head.hasCodings;
    if (head.minorVersion === 0) this.http_version = "HTTP/1.0";
    this.headLines = target.lines;
    this.fieldLines = this.received = target.lines.slice(0, -2);
    this.user_agent = this.fieldValue(head, head.userAgentIndex);
    this.accept = this.fieldValue(head, head.acceptIndex);
  }

  get hostname_metadata(): string {
    const metadata = this.customHostname?.metadata;
    return metadata === undefined ? "" : metadataText(metadata);
  }

  get place(): PlaceView | undefined {
    return this.places?.of(this.client_ip);
  }

  /** The edge answers itself. */
  answerWith(page: Page): void {
    this.status = page.status;
    this.contentType = mediaType(page.contentType);
    this.edgeError = page.error === undefined ? "" : String(page.error.code);
  }

  get isCleared(): boolean {
    return (this.cleared ??= this.clearance?.has(this) ?? false);
  }

  /** A piece of the text that was taken over: cheaper than one more copy of the buffer. */
  private fieldValue(head: Head, index: number): string {
    if (index < 0) return "";
    return this.fieldLines.slice(head.offsets[index * 4 + 2]! - head.fieldsStart, head.offsets[index * 4 + 3]! - head.fieldsStart);
  }

  /** Whether the lines of the head's fields match: the pattern has the flag `m`. */
  mentions(pattern: RegExp): boolean {
    return pattern.test(this.lines());
  }

  /** The field lines that a pattern with the flags `g` and `m` matches. */
  linesLike(pattern: RegExp): readonly string[] {
    return this.lines().match(pattern) ?? NONE;
  }

  /** The lines of one field that a pattern as above matches: the others need not be put together for them. */
  linesOf(name: string, pattern: RegExp): readonly string[] {
    const { requestEdits: edits } = this;
    if (!this.isStale || edits === null) return this.fieldLines.match(pattern) ?? NONE;
    return (touches(edits, name) ? this.lines() : this.received).match(pattern) ?? NONE;
  }

  /** The request goes on under this path and query. */
  rewriteUri(path: string, query: string): void {
    this.received_path ??= this.path;
    this.received_query ??= this.query;
    this.path = path;
    this.query = query;
    this.originForm = query === "" ? path : `${path}?${query}`;
  }

  /** Changes fields of the request as the origin, and rules from now on, see them. */
  editRequest(changes: readonly FieldChange[]): void {
    const edits = (this.requestEdits ??= { drop: [], add: [] });
    this.isStale = true;
    let isOtherAgent = false;
    for (const change of changes) {
      changeField(edits, change);
      isOtherAgent ||= change.lower === "user-agent";
    }
    if (isOtherAgent) this.user_agent = this.headers("user-agent")[0] ?? "";
  }

  /** The field lines as rules have left them: put together when somebody looks, which after the last rule is seldom. */
  private lines(): string {
    const { requestEdits: edits } = this;
    if (!this.isStale || edits === null) return this.fieldLines;
    this.isStale = false;
    this.fields = null;
    return (this.fieldLines = editedLines(this.received, edits));
  }

  headers(name: string): readonly string[] {
    const lines = this.lines();
    this.fields ??= parseLines(lines);
    return this.fields.get(name) ?? NONE;
  }

  /** The same as they came, whatever rules have made of them. */
  receivedHeaders(name: string): readonly string[] {
    return this.requestEdits === null ? this.headers(name) : (parseLines(this.received).get(name) ?? NONE);
  }

  header_fields(): HeaderFields {
    return requestLines(this.lines());
  }

  /** How long the edge has taken so far, the origin's time left out. */
  edgeMs(): number | undefined {
    const { clock } = this;
    return clock === null ? undefined : Math.max(0, Math.round(clock.monotonicMs() - this.startedMs - (this.originTtfbMs ?? 0)));
  }

  get random_seed(): string {
    if (this.seed === "") this.seed = randomBytes(16).toString("latin1");
    return this.seed;
  }
}

export interface LoggedMatch {
  readonly phase: string;
  readonly match: Match;
}

const NONE: readonly string[] = [];

/** Many rules ask the same of one message in a row. */
const requestLines = rememberLast(listLines);
const metadataText = rememberLast((metadata: object) => Buffer.from(JSON.stringify(metadata)).toString("latin1"));
