import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { checkLastGood, lastGoodPosition, type LastGoodFiles } from "#snapshot/last-good/last-good.ts";
import { openKeyFile } from "#store/database/key-file.ts";
import { DatabaseFault } from "#store/database/database-fault.ts";
import { dialectOf } from "#store/database/backends/backend.ts";
import type { Store } from "#store/database/store.ts";
import type { Closing } from "#app/operations/disposables.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { databaseUrl } from "#app/config/config.ts";
import { lockDataDirectory } from "./data-lock.ts";
import { createLazyDatabase } from "./lazy-database.ts";
import { type DatabaseDeps, inspectedDatabase, openDatabase } from "./open-database.ts";
import { refuseUnsafeBinds } from "#app/config/bind-safety.ts";
import { refuseUnfinishedRestore } from "./unfinished-restore.ts";
import { planeFiles, type PlaneFiles } from "#app/planes/plane-files.ts";
import { readTls, type Tls } from "#app/config/tls-files.ts";

/** State that outlives the process, opened for this process only. */
export interface State {
  readonly tls: Tls;
  readonly files: PlaneFiles;
  readonly lastGood: LastGoodFiles | null;
  readonly sealer: Sealer;
  readonly store: Store;
  readonly ca: LocalCa | null;
  /** The account of the first start; the token only until a start has printed it. Empty while it is unknown. */
  readonly first: { readonly account_id: string; readonly token: string | null };
  /** Whether the database was unusable: planes serve the last good copy, and it joins when it becomes usable. */
  readonly isLate: boolean;
  /** Does the work, or defers it until the database is usable. */
  withDatabase(work: () => Promise<void>): Promise<void>;
}

/** Throws, without changes, if the configuration, the directory or the database is not suitable. */
export async function openState(
  { config, clock, log, newInstallation }: ComposeDeps,
  followClock: DatabaseDeps["followClock"],
  closing: Closing,
): Promise<State> {
  const tls = readTls(config.tls);
  const lock = lockDataDirectory(config.data);
  closing.add(() => lock.release());
  refuseUnfinishedRestore(config.data);
  const files = planeFiles(config.data);
  const lastGood = await checkLastGood(files.lastGood, (level, message, fields) => log[level](fields ?? {}, message));
  const deps: DatabaseDeps = { config, clock, log, followClock, newInstallation, files, lastGood: lastGood && lastGoodPosition(lastGood) };
  const known = { tls, files, lastGood };
  try {
    const { exists } = await inspectedDatabase(deps);
    const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: exists }));
    const opened = await openDatabase(deps, sealer);
    closing.add(() => opened.store.close());
    return { ...known, sealer, ...opened, isLate: false, withDatabase: (work) => work() };
  } catch (error) {
    // Without a copy the server has no data meanwhile, and the configuration is probably wrong.
    if (!(error instanceof DatabaseFault) || lastGood === null) throw error;
    // The database's own checks follow when it joins; until then the API accepts no client.
    refuseUnsafeBinds(config, false);
    const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: true }));
    const open = async () => {
      await inspectedDatabase(deps);
      return openDatabase(deps, sealer);
    };
    const late = createLazyDatabase({ dialect: dialectOf(databaseUrl(config)), fault: error, log, open });
    closing.add(() => late.close());
    late.start();
    const { store, ca } = late;
    const first = { account_id: "", token: null };
    return { ...known, sealer, store, ca, first, isLate: true, withDatabase: async (work) => late.onJoined(work) };
  }
}
