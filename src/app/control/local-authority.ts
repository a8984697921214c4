import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLocalCa, createRoot, type LocalCa, type RootPair } from "#acme/local-ca.ts";
import { isoMicros, type Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "#store/database/store.ts";

const SECRET_NAME = "local-ca-root";
const SECRET_CONTEXT = `secret:${SECRET_NAME}`;

/**
 * The installation's own certificate authority: created at the first start, with its key sealed in the database. The root
 * certificate is written to `ca.pem` for clients to trust.
 */
export async function openLocalAuthority(deps: {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly dataDir: string;
}): Promise<LocalCa> {
  const { store, sealer, clock, dataDir } = deps;
  const load = async (): Promise<RootPair | null> => {
    const row = await store.read.selectFrom("secrets").select("value").where("name", "=", SECRET_NAME).executeTakeFirst();
    return row ? (JSON.parse(sealer.open(row.value, SECRET_CONTEXT).toString("utf8")) as RootPair) : null;
  };
  let root = await load();
  if (root === null) {
    const made = await createRoot(clock);
    const row = { name: SECRET_NAME, value: sealer.seal(JSON.stringify(made), SECRET_CONTEXT), created_on: isoMicros(clock.nowMicros()) };
    // Two control nodes may start on one database at once: the first row stays.
    await store.write((unit) =>
      unit.db
        .insertInto("secrets")
        .values(row)
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute(),
    );
    root = await load();
  }
  if (root === null) throw new Error("the local certificate authority could not be stored");
  keepRootCertificate(join(dataDir, "ca.pem"), root.certificate);
  return createLocalCa({ root, clock });
}

/** Clients trust this file, so a full disk must not leave a partial one. */
function keepRootCertificate(path: string, certificate: string): void {
  if (existsSync(path) && readFileSync(path, "utf8") === certificate) return;
  const aside = `${path}.new`;
  try {
    writeFileSync(aside, certificate, { mode: 0o644 });
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}
