import { existsSync } from "node:fs";
import { basename } from "node:path";
import { bootstrap, type Bootstrapped, type IgnoredPreset } from "#control/access/bootstrap.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { NO_HISTORY } from "#snapshot/last-good/base-file.ts";
import type { Position } from "#snapshot/feed.ts";
import { isSameInstallation } from "#store/database/history.ts";
import { verifyKey } from "#store/database/key-file.ts";
import { DatabaseFault } from "#store/database/database-fault.ts";
import { type DatabaseState, inspectDatabase } from "#store/database/inspect.ts";
import { dialectOf } from "#store/database/backends/backend.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { hasBootstrapToken } from "#store/access/tokens.ts";
import { refuseUnsafeBinds } from "#app/config/bind-safety.ts";
import type { ComposeDeps } from "./compose-deps.ts";
import { databaseUrl, type Config } from "#app/config/config.ts";
import { withoutCredentials } from "#app/config/config-formats.ts";
import { presets } from "./control-config.ts";
import { openLocalAuthority } from "./local-authority.ts";
import type { PlaneFiles } from "#app/planes/plane-files.ts";

export interface OpenedDatabase {
  readonly store: Store;
  readonly ca: LocalCa;
  /** The account of the first start; the token only until a start has printed it. */
  readonly first: Bootstrapped;
}

export interface DatabaseDeps extends InspectionDeps, Pick<ComposeDeps, "clock" | "log"> {
  /** Called with the open database before anything is written. */
  followClock(store: Store): Promise<void>;
}

export interface InspectionDeps extends Pick<ComposeDeps, "config" | "newInstallation"> {
  readonly files: PlaneFiles;
  /** Position of the last good copy; null without one. */
  readonly lastGood: Position | null;
}

/**
 * Inspects the database without changing it. Throws if it does not belong to the data directory, and DatabaseFault if it
 * is unusable or older than the served data.
 */
export async function inspectedDatabase({ config, files, lastGood, newInstallation }: InspectionDeps): Promise<DatabaseState> {
  const url = databaseUrl(config);
  const state = await inspectDatabase(url).catch((error: unknown) => {
    throw advised(error, config, lastGood);
  });
  const where = withoutCredentials(url);
  const used = [files.lastGood, files.sealKey, files.events].filter((file) => existsSync(file)).map((file) => basename(file));
  if (!newInstallation && !state.exists && used.length > 0)
    throw new Error(
      `the database at ${where} is missing, although ${config.data} has been used (it contains ${used.join(", ")}). ${WAYS_OUT}${rebuildAdvice(state.isFile, lastGood, config)}`,
    );
  if (lastGood === null || state.position === null) return state;
  const { history, rev } = state.position;
  const isKnown = history !== null && lastGood.history !== NO_HISTORY;
  if (!newInstallation && isKnown && !isSameInstallation(history, lastGood.history))
    throw new Error(`the database at ${where} belongs to another installation than ${config.data}. ${WAYS_OUT}`);
  // A restored server starts a new history. A restored file shows no sign of it.
  if (state.isFile && (!isKnown || history === lastGood.history) && rev < lastGood.rev)
    throw advised(behind(where, config.data, rev, lastGood.rev), config, lastGood);
  return state;
}

const WAYS_OUT =
  "Restore the database from a backup, or set --database-url to the right one. --new-installation starts a new installation here; the planes then stop serving the previous configuration";

/** Advice if no backup of the file exists. */
const rebuildAdvice = (isFile: boolean, lastGood: Position | null, { data }: Config): string =>
  isFile && lastGood !== null
    ? `. Without a backup, rebuild what the last good copy contains with: selvedge doctor --rebuild --data ${data}`
    : "";

/** The fault with further advice. */
function advised(error: unknown, config: Config, lastGood: Position | null): unknown {
  if (!(error instanceof DatabaseFault) || error.absence.fault !== "database_damaged") return error;
  const advice = rebuildAdvice(dialectOf(databaseUrl(config)) === "sqlite", lastGood, config);
  return new DatabaseFault(`${error.message}${advice}`, error.absence, error.cause);
}

const behind = (where: string, dataDir: string, rev: number, served: number): DatabaseFault => {
  const what = `it is at revision ${rev}, but the planes have already served revision ${served}: acknowledged changes are missing`;
  return new DatabaseFault(
    `cannot use the database ${where}: ${what}. Restore it from a newer backup; or, if you restored an older one on purpose, run: selvedge doctor --new-history --data ${dataDir}`,
    { fault: "database_damaged", reason: `${what}; the server's log and selvedge doctor tell the operator what to do` },
  );
};

/** Opens the database for this process only, and fills an empty one at the first start. Throws as `inspectedDatabase` does. */
export async function openDatabase(deps: DatabaseDeps, sealer: Sealer): Promise<OpenedDatabase> {
  const { config, clock, log } = deps;
  const store = await openStore({
    url: databaseUrl(config),
    clock,
    onDamaged: (finding) =>
      log.error(
        { finding },
        "the database is corrupt and read-only; stop the server and restore the database from a backup, or rebuild it with selvedge doctor --rebuild",
      ),
    onReplaced: () =>
      log.error(
        { file: withoutCredentials(databaseUrl(config)) },
        "the file of the database was replaced or removed while the server was running: no change is accepted until a restart; to restore a backup, stop the server first",
      ),
  }).catch((error: unknown) => {
    throw advised(error, config, deps.lastGood);
  });
  try {
    await deps.followClock(store);
    await verifyKey(store, sealer, isoMicros(clock.nowMicros()));
    const first = await bootstrap({ store, clock, sealer, email: config.bootstrap.email, ...presets(config) });
    for (const preset of first.ignored) log[preset.isInUse ? "info" : "warn"]({ key: preset.key }, ignoredText(preset));
    refuseUnsafeBinds(config, await hasBootstrapToken(store.read));
    return { store, first, ca: await openLocalAuthority({ store, sealer, clock, dataDir: config.data }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Containers pass presets at every start. */
const ignoredText = ({ key, isInUse }: IgnoredPreset): string =>
  `${key} is ignored because it applies only to the first start: ${
    isInUse
      ? "the database has this value already"
      : "`selvedge token list` lists the tokens, `selvedge token reset` gives the first one a new secret"
  }`;
