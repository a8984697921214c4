import { randomBytes } from "node:crypto";
import type { BodyTee } from "#edge/detection/body-tee.ts";
import type { Clock } from "#kernel/clock.ts";
import type { LoggedFields } from "#events/rows/rows.ts";
import type { Exhausted } from "#rules/budget.ts";
import type { FieldChange } from "#rules/actions/field-change.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { LaterCount } from "#rules/rate-limit/rate-limit.ts";
import type { RuleRun, Skips } from "#rules/engine/run.ts";
import { normalizedPath, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { joinUri } from "#rules/expression/request/request-parts.ts";
import { rememberLast } from "#rules/text/memo.ts";
import { type BodyView, type HeaderFields, NO_BODY_VIEW, type GeoView, type RequestView, type TlsView } from "#rules/views.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { RequestTarget } from "#wire/http/target.ts";
import type { CacheRule, CacheStatus } from "./cache-decision.ts";
import type { Coding, Algorithm, OriginPlan, UnsentBody } from "./decisions.ts";
import { type EdgeErrorName, nameOfEdgeError } from "#edge/pages/edge-errors.ts";
import type { Page } from "#edge/pages/error-page.ts";
import { mediaType } from "#edge/http/media-type.ts";
import type { CustomHostnameEntry, ZoneEntry } from "#snapshot/entries.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "#snapshot/edge-settings.ts";
import { editedLines, listLines, parseLines } from "#edge/http/field-lines.ts";
import { changeField, type ResponseEdits, touches } from "#edge/http/header-edits.ts";
import type { Geoip } from "#edge/geoip.ts";
import type { Zone } from "#edge/zones/zone.ts";

/** The connection of a request; the same for each of its requests. */
export interface ConnectionInfo {
  /** The fields that tell the origin about the client, as header lines; undefined before the first request. */
  told?: string;
  readonly clientIp: string;
  /** The client's port from the PROXY header, for a connection through a load balancer. */
  readonly clientPort?: number | undefined;
  readonly scheme: "http" | "https";
  /** The local address that the client connected to. */
  readonly serverIp?: string | undefined;
  readonly serverPort?: number | undefined;
  /** Null for plain HTTP. */
  readonly tls: TlsView | null;
}

/**
 * One request on its way through the pipeline, and the view that rules have of it. A class, because the edge creates one
 * for each request.
 */
export class Exchange implements RequestView, RuleRun {
  arrival: ConnectionInfo;
  readonly ray_id: string;
  readonly at_ms: number;
  readonly startedMs: number;
  client_ip: string;
  readonly scheme: "http" | "https";
  readonly tls: TlsView | undefined;
  readonly server_ip: string | undefined;
  readonly server_port: number | undefined;
  http_version = "HTTP/1.1";
  method = "";
  host = "";
  /** As rules see it: normalized, if the zone wants that. */
  path = "";
  /** As the origin, the cache and the request log see it. */
  origin_path = "";
  query = "";
  user_agent = "";
  zone_name = "";
  accept = "";
  /** `host[:port]`, canonical. */
  authority = "";
  /** The request lists services that it already passed through (CDN-Loop, RFC 8586). */
  hasLoop = false;
  /** The request says which content codings the client accepts. */
  hasCodings = false;
  /** Path and query, for the request line. */
  originForm = "";
  zone: Zone | null = null;
  /** The custom hostname under which the visitor reached the zone; null for the zone's own names. */
  customHostname: CustomHostnameEntry | null = null;
  /** The zone's settings with the changes of configuration rules for this request. */
  settings: EdgeSettings = EDGE_SETTINGS_DEFAULTS;
  /** Overrides of an origin rule; empty or 0 without one. */
  originHost = "";
  originPort = 0;
  hostHeader = "";
  serverName = "";
  /** The body as rules see it; undefined until the edge has read it, and forever if no rule reads it. */
  body: BodyView | undefined = NO_BODY_VIEW;
  /** The next pipeline stage of the request. */
  stage = 0;
  /** The edge fetches the response for several visitors, so response rules run for each of them and not here. */
  isForMany = false;
  /** Set if a part of this installation answers; then customer rules and origins do not apply. */
  ownOrigin: OriginPlan | null = null;
  /** Rules and phases that rules of earlier phases skip. */
  skips: Skips | null = null;
  readonly trace = null;
  /** Steps that the rules of this request used so far (ADR 0075). */
  steps = 0;
  /** The rule that exceeded the step limit; null if none did. */
  exhausted: Exhausted | null = null;
  /** The GeoIP lookup; null if no zone was found. */
  places: Pick<Geoip, "of"> | null = null;
  /** Copies the bodies that the zone wants scanned; null if no zone was found. */
  tap: Pick<BodyTee, "takes" | "begin"> | null = null;
  /** Knows which visitors passed a challenge; null if no zone was found. */
  clearance: { has(exchange: Exchange): boolean } | null = null;
  private cleared: boolean | undefined;
  /** The visitor gets pages without their marked parts (setting `server_side_exclude`). */
  excludes = false;
  /** The codings of such a page, which the edge undoes to read it. */
  packing: readonly string[] = NONE;
  /** Accept-Encoding of the visitor, if the origin is asked for other codings. */
  codingLines: readonly string[] | null = null;
  /** Rate limits to count when the response arrives. */
  readonly later: LaterCount[] = [];
  /** Matched rules that write a security event when the response's status is known. */
  readonly logged: LoggedMatch[] = [];
  /** Matches of the rules that judged the response before it was sent, for the detector; null if none did. */
  judged: readonly Match[] | null = null;
  /** Fields that rules add to the request log; null for none. */
  loggedFields: LoggedFields | null = null;
  /** Edits of the request head by rules; null for none. */
  requestEdits: ResponseEdits | null = null;
  /** Path and query as the client sent them; set when the path is normalized or a rule rewrites them. */
  received_path?: string;
  received_query?: string;
  /** Edits of the response head by settings and rules; null for none. */
  responseEdits: ResponseEdits | null = null;
  /** Cache parameters set by rules; null for none. */
  cacheRule: CacheRule | null = null;
  /** The visitor's device type, if the edge sends it to the origin; else empty. */
  deviceType = "";
  /** Algorithms of the matching compression rules; null if none matches. */
  algorithms: readonly Algorithm[] | null = null;
  /** The coding in which the edge compresses the body for this visitor; null to pass it unchanged. */
  coding: Coding | null = null;
  /** The whole body if it comes from the cache in one buffer; null otherwise. It never changes. */
  cachedBody: Buffer | null = null;
  /** `cachedBody` is smaller than what the cache sends, and replaces it. */
  isMinified = false;
  /** The cached body in whose place a 304 is sent; null otherwise. */
  unsent: UnsentBody | null = null;
  /** Other visitors may get another coding, so downstream caches need `Vary: Accept-Encoding` (RFC 9110 §12.5.5). */
  variesByCoding = false;
  /** How the cache took part in the response; null if it did not. */
  cacheStatus: CacheStatus | null = null;
  status = 0;
  originStatus: number | null = null;
  /** Media type of the response to the visitor, without parameters. */
  contentType = "";
  /** Code of the edge error that answers the request; empty for none. */
  edgeError = "";
  /** Name of the edge error, which distinguishes causes with the same code; empty for none. */
  edgeErrorName: EdgeErrorName | "" = "";
  /** Milliseconds until the head of the origin's response; undefined without an origin request. */
  originTtfbMs: number | undefined = undefined;
  /** The clock for measuring the edge's time; null if nothing measures it. */
  clock: Clock | null = null;
  bytesIn = 0;
  bytesOut = 0;
  /** The header lines as received, each with its CRLF. */
  headLines = "";
  private fieldLines = "";
  /** The header lines as received, without the last CRLF. */
  private received = "";
  /** Rules changed the fields after the lines were last built. */
  private isStale = false;
  private fields: ReadonlyMap<string, readonly string[]> | null = null;
  private seed = "";

  constructor(rayId: string, atMs: number, startedMs: number, arrival: ConnectionInfo) {
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

  /** Copies what is needed from the head, which may change after the call. */
  describe(head: Head, target: RequestTarget): void {
    this.host = target.authority.host;
    this.authority = target.authority.port === null ? this.host : `${this.host}:${target.authority.port}`;
    this.path = target.path;
    this.origin_path = target.path;
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

  /** Replaces the address of a proxy by the one of the visitor for whom it sent the request. */
  comeFrom(clientIp: string): void {
    if (clientIp === this.client_ip) return;
    const { scheme, serverIp, serverPort, tls } = this.arrival;
    this.client_ip = clientIp;
    // The port was the proxy's, and the fields told to origins named the proxy.
    this.arrival = { clientIp, scheme, serverIp, serverPort, tls };
  }

  get hostname_metadata(): string {
    const metadata = this.customHostname?.metadata;
    return metadata === undefined ? "" : metadataText(metadata);
  }

  get client_port(): number | undefined {
    return this.arrival.clientPort;
  }

  get zone_plan(): ZoneEntry["plan"] | undefined {
    return this.zone?.entry.plan;
  }

  get place(): GeoView | undefined {
    return this.places?.of(this.client_ip);
  }

  /** Makes `page` the response. */
  answerWith(page: Page): void {
    this.status = page.status;
    this.contentType = mediaType(page.contentType);
    this.edgeError = page.error === undefined ? "" : String(page.error.code);
    this.edgeErrorName = page.error === undefined ? "" : nameOfEdgeError(page.error);
  }

  get isCleared(): boolean {
    return (this.cleared ??= this.clearance?.has(this) ?? false);
  }

  /** A slice of the copied text: cheaper than another copy of the buffer. */
  private fieldValue(head: Head, index: number): string {
    if (index < 0) return "";
    return this.fieldLines.slice(head.offsets[index * 4 + 2]! - head.fieldsStart, head.offsets[index * 4 + 3]! - head.fieldsStart);
  }

  /** Whether a header line matches. `pattern` needs the flag `m`. */
  mentions(pattern: RegExp): boolean {
    return pattern.test(this.lines());
  }

  /** The header lines that match. `pattern` needs the flags `g` and `m`. */
  linesLike(pattern: RegExp): readonly string[] {
    return this.lines().match(pattern) ?? NONE;
  }

  /** The matching lines of one field, without building the others. `pattern` as in `linesLike`. */
  linesOf(name: string, pattern: RegExp): readonly string[] {
    const { requestEdits: edits } = this;
    if (!this.isStale || edits === null) return this.fieldLines.match(pattern) ?? NONE;
    return (touches(edits, name) ? this.lines() : this.received).match(pattern) ?? NONE;
  }

  normalizePath({ scope, type }: UrlNormalization): void {
    if (scope === "none") return;
    const path = normalizedPath(this.path, type);
    if (path === this.path) return;
    this.received_path = this.path;
    this.received_query = this.query;
    this.path = path;
    if (scope === "incoming") return;
    this.originForm = path + this.originForm.slice(this.origin_path.length);
    this.origin_path = path;
  }

  /** Rewrites path, query or both, for rules and for the origin. */
  rewriteUri(path: string | undefined, query: string | undefined): void {
    this.received_path ??= this.path;
    this.received_query ??= this.query;
    if (path !== undefined) this.path = this.origin_path = path;
    if (query !== undefined) this.query = query;
    this.originForm = joinUri(this.origin_path, this.query);
  }

  /** Changes request fields for later rules and for the origin. */
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

  /** The header lines with the edits of rules. Built on demand: after the last rule, they are seldom read. */
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

  /** Values of the field as received, without the edits of rules. */
  receivedHeaders(name: string): readonly string[] {
    return this.requestEdits === null ? this.headers(name) : (parseLines(this.received).get(name) ?? NONE);
  }

  header_fields(): HeaderFields {
    return requestLines(this.lines());
  }

  /** Milliseconds that the edge has taken so far, without the origin's time; undefined without a clock. */
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

/** Several rules in a row often read the fields of the same message. */
const requestLines = rememberLast(listLines);
const metadataText = rememberLast((metadata: object) => Buffer.from(JSON.stringify(metadata)).toString("latin1"));
