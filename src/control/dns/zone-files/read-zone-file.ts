import { backgroundTurn } from "#kernel/background-turn.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import { type ChunkBound, createChunkBound } from "#control/dns/changes/chunk-bound.ts";
import { identityOf } from "#model/dns/dns-conflicts.ts";
import { withFinalDot } from "#model/dns/kept-spelling.ts";
import type { DnsRecordWrite } from "#model/dns/dns-record.ts";
import { isProxiable, prepareRecord, type PreparedRecord, type RecordPolicy, TTL_AUTOMATIC } from "#model/dns/prepared-record.ts";
import type { OnError } from "#model/dns/dns-import.ts";
import { limitedRecord } from "#model/dns/limited-record.ts";
import { planOf } from "#model/zones/plan.ts";
import { readAttributes } from "#model/dns/record-attributes.ts";
import { recordTypeOf } from "#wire/dns/record-types.ts";
import { type ZoneFileRecord, zoneFileItems } from "#wire/zone-files/zonefile.ts";

/** One record of a zone file. */
export interface ImportEntry {
  readonly line: number;
  /** Equal for duplicate records of a zone. */
  readonly key: string;
  readonly record: PreparedRecord;
  /** Description of reduced values; empty if none. */
  readonly clamped: string;
}

/** Why a line cannot be imported. */
export interface ImportProblem {
  readonly line: number;
  readonly error: PlatformError;
}

export interface ReadZoneFile {
  /** Without duplicates and records that the service itself creates; null if there are more than the limit. */
  readonly entries: readonly ImportEntry[] | null;
  /** Number of records in the file. */
  readonly parsed: number;
  /** The first problems; if any, the entries are incomplete unless such lines are skipped. */
  readonly problems: readonly ImportProblem[];
  /** Records that were reduced to the limits, and lines that the service itself creates. */
  readonly clamped: readonly ImportEntry[];
  readonly ignored: readonly number[];
}

export interface ImportContext {
  readonly zone: { readonly name: string; readonly plan: string };
  /** Accepts names of other servers, regardless of the operator's rule for new ones. */
  readonly policy: RecordPolicy;
  /** Whether proxiable records are proxied, unless their comment says otherwise. */
  readonly proxied: boolean;
  readonly onError: OnError;
  /** Whether the apex may have other name servers than the service's own, which are these. */
  readonly foreignNameServers: boolean;
  readonly nameServers: readonly string[];
}

/** A file that is not a zone file has a problem on each line; the first ones are enough. */
const PROBLEMS_MAX = 50;
/** Lines of a report. */
export const REPORT_LINES_MAX = 1_000;
/** Records or characters per tick: about a millisecond of work, and several before the code is compiled. */
const SLICE_RECORDS = 50;
const SLICE_CHARACTERS = 4_096;

/** Reads a zone file as records, each validated individually, and keeps them up to the limit. */
export async function readZoneFile(text: string, scene: ImportContext, limit?: ChunkBound): Promise<ReadZoneFile> {
  let entries: Map<string, ImportEntry> | null = new Map();
  const problems: ImportProblem[] = [];
  const clamped: ImportEntry[] = [];
  const ignored: number[] = [];
  let parsed = 0;
  const isSliceOver = createSlices();
  for (const [item, end] of importItems(text, scene)) {
    if (isSliceOver(end)) await backgroundTurn();
    if (!("error" in item)) parsed += 1;
    if ("own" in item) {
      if (ignored.length < REPORT_LINES_MAX) ignored.push(item.line);
      continue;
    }
    if ("error" in item) {
      if (problems.length < REPORT_LINES_MAX) problems.push(item);
      if (scene.onError !== "skip" && problems.length >= PROBLEMS_MAX) break;
      continue;
    }
    if (item.clamped !== "" && clamped.length < REPORT_LINES_MAX) clamped.push(item);
    if (entries !== null) {
      const isNew = !entries.has(item.key);
      if (isNew) entries.set(item.key, item);
      if (isNew && limit?.add(item.record) === true) entries = null;
    }
  }
  return { entries: entries && [...entries.values()], parsed, problems, clamped, ignored };
}

/**
 * The records of a file in chunks, including duplicates. Throws if a line is invalid, unless such lines are skipped.
 */
export async function* importChunks(
  text: string,
  scene: ImportContext,
  bound = createChunkBound(),
): AsyncGenerator<readonly ImportEntry[]> {
  let piece: ImportEntry[] = [];
  const isSliceOver = createSlices();
  for (const [item, end] of importItems(text, scene)) {
    if (isSliceOver(end)) await backgroundTurn();
    if ("own" in item) continue;
    if ("error" in item) {
      if (scene.onError === "skip") continue;
      throw refusal([item]);
    }
    piece.push(item);
    if (!bound.add(item.record)) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Call for each item with the number of characters read so far. */
function createSlices(): (end: number) => boolean {
  let items = 0;
  let from = 0;
  return (end) => {
    if (++items < SLICE_RECORDS && end - from < SLICE_CHARACTERS) return false;
    [items, from] = [0, end];
    return true;
  };
}

/** The error of an import, with the first lines that cannot be imported. */
export function refusal(problems: readonly ImportProblem[]): PlatformError {
  const sorted = problems.toSorted((a, b) => a.line - b.line).slice(0, PROBLEMS_MAX);
  const chain = sorted.map(({ line, error }): ErrorItem => ({ code: error.code, message: `Line ${line}: ${error.message}` }));
  // Reading stops at the limit, so the total is unknown.
  const isCut = problems.length >= PROBLEMS_MAX;
  const others = isCut
    ? ` At least ${chain.length - 1} more cannot be imported either; error_chain lists the first ${chain.length}.`
    : ` ${chain.length - 1} more cannot be imported either; error_chain lists them.`;
  const more = chain.length === 1 ? "" : others;
  return new PlatformError("dns_zone_file_invalid", { message: `${chain[0]?.message}${more}`, chain });
}

/** A record that the service itself creates. */
interface OwnRecord {
  readonly line: number;
  readonly own: true;
}

/** The import entry of each record of the file, and the number of characters read. */
function* importItems(text: string, scene: ImportContext): Generator<readonly [ImportEntry | ImportProblem | OwnRecord, number]> {
  for (const item of zoneFileItems(text, { origin: scene.zone.name })) {
    if (item.kind === "error") {
      const { line, message } = item.error;
      yield [{ line, error: new PlatformError("dns_zone_file_invalid", { message }) }, item.end];
    } else if (item.kind === "skipped") yield [{ line: item.line, own: true }, item.end];
    else yield [isOwn(item.record, scene) ? { line: item.record.line, own: true } : readEntry(item.record, scene), item.end];
  }
}

export const entryKey = (name: string, identity: string): string => `${name} ${identity}`;

function readEntry(read: ZoneFileRecord, scene: ImportContext): ImportEntry | ImportProblem {
  const { line } = read;
  const record = withFinalDot(read.type, read);
  try {
    const whole = writeOf(record, scene);
    const { write, changes } = scene.onError === "refuse" ? { write: whole, changes: [] } : limitedRecord(whole, planOf(scene.zone.plan));
    const prepared = prepareRecord(write, scene.zone, { ...scene.policy, names: "any" }, contentOf(record));
    return { line, key: entryKey(prepared.name, identityOf(prepared)), record: prepared, clamped: changes.join(" ") };
  } catch (error) {
    if (error instanceof PlatformError) return { line, error };
    throw error;
  }
}

/** The content from the file, which may have no equivalent in the API. */
const contentOf = ({ type, content, data, priority, rdata }: ZoneFileRecord): Partial<PreparedRecord> => ({
  ...{ type, content, priority },
  data: data === null ? null : JSON.stringify(data),
  rdata: Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength).toString("base64"),
});

function writeOf(record: ZoneFileRecord, { proxied, policy }: ImportContext): DnsRecordWrite {
  const { type, content, data, priority } = record;
  const attributes = readAttributes(record.comment);
  return {
    // The dollar sign must be escaped in zone files, but not in the API.
    name: record.name.replaceAll("\\$", "$"),
    type,
    ...(data === null ? { content } : { data: { ...data } }),
    ...(priority === null ? {} : { priority }),
    ttl: record.ttl ?? TTL_AUTOMATIC,
    proxied: attributes.proxied ?? (proxied && isProxiable(type, content, policy)),
    comment: attributes.comment,
    tags: [...attributes.tags],
    settings: attributes.settings,
  };
}

/** SPEC 2.3: SOA, the apex's NS and DNSSEC records are the service's own. */
function isOwn({ name, type, content }: ZoneFileRecord, scene: ImportContext): boolean {
  if (recordTypeOf(type)?.generated) return true;
  if (type !== "NS" || name.toLowerCase() !== scene.zone.name) return false;
  return !scene.foreignNameServers || scene.nameServers.includes(content.toLowerCase());
}
