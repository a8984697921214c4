import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { BodyReader } from "./body-source.ts";
import { createDiskSource } from "./disk-source.ts";
import { onDisk } from "./disk-files.ts";
import { createDiskStore, type DiskStore } from "./disk-store.ts";
import type { DiskWriter } from "./disk-writer.ts";
import { createResponseStore } from "./response-store.ts";
import { secondaryKey, type RequestFields } from "#edge/cache/key/secondary-key.ts";
import { type RequestKey, StoredResponse } from "./stored-response.ts";
import { chunkFrom } from "#edge/http/body-buffer.ts";

/** Storage for responses: in memory, and also on disk for large ones and those requested again. */
export interface TieredStore {
  readonly objectBytesMax: number;
  /** 0 without a disk cache. */
  readonly diskObjectBytesMax: number;
  /** The newest of the responses that the request selects (RFC 9111 §4.1), preferably from memory. */
  find(asked: RequestKey, request: RequestFields): StoredResponse | null;
  keep(response: StoredResponse): void;
  /** The response was served from memory. */
  used(response: StoredResponse): void;
  drop(response: StoredResponse): void;
  dropKey(key: string): void;
  renew(stale: StoredResponse, next: StoredResponse): void;
  writer(): DiskWriter | null;
  keepWritten(writer: DiskWriter, describeAs: (length: number) => StoredResponse): void;
  /** Loads a body from disk into memory; null if a checksum is wrong. */
  fetch(response: StoredResponse): Promise<StoredResponse | null>;
  /** Answers with a body on disk; calls `respond` once its first block is verified. */
  open(response: StoredResponse, reader: BodyReader, respond: Respond): void;
  sweep(isGone: (response: StoredResponse) => boolean): void;
  notePurges(zoneId: string, count: number): void;
  measure(): void;
  close(): Promise<void>;
}

export type Respond = (source: { from(offset: number): Buffer | null }) => void;

export interface TieredStoreDeps {
  readonly memoryBytesMax: number;
  readonly disk: { readonly directory: string; readonly bytesMax: number } | null;
  readonly metrics: MetricRegistry;
  /** `written`: number of recorded purges of the zone. */
  isPurged(response: StoredResponse, written: number): boolean;
  onError(error: unknown): void;
}

/** Share of the memory limit for one body, and for the index of responses on disk. */
const OBJECT_SHARE = 1 / 8;
const INDEX_SHARE = 1 / 4;

export function createTieredStore(deps: TieredStoreDeps): TieredStore {
  const { memoryBytesMax, metrics, isPurged } = deps;
  const faults = metrics.counter("selvedge_edge_cache_disk_faults_total", "Failed reads and writes of cache files");
  const onError = (error: unknown): void => {
    // A full disk fails each write, so only the first failure is reported; the cache continues in memory.
    if (faults.value++ === 0) deps.onError(error);
  };
  const disk = openDisk({ ...deps, onError });
  const memory = createResponseStore([
    { max: disk === null ? memoryBytesMax : memoryBytesMax * (1 - INDEX_SHARE), weightOf: ({ weight }) => weight },
  ]);
  const gauges = {
    memory: metrics.gauge("selvedge_edge_cache_memory_bytes", "Memory used by cached responses, in bytes"),
    disk: metrics.gauge("selvedge_edge_cache_disk_bytes", "Disk space used by cached responses, in bytes"),
    responses: metrics.gauge("selvedge_edge_cache_responses", "Cached responses in memory"),
    files: metrics.gauge("selvedge_edge_cache_files", "Cached responses on disk"),
  };
  const keep = (response: StoredResponse): void => {
    disk?.removeSame(response);
    memory.put(response);
  };

  return {
    objectBytesMax: memoryBytesMax * OBJECT_SHARE,
    diskObjectBytesMax: disk?.objectBytesMax ?? 0,
    find: (asked, request) =>
      select(memory.find(asked.key), asked, request) ?? (disk === null ? null : select(disk.find(asked.key), asked, request)),
    keep,
    used: (response) => {
      response.visited = true;
      // A response that is requested only once is not worth writing.
      if (disk !== null && !response.isSaved) disk.save(response);
    },
    drop: (response) => {
      // Each store knows only its own responses.
      if (response.file === null) memory.remove(response);
      disk?.removeSame(response);
    },
    dropKey: (key) => {
      for (const response of memory.find(key)) memory.remove(response);
      for (const response of disk?.find(key) ?? []) disk?.remove(response);
    },
    renew: (stale, next) => {
      if (next.file !== null) return disk?.describeAnew(stale, next);
      memory.remove(stale);
      keep(next);
    },
    writer: () => disk?.writer() ?? null,
    keepWritten: (writer, describeAs) => {
      let described: StoredResponse | null = null;
      void writer
        .finish((length) => (described = describeAs(length)))
        .then((written) => {
          if (written === null || described === null) return;
          const response = onDisk(described, written.id, written.checks, written.described);
          disk?.put(response);
          if (isPurged(response, 0)) disk?.remove(response);
          else for (const older of memory.find(response.asked.key)) if (isSame(older, response)) memory.remove(older);
        })
        .catch(onError);
    },
    fetch: async (response) => {
      const body = (await disk?.load(response)) ?? null;
      if (body === null) return null;
      const warm = new StoredResponse(response.asked, response.reason, response, response.secondary, response.length);
      warm.body = body;
      warm.isSaved = true;
      // It may have been purged or replaced while it was read.
      if (response.isStored) memory.put(warm);
      return warm;
    },
    open: (response, reader, respond) => {
      if (response.file === null || disk === null) return respond({ from: (offset) => chunkFrom(response.body, offset) });
      const broken = (): void => disk.remove(response);
      const source = createDiskSource(
        disk.directory,
        response,
        () => reader.pump(),
        () => {
          broken();
          reader.cut();
        },
      );
      response.visited = true;
      void source
        .prepare(0)
        .then((isGood) => {
          if (isGood) return respond(source);
          broken();
          source.close();
          reader.goAlone();
        })
        .catch(onError);
    },
    sweep: (isGone) => {
      memory.sweep(isGone);
      disk?.sweep(isGone);
    },
    notePurges: (zoneId, count) => disk?.notePurges(zoneId, count),
    measure: () => {
      gauges.memory.value = memory.used;
      gauges.responses.value = memory.size;
      gauges.disk.value = disk?.bytes ?? 0;
      gauges.files.value = disk?.size ?? 0;
    },
    close: async () => disk?.close(),
  };
}

/** Without a usable directory, the cache uses memory only. */
function openDisk({ disk, memoryBytesMax, isPurged, onError }: TieredStoreDeps): DiskStore | null {
  if (disk === null || disk.bytesMax === 0) return null;
  try {
    return createDiskStore({ ...disk, indexBytesMax: memoryBytesMax * INDEX_SHARE, isGone: isPurged, onError });
  } catch (error) {
    onError(error);
    return null;
  }
}

function select(responses: readonly StoredResponse[], { apart }: RequestKey, request: RequestFields): StoredResponse | null {
  for (const response of responses) {
    if (response.asked.apart !== apart) continue;
    if (response.vary.length === 0 || secondaryKey(response.vary, request) === response.secondary) return response;
  }
  return null;
}

const isSame = (one: StoredResponse, other: StoredResponse): boolean =>
  one.asked.apart === other.asked.apart && one.secondary === other.secondary;
