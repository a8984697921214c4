import type { BrowserTtl } from "#edge/cache/policy/cache-rule.ts";
import type { Freshness } from "#edge/cache/policy/freshness.ts";
import { fieldLines, type ResponseField } from "#edge/cache/policy/response-fields.ts";
import type { Storable } from "#edge/cache/policy/cacheability.ts";

/** What a response was asked for with. */
export interface Asked {
  readonly zoneId: string;
  readonly key: string;
  /** Lines of fields by which requests of one key are kept apart, whatever Vary says. */
  readonly apart: string;
  readonly scheme: string;
  readonly host: string;
  /** Null for the port of the scheme. */
  readonly port: number | null;
  readonly path: string;
  readonly query: string;
  /** Paths and queries with which visitors came, where a rule has rewritten them. */
  received?: readonly string[] | undefined;
  /** A rule chose which parameters of the query count: its visitors came with others as well. */
  readonly isQueryRuled?: true;
  /** How many purges of its zone came before it was asked for: later ones take it away. */
  readonly purges: number;
}

/** A body on disk. */
export interface DiskFile {
  /** Of its files' names. */
  readonly id: string;
  /** CRC-32 of each block. */
  readonly checks: readonly number[];
  /** What both of its files take. */
  readonly bytes: number;
}

/** What an entry takes besides its texts and its body: objects, links, its place in the index. */
const OVERHEAD_BYTES = 640;

/** A response in the cache. A class, because every hit touches one. */
export class StoredResponse {
  readonly asked: Asked;
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly ResponseField[];
  /** Each field with its CRLF. */
  readonly lines: string;
  readonly freshness: Freshness;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly vary: readonly string[];
  readonly secondary: string;
  readonly tags: readonly string[];
  /** Bytes of the body. */
  readonly length: number;
  /** In pieces; empty until it has come. */
  body: readonly Buffer[] = [];
  /** What it takes of the memory. */
  readonly weight: number;
  /** Was used since eviction last came by. */
  visited = false;
  /** Towards those that came later, and earlier; the owner is the store. */
  newer: StoredResponse | null = null;
  older: StoredResponse | null = null;
  isStored = false;
  /** A copy of it is on disk, or is on its way there. */
  isSaved = false;
  /** Where its body is, of one whose body is not in memory. */
  readonly file: DiskFile | null;
  /** The head that was last written for it; good for its second and its setting. */
  readonly memo: { second: number; mode: BrowserTtl["mode"]; seconds: number; head: Buffer } = {
    second: -1,
    mode: "at_least",
    seconds: -1,
    head: Buffer.alloc(0),
  };

  constructor(asked: Asked, reason: string, storable: Storable, secondary: string, length: number, file: DiskFile | null = null) {
    this.asked = asked;
    this.status = storable.status;
    this.reason = reason;
    this.fields = storable.fields;
    this.lines = fieldLines(storable.fields);
    this.freshness = storable.freshness;
    this.etag = storable.etag;
    this.lastModified = storable.lastModified;
    this.vary = storable.vary;
    this.secondary = secondary;
    this.tags = storable.tags;
    this.length = length;
    this.file = file;
    this.weight =
      OVERHEAD_BYTES +
      3 * this.lines.length +
      2 * (asked.key.length + asked.apart.length) +
      (file === null ? length : 16 * file.checks.length);
  }
}
