import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Freshness } from "#edge/cache/policy/freshness.ts";
import { ANY_URL } from "./original-urls.ts";
import { type RequestKey, StoredResponse } from "./stored-response.ts";

/** A block is read whole and its checksum verified before any of it is sent. */
export const BLOCK_BYTES = 65_536;
/** Increased when the format changes incompatibly. */
const FORMAT = 1;
/** The directory may have existed before, and be readable for others. */
export const FILE_MODE = 0o600;
/** Disk space that the file system uses for two small files. */
const FILES_BYTES_MIN = 8_192;

export const describedIn = (directory: string, id: string): string => join(directory, `${id}.json`);
export const bodyIn = (directory: string, id: string): string => join(directory, `${id}.body`);

/** A response without its body: a line with the checksum of the rest, then JSON. */
export function describe(response: StoredResponse, checks: readonly number[]): string {
  const { asked, status, reason, fields, freshness, etag, lastModified, vary, secondary, tags, length } = response;
  const described: Described = {
    format: FORMAT,
    asked,
    status,
    reason,
    fields: fields.map(({ name, value }) => [name, value]),
    freshness,
    etag,
    lastModified,
    vary,
    secondary,
    tags,
    length,
    checks,
  };
  const text = JSON.stringify(described);
  return `${crc32(text)}\n${text}`;
}

interface Described {
  readonly format: number;
  readonly asked: RequestKey;
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly freshness: Freshness;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly vary: readonly string[];
  readonly secondary: string;
  readonly tags: readonly string[];
  readonly length: number;
  readonly checks: readonly number[];
}

/** Null if the file is incomplete, corrupt or of another format; it is then treated as absent. */
export function readDescribed(directory: string, id: string): StoredResponse | null {
  try {
    const text = readFileSync(describedIn(directory, id), "utf8");
    const line = text.indexOf("\n");
    const json = text.slice(line + 1);
    if (text.slice(0, line) !== String(crc32(json))) return null;
    const { format, fields, asked, reason, secondary, length, checks, ...rest } = JSON.parse(json) as Described;
    // Other URLs may have been added after the file was written.
    // few: once for a file that is read
    if (asked.received !== undefined) asked.received = [...asked.received, ANY_URL];
    if (format !== FORMAT || statSync(bodyIn(directory, id)).size !== length) return null;
    const storable = { ...rest, fields: fields.map(([name, value]) => ({ name, key: name.toLowerCase(), value })) };
    return new StoredResponse(asked, reason, storable, secondary, length, { id, checks, bytes: filesBytes(length, text.length) });
  } catch {
    return null;
  }
}

export const filesBytes = (length: number, described: number): number => Math.max(FILES_BYTES_MIN, length + described);

/** The same response with its body on disk. */
export const onDisk = (response: StoredResponse, id: string, checks: readonly number[], described: number): StoredResponse =>
  new StoredResponse(response.asked, response.reason, response, response.secondary, response.length, {
    id,
    checks,
    bytes: filesBytes(response.length, described),
  });
