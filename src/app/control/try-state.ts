import { createSealer } from "#kernel/crypto/seal.ts";
import { basePosition } from "#snapshot/last-good/base-file.ts";
import { openKeyFile, requireOwnKey } from "#store/database/key-file.ts";
import { refuseNewer } from "#store/database/migrate.ts";
import { refuseUnsafeBinds } from "#app/config/bind-safety.ts";
import { readTls } from "#app/config/tls-files.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { inspectedDatabase } from "./open-database.ts";
import { refuseUnfinishedRestore } from "./unfinished-restore.ts";

/**
 * Throws what `openState` would throw for this configuration, directory and database, while another process still uses
 * them. Changes nothing. A database that cannot be read is refused too: the process before has what this one would lack.
 */
export async function tryState({ config, newInstallation }: Pick<ComposeDeps, "config" | "newInstallation">): Promise<void> {
  readTls(config.tls);
  refuseUnfinishedRestore(config.data);
  const files = planeFiles(config.data);
  const lastGood = await basePosition(files.lastGood);
  const { exists, schema, keyCheck, hasFirstToken } = await inspectedDatabase({ config, newInstallation, files, lastGood });
  refuseNewer(schema);
  if (!exists) return;
  const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: true }));
  if (keyCheck !== null) requireOwnKey(sealer, keyCheck);
  refuseUnsafeBinds(config, hasFirstToken);
}
