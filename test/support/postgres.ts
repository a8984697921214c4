import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findTool } from "../../tools/system-tools.ts";
import { RESET_ROWS } from "./reset-rows.ts";

/** A PostgreSQL server for tests. */
export interface TestPostgres {
  /** A new, empty database; waits until the server is up. */
  createDatabase(): Promise<string>;
  /** A database as `prepare` leaves it, which runs once per server, for the first caller of all processes. */
  copyDatabase(prepare: (url: string) => Promise<void>): Promise<string>;
  /**
   * Takes a database back, and disconnects its clients. A copy gets its first rows again for the next `copyDatabase` of
   * this process, which takes an eighth of the time; one with altered or larger tables is removed, as is every other
   * database.
   */
  dropDatabase(url: string): Promise<void>;
}

/** A temporary server for one test, deleted at the end. */
export interface OwnPostgres extends TestPostgres {
  /** Directory of its socket, through which other processes connect. */
  readonly directory: string;
  /** Ends it like a crash; resolves when it has ended. */
  crash(): Promise<void>;
  /** Starts it again after that, and returns at once. */
  revive(): void;
  stop(): Promise<void>;
}

/** Starts a server on a Unix socket in a temporary directory in the background, and returns at once. `more`: settings such as `fsync=on`. */
export function startPostgres(more: readonly string[] = []): OwnPostgres {
  const postgres = findTool("postgres");
  if (postgres === undefined) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  // The link in the PATH may be in another directory than the server's other programs.
  const bin = dirname(realpathSync(postgres));
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pg-"));
  const owner = serverOwner();
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, "data");
  const as = { ...owner, cwd: directory };
  let running: ChildProcess | undefined;
  let stopped = false;
  /** Neither program keeps our process alive: a test that failed before its clean-up still ends, and the exit stops them. */
  const run = async (program: string, args: readonly string[]): Promise<void> => {
    running = spawn(join(bin, program), args, { ...as, stdio: ["ignore", "ignore", "inherit"] });
    running.unref();
    const [code] = (await once(running, "exit")) as [number | null];
    if (code !== 0 && !stopped) console.error(`${program} ended with ${code}`);
  };
  const removeNow = (): void => {
    running?.kill("SIGQUIT");
    // Waits until the server has ended, because it writes until then.
    spawnSync(join(bin, "pg_ctl"), ["stop", "-m", "immediate", "-D", data], { ...as, stdio: "ignore" });
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", removeNow);
  const initialised = run("initdb", ["-D", data, ...CLUSTER]);
  const serve = (): Promise<void> | undefined =>
    stopped ? undefined : run("postgres", ["-D", data, "-k", directory, ...SETTINGS, ...flagsOf(more)]);
  let ended = initialised.then(serve);
  const crash = async (): Promise<void> => {
    // The signal of `pg_ctl -m immediate`.
    running?.kill("SIGQUIT");
    await ended;
  };
  return {
    directory,
    ...joinPostgres(directory),
    crash,
    revive: () => {
      ended = ended.then(serve);
    },
    stop: async () => {
      process.off("exit", removeNow);
      stopped = true;
      running?.ref();
      await initialised;
      await crash();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Names the directory of the server that all test files of a run share. */
const SHARED = "SELVEDGE_TEST_POSTGRES";

/** Starts a server for every process that is started from now on: making a cluster costs more than most files' tests. */
export function sharePostgres(): OwnPostgres {
  const server = startPostgres();
  process.env[SHARED] = server.directory;
  return server;
}

/** The server that the run shares, if this process belongs to a run. */
export function sharedPostgres(): TestPostgres | null {
  const directory = process.env[SHARED];
  return directory === undefined ? null : joinPostgres(directory);
}

let databases = 0;

const PREPARED = "prepared";
const PREPARED_LOCK = 1;

/** Of this process, by the directory of the server. */
const copiesOf = new Map<string, Copies>();

interface Copies {
  prepared: Promise<void> | undefined;
  /** Databases in use by a test, by URL. */
  readonly lent: Map<string, Copy>;
  /** Databases ready for a test. */
  readonly spare: Copy[];
}

interface Copy {
  readonly url: string;
  /** Stays connected, since a new connection has to learn all tables first. */
  readonly client: HeldClient;
}

/** A client that can let the process end; its types do not say so. */
type HeldClient = pg.Client & { ref(): void; unref(): void };

function joinPostgres(directory: string): TestPostgres {
  const copies = copiesOf.get(directory) ?? { prepared: undefined, lent: new Map<string, Copy>(), spare: [] };
  copiesOf.set(directory, copies);
  const create = (template: string): Promise<string> =>
    withClient(directory, "postgres", async (client) => {
      const name = `test_${process.pid}_${++databases}`;
      // Copying files takes half as long as writing each page through the log.
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
      return databaseUrl(directory, name);
    });
  const createCopy = async (): Promise<Copy> => {
    const url = await create(PREPARED);
    const client = (await connectWhenUp(url)) as HeldClient;
    // The server may end before this process.
    client.on("error", () => undefined);
    client.unref();
    return { url, client };
  };
  const prepareOnce = (prepare: (url: string) => Promise<void>): Promise<void> =>
    withClient(directory, "postgres", async (client) => {
      // Locked until the connection ends.
      await client.query(`SELECT pg_advisory_lock(${PREPARED_LOCK})`);
      const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [PREPARED]);
      if (rowCount !== 0) return;
      await client.query(`CREATE DATABASE ${PREPARED}_soon`);
      await prepare(databaseUrl(directory, `${PREPARED}_soon`));
      await withClient(directory, `${PREPARED}_soon`, (inside) => inside.query(RESET_ROWS));
      // Only a database that is ready has the name, should its maker end halfway.
      await client.query(`ALTER DATABASE ${PREPARED}_soon RENAME TO ${PREPARED}`);
    });
  return {
    createDatabase: () => create("template1"),
    copyDatabase: async (prepare) => {
      await (copies.prepared ??= prepareOnce(prepare));
      const copy = copies.spare.pop() ?? (await createCopy());
      copies.lent.set(copy.url, copy);
      return copy.url;
    },
    dropDatabase: async (url) => {
      const name = /^postgres:\/\/postgres@\/(test_\d+_\d+)\?/.exec(url)?.[1];
      if (name === undefined) throw new Error(`${url} is not a database of these tests`);
      const copy = copies.lent.get(url);
      copies.lent.delete(url);
      if (copy && (await hasFirstRows(copy.client))) return void copies.spare.push(copy);
      await withClient(directory, "postgres", (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

async function hasFirstRows(client: HeldClient): Promise<boolean> {
  client.ref();
  const { rows } = await client.query<{ done: boolean }>("SELECT prepared.reset_rows() AS done");
  client.unref();
  return rows[0]?.done === true;
}

async function withClient<T>(directory: string, database: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectWhenUp(databaseUrl(directory, database));
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const CLUSTER = ["-U", "postgres", "--auth=trust", "--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C.UTF-8"] as const;
const flagsOf = (settings: readonly string[]): readonly string[] => settings.flatMap((setting) => ["-c", setting]);
/** The server serves all test files of a run, and its data is deleted afterwards, so it need not sync. */
const SETTINGS = flagsOf(["listen_addresses=", "fsync=off", "max_connections=200", "log_min_messages=panic"]);

const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 50;

const databaseUrl = (directory: string, name: string): string => `postgres://postgres@/${name}?host=${encodeURIComponent(directory)}`;

async function connectWhenUp(url: string): Promise<pg.Client> {
  let reason: unknown;
  for (let waited = 0; waited < READY_TIMEOUT_MS; waited += READY_POLL_MS) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: READY_TIMEOUT_MS });
    try {
      await client.connect();
      return client;
    } catch (error) {
      reason = error;
    }
    await delay(READY_POLL_MS);
  }
  throw new Error("PostgreSQL did not start in time", { cause: reason });
}

/** The server refuses to run as root; then it runs as the packages' own user. */
function serverOwner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
