import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ApiCall, apiCaller } from "./api.ts";
import { type NatsServer, startNats } from "./nats.ts";
import { sharedPostgres, startPostgres, type TestPostgres } from "./postgres.ts";
import { type Selvedge, startSelvedge } from "./selvedge.ts";
import { removeDirectory } from "./temporary.ts";

const execute = promisify(execFile);

/** Work to do at the end, in the order in which it was added: a test, or a benchmark. */
export interface FleetScope {
  after(work: () => unknown): void;
}

const servers = new WeakMap<FleetScope, Selvedge[]>();

/** A temporary directory, removed once the fleet's servers have ended: hooks run in the order in which they were added. */
export function fleetDirectory(t: FleetScope, name: string): string {
  const path = mkdtempSync(join(tmpdir(), `selvedge-fleet-${name}-`));
  t.after(async () => {
    await Promise.all((servers.get(t) ?? []).map((server) => server.kill()));
    await removeDirectory(path);
  });
  return path;
}

/** Runs a command of the program; its JSON output. */
export const fleetCommand = (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<any> => commandOf("bin/selvedge.js", env, args);

async function commandOf(program: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<any> {
  const { stdout } = await execute(process.execPath, [program, ...args, "--json"], { env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

/** Control, a bus, and functions that join nodes to them. */
export interface FleetWorld {
  readonly nats: NatsServer;
  readonly env: NodeJS.ProcessEnv;
  readonly call: ApiCall;
  readonly account: string;
  readonly token: string;
  controlPid(): number;
  readonly controlDir: string;
  /** URL of control, for joining. */
  readonly origin: string;
  /** `program`: path of another release's `bin/selvedge.js`. */
  start(dataDir: string, env?: NodeJS.ProcessEnv, program?: string): Promise<Selvedge>;
  /** Kills control and starts it again, as `program` if that is given, with these variables. */
  restartControl(program?: string, env?: NodeJS.ProcessEnv): Promise<void>;
  /** Joins; the node's directory. */
  join(name: string, planes: string): Promise<string>;
}

/** A control server on PostgreSQL with a bus; `program`: path of another release's `bin/selvedge.js`. */
export async function startFleet(
  t: FleetScope,
  controlEnv: NodeJS.ProcessEnv = {},
  given?: TestPostgres,
  program = "bin/selvedge.js",
): Promise<FleetWorld> {
  const shared = given ?? sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const controlDir = fleetDirectory(t, "control");
  const env = { SELVEDGE_DATABASE_URL: await (shared ?? own!).createDatabase(), SELVEDGE_DATA: controlDir };
  const start = async (dataDir: string, more: NodeJS.ProcessEnv = {}, other = program): Promise<Selvedge> => {
    const server = await startSelvedge({ dataDir, program: other, env: { SELVEDGE_SETTLE_REMOTE_MS: "60000", ...more } });
    servers.set(t, [...(servers.get(t) ?? []), server]);
    t.after(() => server.kill());
    return server;
  };
  const first = await start(controlDir, { ...env, SELVEDGE_ROLES: "control" });
  const { token = "", account_id } = first.ready;
  await first.stop();
  const { config } = await commandOf(program, env, ["bus", "config", "--directory", fleetDirectory(t, "nats")]);
  const nats = await startNats(() => config);
  t.after(() => nats.stop());
  const withBus = { ...env, SELVEDGE_ROLES: "control", SELVEDGE_BUS_URL: nats.url, ...controlEnv };
  let control = await start(controlDir, withBus);
  const origin = (): string => new URL(control.ready.api).origin;
  return {
    ...{ nats, env, controlDir, start },
    get origin() {
      return origin();
    },
    call: (...given) => apiCaller(control.ready, token)(...given),
    restartControl: async (other, more = {}) => {
      await control.kill();
      control = await start(controlDir, { ...withBus, ...more }, other);
    },
    ...{ account: account_id, token },
    controlPid: () => control.pid,
    join: async (name, planes) => {
      const { token: joining } = await commandOf(program, env, ["node", "token", "--name", name, "--planes", planes]);
      const dataDir = fleetDirectory(t, name);
      await commandOf(program, {}, ["join", origin(), joining, "--data", dataDir]);
      return dataDir;
    },
  };
}
