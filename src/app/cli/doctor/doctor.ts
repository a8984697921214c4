import { existsSync } from "node:fs";
import { systemClock } from "#kernel/clock.ts";
import { checkLastGood, lastGoodPosition } from "#snapshot/last-good/last-good.ts";
import type { DatabaseState } from "#store/database/inspect.ts";
import { refuseNewer } from "#store/database/migrate.ts";
import { openStore } from "#store/database/open.ts";
import { counterServerVersion } from "#wire/redis/counter-server.ts";
import { createClickHouse } from "#events/clickhouse/connection.ts";
import { withoutCredentials } from "#app/config/config-formats.ts";
import { type Config, databaseUrl, loadConfig } from "#app/config/config.ts";
import { readLastBackup } from "#app/backup/last-backup.ts";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import { DataDirectoryBusy, lockDataDirectory } from "#app/control/data-lock.ts";
import { inspectedDatabase } from "#app/control/open-database.ts";
import { wrongIn } from "#app/control/rebuild-database.ts";
import { type NodeState, readNodeState } from "#app/fleet/node-state.ts";
import { clickHouseOf } from "#app/planes/plane-configs.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, columns, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { type Finding, good, wrong } from "./findings.ts";
import { checkBackupDirectory, checkFiles, isReadable } from "./files.ts";
import { checkBackup, checkCertificate, checkClock, checkDisk, checkOpenFiles, checkPermissions } from "./machine.ts";
import { checkBus, checkPorts, checkResolvers } from "./network.ts";
import { rebuild } from "./rebuild.ts";

export interface DoctorOptions {
  /** The database was restored on purpose: the served data is of another history. */
  readonly newHistory?: boolean;
  /** Writes a new database from the last good copy. */
  readonly rebuild?: boolean;
}

const SQLITE = "sqlite:";

/** Checks the files of the data directory while no server uses them, and the machine. Exits 1 if a check fails. */
export async function doctor(
  { newHistory = false, rebuild: isRebuild = false }: DoctorOptions,
  flags: readonly string[],
): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  if (newHistory && isRebuild)
    throw new CliError("use either --new-history, for a database that you restored, or --rebuild, for one that is lost", EXIT.usage);
  if (!existsSync(config.data)) throw new CliError(`the data directory ${config.data} does not exist`);
  const node = nodeOf(config.data);
  if (node !== null && (newHistory || isRebuild))
    throw new CliError(
      `${config.data} is that of the node ${node.name}, which has no database: use the directory of a server with control`,
    );
  const lock = lockOrComplain(config.data, !newHistory && !isRebuild);
  if (lock === null) {
    const server = good("server", "it runs, so its files and ports are not checked");
    return report(config, [server, ...(await machineFindings(config, { exists: true, keyCheck: null }, node))]);
  }
  try {
    if (isRebuild) return await rebuild(config);
    const { findings, database } = await dataFindings(config, newHistory, node);
    return report(config, [...findings, ...(await machineFindings(config, database, node)), ...(await checkPorts(config))]);
  } finally {
    giveToOwner(config.data);
    lock.release();
  }
}

function nodeOf(data: string): NodeState | null {
  try {
    return readNodeState(data);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

function report({ json }: Config, findings: readonly Finding[]): ExitCode {
  const isGood = findings.every((one) => one.isGood);
  const plain = findings.map((one) => ({ what: one.what, finding: one.finding, is_good: one.isGood }));
  print(json, { good: isGood, findings: plain }, columns(findings.map(({ what, finding }) => [what, finding])));
  return isGood ? EXIT.ok : EXIT.failed;
}

interface DataFindings {
  readonly findings: readonly Finding[];
  /** Null if the database cannot be read. */
  readonly database: DatabaseState | null;
}

async function dataFindings(config: Config, newHistory: boolean, node: NodeState | null): Promise<DataFindings> {
  const files = planeFiles(config.data);
  const url = databaseUrl(config);
  const complaints: string[] = [];
  const lastGood = await checkLastGood(files.lastGood, (_level, message, fields) =>
    complaints.push(`${message} ${JSON.stringify(fields)}`),
  );
  const position = lastGood && lastGoodPosition(lastGood);
  const findings: Finding[] = [];
  let database: DatabaseState | null = null;
  const note = (what: string, wrong: string | null, good: string): void =>
    void findings.push({ what, finding: wrong ?? good, isGood: wrong === null });
  note("last good copy", complaints[0] ?? null, position === null ? "there is none" : `good, at revision ${position.rev}`);
  if (url.startsWith(SQLITE) && isReadable(url.slice(SQLITE.length)))
    note("database file", withRemedy(await wrongIn(url.slice(SQLITE.length)), position === null ? RESTORE : RESTORE_OR_REBUILD), "good");
  if (isReadable(files.events)) note("events database", withRemedy(await wrongIn(files.events), RESTORE), "good");
  if (newHistory && findings.every(({ isGood }) => isGood)) {
    const store = await openStore({ url, clock: systemClock });
    await store.renewHistory();
    await store.close();
  }
  if (node !== null) return { findings, database };
  try {
    const deps = { config, files, lastGood: position, newInstallation: false };
    database = await inspectedDatabase(deps);
    refuseNewer(database.schema);
    const { position: at } = database;
    note("database", null, at === null ? "there is none" : `good, at revision ${at.rev} of history ${at.history ?? "none"}`);
  } catch (error) {
    note("database", (error as Error).message, "");
  }
  return { findings, database };
}

const machineFindings = async (
  config: Config,
  database: Pick<DatabaseState, "exists" | "keyCheck"> | null,
  node: NodeState | null,
): Promise<readonly Finding[]> => [
  ...(await checkCounters(config)),
  ...(await checkClickHouse(config)),
  // A node has no database, and so neither its key nor backups.
  ...(node === null
    ? [checkBackup(readLastBackup(config.data), config.backup, systemClock), checkPermissions(planeFiles(config.data).sealKey, database)]
    : [good("node", `${node.name} (${node.planes.join(", ")}) of control at ${node.control_url ?? "an address that is not known"}`)]),
  ...checkFiles(config.data),
  ...checkBackupDirectory(config.backup),
  checkCertificate(config.tls, systemClock),
  checkDisk(config.data),
  checkOpenFiles(),
  checkClock(config.data, systemClock),
  ...(await checkResolvers(config)),
  ...(await checkBus(config.bus.url || (node?.bus.url ?? ""))),
];

const CLICKHOUSE_LIMIT_MS = 5_000;

async function checkCounters({ counters }: Config): Promise<readonly Finding[]> {
  if (counters.url === "") return [];
  const what = "counters";
  return counterServerVersion(counters).then(
    (version) => [good(what, `reachable, ${version}`)],
    (error: Error) => [
      wrong(
        what,
        `${withoutCredentials(counters.url)} cannot be used: ${error.message}`,
        "Start that server, let this machine through its firewall, or correct counters.url",
      ),
    ],
  );
}

async function checkClickHouse(config: Config): Promise<readonly Finding[]> {
  const place = clickHouseOf(config);
  if (place === undefined) return [];
  const server = createClickHouse(place, { queryMs: CLICKHOUSE_LIMIT_MS, insertMs: CLICKHOUSE_LIMIT_MS });
  const what = "clickhouse";
  return server
    .rows("SELECT version() AS version")
    .then(
      ([row]) => [good(what, `reachable, ClickHouse ${String(row?.["version"])}`)],
      (error: Error) => [
        wrong(
          what,
          `${withoutCredentials(place.url)} cannot be used: ${error.message}`,
          "Start that server, let this machine through its firewall, or correct events.url",
        ),
      ],
    )
    .finally(() => server.close());
}

/** Null if a server runs, and that is no obstacle. */
function lockOrComplain(dataDir: string, mayRun: boolean): { release(): void } | null {
  try {
    return lockDataDirectory(dataDir);
  } catch (error) {
    if (mayRun && error instanceof DataDirectoryBusy) return null;
    throw new CliError((error as Error).message);
  }
}

const RESTORE = "restore it from a backup";
const RESTORE_OR_REBUILD = `${RESTORE}; without one, rebuild it from the last good copy with selvedge doctor --rebuild`;

const withRemedy = (wrong: string | null, remedy: string): string | null => (wrong === null ? null : `${wrong}; ${remedy}`);
