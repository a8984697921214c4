import { rememberTexts } from "#rules/expression/memo.ts";

/** A response whose body is to be scanned: what the scan needs and what its event will say. Plain, since it crosses threads. */
export interface ScanSubject {
  readonly ray_id: string;
  readonly at_ms: number;
  readonly account_id: string;
  readonly zone_id: string;
  readonly client_ip: string;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly user_agent: string;
  readonly status: number;
  /** Media type, lower case, without parameters. */
  readonly content_type: string;
  /** Its `charset` parameter, lower case; empty for none. */
  readonly charset: string;
  /** Content-Encoding of the bytes that the tap sees, lower case; empty for none. */
  readonly content_encoding: string;
  /** `ruleset_id`, `enabled` and `own` of the match's `managed` (rules/managed/rulesets.ts). */
  readonly ruleset_id: string;
  readonly enabled: string;
  /** What overrides say of the zone's and the account's own patterns (rules/managed/own-patterns.ts). */
  readonly own: string;
  /** What the execute rule's `matched_data` says: a key that copies are encrypted to, empty for none, and whether a masked sample is wanted. */
  readonly public_key: string;
  readonly masked_sample: boolean;
  /** Id of the execute rule. */
  readonly deployed_by: string;
}

/** From a tap to the detector. Null tells it to look for bodies. */
export type TapMessage =
  /** Once: where the tap writes them. */
  | { readonly ring: SharedArrayBuffer }
  /** The system lets other threads interrupt the detector's at once, so it need not make room for them. */
  | { readonly givesWay: true }
  | null;

/** From the detector to a tap, once: by which number the system knows its thread (kernel/thread-priority.ts). */
export interface DetectorMessage {
  readonly thread: number;
}

/** A text that is cheap to make, since the edge makes one for each response; none of its values holds a line feed. */
export const subjectText = (one: ScanSubject): string =>
  `${one.account_id}\n${one.zone_id}\n${one.ruleset_id}\n${one.enabled}\n${one.own}\n${one.deployed_by}\n${one.public_key}\n${one.masked_sample ? 1 : 0}\n` +
  `${one.ray_id}\n${one.at_ms}\n${one.client_ip}\n${one.method}\n${one.scheme}\n${one.host}\n${one.path}\n${one.query}\n${one.user_agent}\n` +
  `${one.status}\n${one.content_type}\n${one.charset}\n${one.content_encoding}`;

const SUBJECT_LINES = 21;

/** Null where a value held a line feed after all: nothing of it can be believed then. */
export function subjectOf(text: string): ScanSubject | null {
  const lines = text.split("\n");
  if (lines.length !== SUBJECT_LINES) return null;
  const [account_id, zone_id, ruleset_id, enabled, own, deployed_by, public_key, masked, ...request] = lines as Lines<21>;
  const [ray_id, at, client_ip, method, scheme, host, path, query, user_agent, ...response] = request;
  const [status, content_type, charset, content_encoding] = response;
  return {
    ...{ account_id, zone_id, ruleset_id, enabled, own, deployed_by, public_key, masked_sample: masked === "1" },
    ...{ ray_id, at_ms: Number(at), client_ip, method, scheme, host, path, query, user_agent },
    ...{ status: Number(status), content_type, charset, content_encoding },
  };
}

type Lines<Count extends number, So extends readonly string[] = []> = So["length"] extends Count ? So : Lines<Count, [...So, string]>;

// SPEC 8: up to 1 MB of a body is scanned; the same bound holds for what decoding makes of it.
export const SCANNED_BYTES_MAX = 1024 * 1024;

// SPEC 8: text, HTML, JSON and XML.
const SCANNED_TYPE = /^(?:text\/[\w.+-]+|application\/(?:json|xml|x-ndjson|[\w.+-]+\+(?:json|xml)))$/;

export const isScannedType = rememberTexts((mediaType: string): boolean => SCANNED_TYPE.test(mediaType));

/** Whether values of it have a path. */
export const isJson = (mediaType: string): boolean => /[/+](?:x-nd)?json$/.test(mediaType);

export type Encoding = "gzip" | "br" | "deflate" | "zstd";

const ENCODINGS: ReadonlyMap<string, Encoding | null> = new Map([
  ["", null],
  ["identity", null],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["deflate", "deflate"],
  ["zstd", "zstd"],
]);

/** The coding to undo, null for none, undefined for one that is not known. */
export const encodingOf = (contentEncoding: string): Encoding | null | undefined =>
  contentEncoding === "" ? null : ENCODINGS.get(contentEncoding.trim().toLowerCase());
