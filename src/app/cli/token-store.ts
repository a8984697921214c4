import { DatabaseSync } from "node:sqlite";
import { type Access, createAccess } from "#control/access/access.ts";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { MIGRATIONS } from "#store/database/migrate.ts";
import { databaseExists } from "#store/database/inspect.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { withoutCredentials } from "#app/config/config-formats.ts";
import { type Config, databaseUrl } from "#app/config/config.ts";
import { DataDirectoryBusy, lockDataDirectory } from "#app/control/data-lock.ts";
import { readNodeState } from "#app/fleet/node-state.ts";
import { CliError } from "./outcome.ts";

export interface TokenWork {
  readonly store: Store;
  readonly access: Access;
  /** A sentence about when servers apply the change; empty if none runs. */
  readonly whenHeeded: string;
}

/**
 * Works on tokens directly in the database: a user who can read the data directory can do anything anyway. A running
 * server notices the change like one of another node. Without a running server, none can start meanwhile. Failures become
 * a CliError.
 */
export async function withTokens<T>(config: Config, work: (deps: TokenWork) => Promise<T>): Promise<T> {
  const url = databaseUrl(config);
  let store: Store | undefined;
  let access: Access | undefined;
  let lock: ReturnType<typeof lockDataDirectory> | null = null;
  try {
    // A database elsewhere may have servers on other machines, whose directories are not here.
    const isOwn = config.database.url === "";
    const node = isOwn ? readNodeState(config.data) : null;
    if (node !== null)
      throw new CliError(`${config.data} is that of the node ${node.name}, which has no database: use a machine with the role control`);
    if (!(await databaseExists(url)))
      throw new CliError(
        `the database at ${withoutCredentials(url)} does not exist; start the server once, or set its location with --data or --database-url`,
      );
    lock = isOwn ? lockIfFree(config.data) : null;
    if (isOwn && lock === null) refuseOtherVersion(url);
    store = await openStore({ url, clock: systemClock });
    access = createAccess({ store, clock: systemClock, sealer: null });
    return await work({ store, access, whenHeeded: lock === null ? "Running servers apply this within a second." : "" });
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof PlatformError || error instanceof Error) throw new CliError(error.message);
    throw error;
  } finally {
    access?.close();
    await store?.close();
    lock?.release();
  }
}

function lockIfFree(dataDir: string): ReturnType<typeof lockDataDirectory> | null {
  try {
    return lockDataDirectory(dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryBusy) return null;
    throw error;
  }
}

/** A program that is newer than the running server would change its tables. */
function refuseOtherVersion(url: string): void {
  const db = new DatabaseSync(url.slice("sqlite:".length), { readOnly: true });
  try {
    const row = db.prepare("SELECT max(version) AS version FROM schema_migrations").get();
    if (Number(row?.["version"]) !== MIGRATIONS.at(-1)?.version)
      throw new CliError("the server that runs on this database has another version; stop it first, or use the same version of selvedge");
  } finally {
    db.close();
  }
}
