import type { BrowserTtl } from "#edge/cache/policy/cache-rule.ts";
import type { Freshness } from "#edge/cache/policy/freshness.ts";
import { fieldLines, type ResponseField } from "#edge/cache/policy/response-fields.ts";
import type { Storable } from "#edge/cache/policy/cacheability.ts";

/** The request to which a response belongs. */
export interface RequestKey {
  readonly zoneId: string;
  readonly key: string;
  /** Lines of fields that are part of the key, whatever Vary says. */
  readonly apart: string;
  readonly scheme: string;
  readonly host: string;
  /** Null for the scheme's default port. */
  readonly port: number | null;
  readonly path: string;
  readonly query: string;
  /** Paths and queries as visitors sent them, if a rule rewrote them. */
  received?: readonly string[] | undefined;
  /** A rule chose which query parameters are in the key, so visitors used other queries too. */
  readonly isQueryRuled?: true;
  /** Number of purges of the zone when the response was requested; later ones apply to it. */
  readonly purges: number;
}

/** A body on disk. */
export interface DiskFile {
  /** Id in the names of its files. */
  readonly id: string;
  /** CRC-32 of each block. */
  readonly checks: readonly number[];
  /** Disk space of both files. */
  readonly bytes: number;
}

/** Memory that an entry uses besides its texts and body: objects, links, index. */
const OVERHEAD_BYTES = 640;

/** A response in the cache. A class, because every hit uses one. */
export class StoredResponse {
  readonly asked: RequestKey;
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
  /** Length of the body in bytes. */
  readonly length: number;
  /** In chunks; empty until the body has arrived. */
  body: readonly Buffer[] = [];
  /** Memory use in bytes. */
  readonly weight: number;
  /** Used since the eviction hand last passed. */
  visited = false;
  /** Links to the newer and the older entry; managed by the store. */
  newer: StoredResponse | null = null;
  older: StoredResponse | null = null;
  isStored = false;
  /** A copy is on disk or is being written. */
  isSaved = false;
  /** The body on disk, if it is not in memory. */
  readonly file: DiskFile | null;
  /** The last head built for this response; valid for one second and one setting. */
  readonly memo: { second: number; mode: BrowserTtl["mode"]; seconds: number; head: Buffer } = {
    second: -1,
    mode: "at_least",
    seconds: -1,
    head: Buffer.alloc(0),
  };

  constructor(asked: RequestKey, reason: string, storable: Storable, secondary: string, length: number, file: DiskFile | null = null) {
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
