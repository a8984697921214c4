import { backgroundTurn } from "#kernel/background-turn.ts";
import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { type ErrorItem, PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { type Actor, type Call, systemActor } from "#control/call.ts";
import { inOrder } from "./import-report.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsImport, ImportLine, OnError } from "#model/dns/dns-import.ts";
import {
  type DnsImportJobRow,
  forgetImportJobs,
  importFilePart,
  importJob,
  importJobsOfZone,
  insertImportFilePart,
  insertImportJob,
  openImportJobs,
  updateImportJob,
} from "#store/dns/dns-import-jobs.ts";
import { removeImportFile } from "#store/database/removals.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/**
 * Large imports as jobs: each has an id, reports its progress, and continues without its caller. Its file is stored until
 * the end; if the process ends before, the next one undoes the written records and imports the file again.
 */
export interface ImportJobs {
  /** Stores the file and starts as soon as possible. Throws `dns_imports_too_many` if the account has too many pending jobs. */
  submit(
    call: Call,
    zone: PlannedZoneRef,
    file: string,
    options: { readonly proxied: boolean; readonly onError: OnError; readonly total: number; readonly report: readonly ImportLine[] },
  ): Promise<DnsImport>;
  /** Resolves to the number of added records; rejects if the job failed. Only in the process that runs the job. */
  finished(id: string): Promise<number>;
  /** Throws `dns_import_not_found`. */
  get(zone: PlannedZoneRef, id: string): Promise<DnsImport>;
  /** The most recent jobs, newest first. */
  list(zone: PlannedZoneRef): Promise<readonly DnsImport[]>;
  /** Starts pending jobs and those that another process abandoned; returns their number. */
  resume(): Promise<number>;
}

/** Runs a job and returns the number of added records. */
export type RunImport = (
  call: Call,
  zone: PlannedZoneRef,
  file: string,
  options: { readonly proxied: boolean; readonly onError: OnError; readonly onChunk: (unit: Unit, records: number) => Promise<void> },
) => Promise<{ readonly added: number; readonly report: readonly ImportLine[] }>;

export interface ImportJobsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly run: RunImport;
}

/** Running jobs per account, and per process: each delays other writes by one chunk at a time. */
const RUNNING_OF_ACCOUNT_MAX = 1;
const RUNNING_MAX = 2;
const OPEN_OF_ACCOUNT_MAX = 5;
const KEPT_OF_ZONE = 20;
const PART_CHARACTERS = 256 * 1024;
/** As for their changes (large-change.ts): a job without progress for this long is abandoned. */
const ABANDONED_MS = 60_000;

export function createImportJobs({ store, clock, run }: ImportJobsDeps): ImportJobs {
  const now = (): string => isoMicros(clock.nowMicros());
  /** Calls of this process that started jobs, whose responses wait for revisions. */
  const calls = new Map<string, Call>();
  const waiting = new Map<string, PromiseWithResolvers<number>>();
  const running = new Map<string, string>();
  const startedOn = store.dialect === "sqlite" ? now() : "";

  /** `row.status`: the state that the caller has seen; if the job has left it, nothing changes. */
  const end = (row: Pick<DnsImportJobRow, "id" | "zone_id" | "status">, values: Partial<DnsImportJobRow>): Promise<unknown> =>
    store.write(async ({ db }) => {
      if (!(await updateImportJob(db, row.id, [row.status], { ...values, finished_on: now(), touched_on: now() }))) return;
      await removeImportFile(db, row.id, now());
      await forgetImportJobs(db, row.zone_id, KEPT_OF_ZONE);
    });

  const runOne = async (row: DnsImportJobRow): Promise<void> => {
    try {
      const zone = await zoneRowById(store.read, row.zone_id);
      if (zone === undefined) throw new PlatformError("zone_not_found");
      const call = calls.get(row.id) ?? storedCall(row);
      const onChunk = async ({ db }: Unit, records: number): Promise<void> => {
        await updateImportJob(db, row.id, ["running"], { records, touched_on: now() });
      };
      const options = { proxied: row.proxied === 1, onError: row.on_error as OnError, onChunk };
      const { added, report } = await run(call, zone, await readFile(store, row.id), options);
      const lines = inOrder([...reportOf(row), ...report]);
      await end({ ...row, status: "running" }, { status: "done", records: row.total, added, report: JSON.stringify(lines) });
      waiting.get(row.id)?.resolve(added);
    } catch (error) {
      await end({ ...row, status: "running" }, { status: "failed", error: JSON.stringify(errorsOf(error)) }).catch(() => {});
      waiting.get(row.id)?.reject(error);
    }
  };

  const start = async (): Promise<number> => {
    let started = 0;
    for (const row of await openImportJobs(store.read)) {
      const isLeft = row.touched_on < startedOn || row.touched_on < isoMicros(clock.nowMicros() - ABANDONED_MS * 1000);
      if (row.status === "receiving") {
        if (isLeft) await end(row, { status: "failed", error: JSON.stringify([NEVER_STORED]) });
        continue;
      }
      if (running.size >= RUNNING_MAX) break;
      if (running.has(row.id) || countOf(running.values(), row.account_id) >= RUNNING_OF_ACCOUNT_MAX) continue;
      if (row.status === "running" && !isLeft) continue;
      running.set(row.id, row.account_id);
      const claimed = await store.write(({ db }) =>
        updateImportJob(db, row.id, [row.status], { status: "running", touched_on: now(), records: 0 }),
      );
      if (!claimed.result) {
        running.delete(row.id);
        continue;
      }
      started += 1;
      void runOne(row).finally(() => {
        running.delete(row.id);
        calls.delete(row.id);
        waiting.delete(row.id);
        void start().catch(() => {});
      });
    }
    return started;
  };

  return {
    submit: async (call, zone, file, { proxied, onError, total, report }) => {
      const { type, id, name, user_id, ip } = call.actor;
      const row: DnsImportJobRow = {
        id: newId(),
        zone_id: zone.id,
        account_id: zone.account_id,
        // The job cannot start before its file is complete.
        status: "receiving",
        proxied: proxied ? 1 : 0,
        total,
        records: 0,
        added: 0,
        actor: JSON.stringify({ type, id, name, user_id, ip }),
        reason: call.reason ?? null,
        error: null,
        on_error: onError,
        report: JSON.stringify(report),
        created_on: now(),
        touched_on: now(),
        finished_on: null,
      };
      await store.write(async ({ db }) => {
        const open = (await openImportJobs(db)).map(({ account_id }) => account_id);
        if (countOf(open, zone.account_id) >= OPEN_OF_ACCOUNT_MAX) throw new PlatformError("dns_imports_too_many");
        await insertImportJob(db, row);
      });
      let part = 0;
      for (let at = 0; at < file.length; at += PART_CHARACTERS)
        await store.write(
          async ({ db }) => {
            if (!(await updateImportJob(db, row.id, ["receiving"], { touched_on: now() }))) throw new PlatformError("dns_import_not_found");
            await insertImportFilePart(db, row.id, part++, file.slice(at, at + PART_CHARACTERS));
          },
          { bulkOf: zone.account_id },
        );
      calls.set(row.id, call);
      const outcome = Promise.withResolvers<number>();
      // A caller that does not wait learns of a failure from the job's status.
      outcome.promise.catch(() => {});
      waiting.set(row.id, outcome);
      await store.write(({ db }) => updateImportJob(db, row.id, ["receiving"], { status: "queued", touched_on: now() }));
      await start();
      return jobView((await importJob(store.read, zone.id, row.id)) ?? { ...row, status: "queued" });
    },
    finished: (id) => waiting.get(id)?.promise ?? Promise.reject(new PlatformError("dns_import_not_found")),
    get: async (zone, id) => {
      const row = await importJob(store.read, zone.id, id);
      if (row === undefined) throw new PlatformError("dns_import_not_found");
      return jobView(row);
    },
    list: async (zone) => (await importJobsOfZone(store.read, zone.id, KEPT_OF_ZONE)).map(jobView),
    resume: start,
  };
}

const countOf = (accounts: Iterable<string>, account: string): number => [...accounts].filter((one) => one === account).length;

async function readFile(store: Store, jobId: string): Promise<string> {
  const parts: string[] = [];
  for (;;) {
    const part = await importFilePart(store.read, jobId, parts.length);
    if (part === undefined) return parts.join("");
    parts.push(part);
    await backgroundTurn();
  }
}

/** The history shows who requested the import; permissions were checked at that time. */
function storedCall({ id, actor, reason }: DnsImportJobRow): Call {
  const stored = JSON.parse(actor) as Pick<Actor, "type" | "id" | "name" | "user_id" | "ip">;
  return { actor: { ...systemActor(id), ...stored }, request_id: id, rev: null, ...(reason === null ? {} : { reason }) };
}

const errorsOf = (error: unknown): readonly ErrorItem[] =>
  error instanceof PlatformError
    ? [{ code: error.code, message: error.message }, ...(error.chain ?? [])]
    : [{ code: 10000, message: "An internal error occurred; see the server's log. You can import the file again." }];

const NEVER_STORED: ErrorItem = {
  code: 10000,
  message: "The server stopped before it had stored the whole file, so it imported nothing. Import the file again.",
};

const reportOf = ({ report }: Pick<DnsImportJobRow, "report">): readonly ImportLine[] =>
  report === null ? [] : (JSON.parse(report) as readonly ImportLine[]);

const jobView = (row: DnsImportJobRow): DnsImport => ({
  id: row.id,
  status: row.status as DnsImport["status"],
  total_records_parsed: row.total,
  records_done: row.records,
  recs_added: row.added,
  errors: row.error === null ? [] : (JSON.parse(row.error) as DnsImport["errors"]),
  report: [...reportOf(row)],
  created_on: row.created_on,
  finished_on: row.finished_on,
});
