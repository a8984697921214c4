import { rememberTexts } from "#rules/text/memo.ts";
import type { GeoView } from "#rules/views.ts";
import type { BodyCut } from "./body-cut.ts";

/** The facts that all responses scanned for one rule in one zone share; the same object for each of them. */
export interface ScanScope {
  readonly account_id: string;
  readonly zone_id: string;
  /** `ruleset_id`, `enabled` and `own` of the match's `managed` (rules/managed/rulesets.ts). */
  readonly ruleset_id: string;
  readonly enabled: string;
  /** Overrides for the zone's and the account's own patterns (rules/managed/own-patterns.ts). */
  readonly own: string;
  /** From the execute rule's `matched_data`: the key for encrypting copies, empty for none, and whether to keep a masked sample. */
  readonly public_key: string;
  readonly masked_sample: boolean;
  /** Id of the execute rule. */
  readonly deployed_by: string;
}

/** The description of a body by its response's head. */
export interface BodyKind {
  /** Media type, lower case, without parameters. */
  readonly content_type: string;
  /** The `charset` parameter, lower case; empty for none. */
  readonly charset: string;
  /** Content-Encoding of the bytes that the tee sees, lower case; empty for none. */
  readonly content_encoding: string;
  readonly cut: BodyCut;
}

/** The parameters of a scan: plain data, sent to the detector's thread once for all responses that share them. */
export interface ScanPlan extends ScanScope, BodyKind {}

/** The facts about the request for an event. */
export interface ScannedRequest {
  readonly ray_id: string;
  readonly at_ms: number;
  readonly client_ip: string;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly user_agent: string;
  /** Absent without GeoIP databases. */
  readonly place?: Pick<GeoView, "country"> | undefined;
}

export interface ScannedResponse extends BodyKind {
  readonly status: number;
}

/** A response whose body was scanned. */
export interface ScanSubject extends ScanPlan, Omit<ScannedRequest, "place">, ScannedResponse {
  /** Empty if unknown. */
  readonly country: string;
}

/** From a tee to the detector. Null: new bodies wait in the ring. */
export type TeeMessage =
  /** Once: the ring for bodies, and the memory that the tee shares, if it does. */
  | { readonly ring: SharedArrayBuffer; readonly lent: SharedArrayBuffer | null }
  /** The system lets other threads interrupt the detector at once, so it need not give way itself. */
  | { readonly givesWay: true }
  | null;

/** From the detector to a tee, once: the system's number of its thread (kernel/process/thread-priority.ts). */
export interface DetectorMessage {
  readonly thread: number;
}

export const planText = (
  { account_id, zone_id, ruleset_id, enabled, own, public_key, masked_sample, deployed_by }: ScanScope,
  kind: BodyKind,
): string =>
  JSON.stringify({
    ...{ account_id, zone_id, ruleset_id, enabled, own, public_key, masked_sample, deployed_by },
    ...{ content_type: kind.content_type, charset: kind.charset, content_encoding: kind.content_encoding, cut: kind.cut },
  } satisfies ScanPlan);

export const planOf = (text: string): ScanPlan => JSON.parse(text) as ScanPlan;

/** Times are written in two parts: integers above 32 bits take a microsecond to write. */
const TIME_PART = 1_000_000;

/** Joins few pieces, since the edge does this for each response. No value may contain a line feed. */
export function subjectText(one: ScannedRequest, status: number): string {
  const high = Math.floor(one.at_ms / TIME_PART);
  return `${one.ray_id}\n${high}\n${one.at_ms - high * TIME_PART}\n${one.client_ip}\n${one.method}\n${one.scheme}\n${one.host}\n${one.path}\n${one.query}\n${one.user_agent}\n${one.place?.country ?? ""}\n${status}`;
}

const SUBJECT_LINES = 12;

/** Null if a value contains a line feed, since the lines are ambiguous then. */
export function subjectOf(plan: ScanPlan, text: string): ScanSubject | null {
  const lines = text.split("\n");
  if (lines.length !== SUBJECT_LINES) return null;
  const [ray_id, high, low, client_ip, method, scheme, host, path, query, user_agent, country, status] = lines as Lines<12>;
  const at_ms = Number(high) * TIME_PART + Number(low);
  return { ...plan, ray_id, at_ms, client_ip, method, scheme, host, path, query, user_agent, country, status: Number(status) };
}

type Lines<Count extends number, So extends readonly string[] = []> = So["length"] extends Count ? So : Lines<Count, [...So, string]>;

/** Counted by the side that leaves a body out. */
export const SHED = [
  "selvedge_detection_shed_total",
  "Responses not scanned, or scanned in part, because the detector was busy or had crashed",
] as const;

// SPEC 8: up to 1 MB of a body is scanned; the same bound holds for what decoding makes of it.
export const SCANNED_BYTES_MAX = 1024 * 1024;

const JSON_TYPE = /^(?:text|application)\/(?:x-)?(?:json|ndjson|ldjson|jsonl|jsonlines|json-seq|json5)$|\+json(?:-seq)?$/;

// SPEC 8: text, HTML, JSON and XML, by any of their names: many text formats have types outside text/.
const SCANNED_TYPE =
  // linear: pumped
  /^(?:text\/[\w.+-]+|[\w.+-]+\/[\w.+-]+\+(?:xml|yaml)|application\/(?:x-)?(?:xml|xml-dtd|xml-external-parsed-entity|javascript|ecmascript|yaml|toml|sql|graphql|csv|sh|pem-file|pem-certificate-chain|www-form-urlencoded)|multipart\/(?:mixed|form-data|byteranges|related|alternative))$/;

const UNKNOWN_TYPES: ReadonlySet<string> = new Set(["*/*", "application/unknown", "unknown/unknown"]);

/** Some programs send no type or an invalid one, and leave it to clients to detect it (WHATWG MIME Sniffing §7). */
export const isUntyped = (mediaType: string): boolean => !mediaType.includes("/") || UNKNOWN_TYPES.has(mediaType);

export const isScannedType = rememberTexts(
  (mediaType: string): boolean => isUntyped(mediaType) || SCANNED_TYPE.test(mediaType) || JSON_TYPE.test(mediaType),
);

export const isMultipart = (mediaType: string): boolean => mediaType.startsWith("multipart/");

/** True if values in the body have a JSON path; with several texts in a row, each has its own paths. */
export const isJson = (mediaType: string): boolean => JSON_TYPE.test(mediaType);

export type Encoding = "gzip" | "br" | "deflate" | "zstd";

const ENCODINGS: ReadonlyMap<string, Encoding> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["deflate", "deflate"],
  ["zstd", "zstd"],
]);

/** Registered codings that are not decoded. */
const UNREADABLE: ReadonlySet<string> = new Set(["aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"]);

/** Real bodies do not have more codings. */
const CODINGS_MAX = 3;
const NO_CODINGS: readonly Encoding[] = [];

/**
 * The codings to undo, in the order in which they were applied (RFC 9110 §8.4); undefined if one is not supported. Names
 * that are not codings, such as `utf-8` or `aws-chunked`, are ignored, as clients do.
 */
export function codingsOf(contentEncoding: string): readonly Encoding[] | undefined {
  if (contentEncoding === "") return NO_CODINGS;
  const names = contentEncoding.toLowerCase().split(",", CODINGS_MAX + 1);
  if (names.length > CODINGS_MAX) return undefined;
  const trimmed = names.map((name) => name.trim());
  return trimmed.some((name) => UNREADABLE.has(name)) ? undefined : trimmed.flatMap((name) => ENCODINGS.get(name) ?? []);
}
