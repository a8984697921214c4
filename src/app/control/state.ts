import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { checkLastGood, lastGoodPosition, type LastGoodFiles } from "#snapshot/last-good/last-good.ts";
import { openKeyFile } from "#store/database/key-file.ts";
import { DatabaseFault, dialectOf } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import type { Closing } from "#app/operations/disposables.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { databaseUrl } from "#app/config/config.ts";
import { lockDataDirectory } from "./data-lock.ts";
import { createLateDatabase } from "./lazy-database.ts";
import { type DatabaseDeps, inspectedDatabase, openDatabase, refuseUnsafeBinds } from "./open-database.ts";
import { planeFiles, type PlaneFiles } from "#app/planes/plane-files.ts";
import { readTls, type Tls } from "#app/config/tls-files.ts";

/** What outlives the process, opened for this one alone. */
export interface State {
  readonly tls: Tls;
  readonly files: PlaneFiles;
  readonly lastGood: LastGoodFiles | null;
  readonly sealer: Sealer;
  readonly store: Store;
  readonly ca: LocalCa | null;
  /** The account of the first start; the token only until a start has shown it. Empty while nobody can know. */
  readonly first: { readonly account_id: string; readonly token: string | null };
  /** Whether the database could not be used: planes serve the last good copy, and it joins when it is there. */
  readonly isLate: boolean;
  /** Does the work, or has it done once the database is there. */
  withDatabase(work: () => Promise<void>): Promise<void>;
}

/** Throws, before anything is changed, where the configuration, the directory or the database is not fit. */
export async function openState({ config, clock, log, newInstallation }: ComposeDeps, closing: Closing): Promise<State> {
  const tls = readTls(config.tls);
  const lock = lockDataDirectory(config.data);
  closing.add(() => lock.release());
  const files = planeFiles(config.data);
  const lastGood = await checkLastGood(files.lastGood, (level, message, fields) => log[level](fields ?? {}, message));
  const deps: DatabaseDeps = { config, clock, log, newInstallation, files, lastGood: lastGood && lastGoodPosition(lastGood) };
  const known = { tls, files, lastGood };
  try {
    const { exists } = await inspectedDatabase(deps);
    const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: exists }));
    const opened = await openDatabase(deps, sealer);
    closing.add(() => opened.store.close());
    return { ...known, sealer, ...opened, isLate: false, withDatabase: (work) => work() };
  } catch (error) {
    // Without a copy there is nothing to serve meanwhile, and most likely a mistake in the configuration.
    if (!(error instanceof DatabaseFault) || lastGood === null) throw error;
    // What the database knows of it is asked when it joins; until then the API admits nobody.
    refuseUnsafeBinds(config, false);
    const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: true }));
    const open = async () => {
      await inspectedDatabase(deps);
      return openDatabase(deps, sealer);
    };
    const late = createLateDatabase({ dialect: dialectOf(databaseUrl(config)), fault: error, log, open });
    closing.add(() => late.close());
    late.start();
    const { store, ca } = late;
    const first = { account_id: "", token: null };
    return { ...known, sealer, store, ca, first, isLate: true, withDatabase: async (work) => late.onJoined(work) };
  }
}
