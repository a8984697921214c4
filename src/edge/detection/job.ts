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
  /** `ruleset_id` and `enabled` of the match's `managed` (rules/managed/rulesets.ts). */
  readonly ruleset_id: string;
  readonly enabled: string;
  /** What the execute rule's `matched_data` says: a key that copies are encrypted to, empty for none, and whether a masked sample is wanted. */
  readonly public_key: string;
  readonly masked_sample: boolean;
  /** Id of the execute rule. */
  readonly deployed_by: string;
}

/** A piece of one body in a slab. The job's first frame brings the subject, the last one `end`. */
export interface Frame {
  readonly job: number;
  readonly from: number;
  readonly to: number;
  /** A ScanSubject as JSON: crossing as one text costs the edge half of what an object of many members does. */
  readonly subject: string | null;
  readonly end: boolean;
}

/** From a tap to the detector: bytes of many bodies in one transferred slab. */
export interface SlabMessage {
  readonly slab: ArrayBuffer;
  readonly frames: readonly Frame[];
}

/** From the detector back to the tap: the slab may be filled again. */
export interface SlabReturn {
  readonly slab: ArrayBuffer;
}

// SPEC 8: up to 1 MB of a body is scanned; the same bound holds for what decoding makes of it.
export const SCANNED_BYTES_MAX = 1024 * 1024;

// SPEC 8: text, HTML, JSON and XML.
const SCANNED_TYPE = /^(?:text\/[\w.+-]+|application\/(?:json|xml|x-ndjson|[\w.+-]+\+(?:json|xml)))$/;

// RFC 9110 §8.3.1, with or without quotes.
const CHARSET = /;\s*charset\s*=\s*"?([\w.:+-]{1,40})/i;

/** The parameter of a Content-Type field. */
export const charsetOf = (contentType: string): string => CHARSET.exec(contentType)?.[1]?.toLowerCase() ?? "";

export const isScannedType = (mediaType: string): boolean => SCANNED_TYPE.test(mediaType);

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
export const encodingOf = (contentEncoding: string): Encoding | null | undefined => ENCODINGS.get(contentEncoding.trim().toLowerCase());
