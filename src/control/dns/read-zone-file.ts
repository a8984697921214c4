import { setImmediate } from "node:timers/promises";
import { PlatformError } from "#kernel/errors.ts";
import { identityOf } from "#model/dns-conflicts.ts";
import type { DnsRecordWrite } from "#model/dns-record.ts";
import { isProxiable, type OriginPolicy, prepareRecord, type PreparedRecord, TTL_AUTOMATIC } from "#model/prepared-record.ts";
import { readAttributes } from "#model/record-attributes.ts";
import { recordTypeOf } from "#wire/dns/record-types.ts";
import { type ZoneFileRecord, zoneFileItems } from "#wire/dns/zonefile.ts";

/** One record that a file would have the zone hold. */
export interface ImportEntry {
  readonly line: number;
  /** Equal for records of a zone that are duplicates of each other. */
  readonly key: string;
  readonly record: PreparedRecord;
}

/** Why a line cannot be imported. */
export interface ImportProblem {
  readonly line: number;
  readonly error: PlatformError;
}

export interface ReadZoneFile {
  /** Without repetitions, and without what the service makes itself. */
  readonly entries: readonly ImportEntry[];
  /** All records of the file. */
  readonly parsed: number;
  /** The first ones; where there are any, the entries are incomplete. */
  readonly problems: readonly ImportProblem[];
}

export interface ImportScene {
  readonly zone: { readonly name: string; readonly plan: string };
  readonly origins: OriginPolicy;
  /** Whether records that can be proxied are, where their comment does not say. */
  readonly proxied: boolean;
  /** Whether the apex may have other name servers than the service's own, which are these. */
  readonly foreignNameServers: boolean;
  readonly nameServers: readonly string[];
}

/** A file that is no zone file has one on each line; the first ones say enough. */
const PROBLEMS_MAX = 50;
/** Between two of these many records other requests get their turn. */
const SLICE = 200;

/** Reads a zone file as records, each checked by itself. */
export async function readZoneFile(text: string, scene: ImportScene): Promise<ReadZoneFile> {
  const entries: ImportEntry[] = [];
  const problems: ImportProblem[] = [];
  const seen = new Set<string>();
  let items = 0;
  let parsed = 0;
  for (const item of zoneFileItems(text, { origin: scene.zone.name })) {
    if (++items % SLICE === 0) await setImmediate();
    if (item.kind === "error") {
      problems.push({ line: item.error.line, error: new PlatformError("dns_zone_file_invalid", { message: item.error.message }) });
    } else {
      parsed += 1;
      if (item.kind === "skipped" || isOwn(item.record, scene)) continue;
      const read = readEntry(item.record, scene);
      if ("error" in read) problems.push(read);
      else if (!seen.has(read.key)) entries.push(read);
      if ("key" in read) seen.add(read.key);
    }
    if (problems.length >= PROBLEMS_MAX) break;
  }
  return { entries, parsed, problems };
}

export const entryKey = (name: string, identity: string): string => `${name} ${identity}`;

function readEntry(record: ZoneFileRecord, scene: ImportScene): ImportEntry | ImportProblem {
  const { line } = record;
  try {
    const prepared = prepareRecord(writeOf(record, scene), scene.zone, scene.origins);
    return { line, key: entryKey(prepared.name, identityOf(prepared)), record: prepared };
  } catch (error) {
    if (error instanceof PlatformError) return { line, error };
    throw error;
  }
}

function writeOf(record: ZoneFileRecord, { proxied, origins }: ImportScene): DnsRecordWrite {
  const { type, content, data, priority } = record;
  const attributes = readAttributes(record.comment);
  return {
    // The one character of names that a zone file has to escape and the API has not.
    name: record.name.replaceAll("\\$", "$"),
    type,
    ...(data === null ? { content } : { data: { ...data } }),
    ...(priority === null ? {} : { priority }),
    ttl: record.ttl ?? TTL_AUTOMATIC,
    proxied: attributes.proxied ?? (proxied && isProxiable(type, content, origins)),
    comment: attributes.comment,
    tags: [...attributes.tags],
    settings: attributes.settings,
  };
}

/** SPEC 2.3: SOA and the apex's NS are the service's own, and so is what signing makes. */
function isOwn({ name, type, content }: ZoneFileRecord, scene: ImportScene): boolean {
  if (recordTypeOf(type)?.generated) return true;
  if (type !== "NS" || name.toLowerCase() !== scene.zone.name) return false;
  return !scene.foreignNameServers || scene.nameServers.includes(content.toLowerCase());
}
