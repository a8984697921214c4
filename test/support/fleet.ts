import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { type ApiCall, apiCaller } from "./api.ts";
import { type NatsServer, startNats } from "./nats.ts";
import { sharedPostgres, startPostgres, type TestPostgres } from "./postgres.ts";
import { type Selvedge, startSelvedge } from "./selvedge.ts";
import { removeDirectory } from "./temporary.ts";

const execute = promisify(execFile);

const servers = new WeakMap<TestContext, Selvedge[]>();

/** A temporary directory, removed once the fleet's servers have ended: hooks run in the order in which they were added. */
export function fleetDirectory(t: TestContext, name: string): string {
  const path = mkdtempSync(join(tmpdir(), `selvedge-fleet-${name}-`));
  t.after(async () => {
    await Promise.all((servers.get(t) ?? []).map((server) => server.kill()));
    await removeDirectory(path);
  });
  return path;
}

/** Runs a command of the program; its JSON output. */
export async function fleetCommand(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<any> {
  const { stdout } = await execute(process.execPath, ["bin/selvedge.js", ...args, "--json"], { env: { ...process.env, ...env } });
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
  start(dataDir: string, env?: NodeJS.ProcessEnv): Promise<Selvedge>;
  /** Kills control and starts it again. */
  restartControl(): Promise<void>;
  /** Joins; the node's directory. */
  join(name: string, planes: string): Promise<string>;
}

/** A control server on PostgreSQL with a bus. */
export async function startFleet(t: TestContext, controlEnv: NodeJS.ProcessEnv = {}, given?: TestPostgres): Promise<FleetWorld> {
  const shared = given ?? sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  const controlDir = fleetDirectory(t, "control");
  const env = { SELVEDGE_DATABASE_URL: await (shared ?? own!).createDatabase(), SELVEDGE_DATA: controlDir };
  const start = async (dataDir: string, more: NodeJS.ProcessEnv = {}): Promise<Selvedge> => {
    const server = await startSelvedge({ dataDir, env: { SELVEDGE_SETTLE_REMOTE_MS: "60000", ...more } });
    servers.set(t, [...(servers.get(t) ?? []), server]);
    t.after(() => server.kill());
    return server;
  };
  const first = await start(controlDir, { ...env, SELVEDGE_ROLES: "control" });
  const { token = "", account_id } = first.ready;
  await first.stop();
  const { config } = await fleetCommand(env, "bus", "config", "--directory", fleetDirectory(t, "nats"));
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
    restartControl: async () => {
      await control.kill();
      control = await start(controlDir, withBus);
    },
    ...{ account: account_id, token },
    controlPid: () => control.pid,
    join: async (name, planes) => {
      const { token: joining } = await fleetCommand(env, "node", "token", "--name", name, "--planes", planes);
      const dataDir = fleetDirectory(t, name);
      await fleetCommand({}, "join", origin(), joining, "--data", dataDir);
      return dataDir;
    },
  };
}
