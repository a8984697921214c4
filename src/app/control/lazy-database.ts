import { setTimeout as delay } from "node:timers/promises";
import type { LocalCa } from "#acme/local-ca.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Absence, createLazyStore } from "#store/database/lazy-store.ts";
import { DatabaseFault } from "#store/database/database-fault.ts";
import type { Store } from "#store/database/store.ts";
import type { Log } from "#app/log/log.ts";
import type { OpenedDatabase } from "./open-database.ts";

/** A database that was unusable at the start. All parts are connected to it anyway, and it joins when it becomes usable. */
export interface LazyDatabase {
  readonly store: Store;
  readonly ca: LocalCa;
  /** Runs once the database is usable; a failure is logged. */
  onJoined(work: () => Promise<void>): void;
  /** Starts to try. */
  start(): void;
  close(): Promise<void>;
}

export interface LazyDatabaseDeps {
  readonly dialect: Store["dialect"];
  readonly fault: DatabaseFault;
  readonly log: Log;
  open(): Promise<OpenedDatabase>;
}

const RETRY_MS = 1_000;
/** The same reason is logged again after this many attempts. */
const SAID_EVERY = 60;

export function createLazyDatabase({ dialect, fault, log, open }: LazyDatabaseDeps): LazyDatabase {
  const store = createLazyStore(dialect, fault.absence);
  const works: (() => Promise<void>)[] = [];
  const stopping = new AbortController();
  let ca: LocalCa | null = null;
  let running: Promise<void> | null = null;

  const refused = (error: unknown, tries: number, before: string): string => {
    const reason = error instanceof Error ? error.message : String(error);
    store.setAbsence(error instanceof DatabaseFault ? error.absence : REFUSED);
    if (reason !== before || tries % SAID_EVERY === 0)
      log.error({ reason }, "the database is unavailable; the planes serve the last good copy, the API returns 503; retrying");
    return reason;
  };
  const join = async (opened: OpenedDatabase): Promise<void> => {
    ca = opened.ca;
    store.join(opened.store);
    log.warn({}, "the database is available; the API now accepts requests");
    for (const work of works)
      await work().catch((error: unknown) => log.error({ err: error }, "a task that waited for the database failed"));
  };
  const run = async (): Promise<void> => {
    let said = refused(fault, 0, "");
    for (let tries = 1; !stopping.signal.aborted; tries++) {
      await delay(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        return await join(await open());
      } catch (error) {
        said = refused(error, tries, said);
      }
    }
  };
  return {
    store,
    ca: {
      issue: async (hosts) => {
        if (ca === null) throw new PlatformError("database_unavailable");
        return ca.issue(hosts);
      },
    },
    onJoined: (work) => void works.push(work),
    start: () => {
      running ??= run();
    },
    close: async () => {
      stopping.abort();
      await running;
      await store.close();
    },
  };
}

/** Failures that need the operator; the log has the details. */
const REFUSED: Absence = { fault: "database_unavailable", reason: "the database cannot be used; the server's log states the reason" };
