import { setNativeMode } from "#kernel/process/native-transport.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Config, ConfigError, loadConfig, resolveConfig, withValues } from "#app/config/config.ts";
import { isPlaneRole, type PlaneRole } from "#app/config/roles.ts";
import { readNodeState } from "#app/fleet/node-state.ts";
import { prestartPrograms, prestartThreads } from "#app/threads/prestart.ts";
import { listenFailure } from "#app/config/listeners.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { activatedSockets, isActivated } from "#app/handover/activated-sockets.ts";
import { createInheritedSockets, type InheritedSockets } from "#app/handover/inherited-sockets.ts";
import { requireFreePlaces } from "#app/handover/free-places.ts";
import { type TakeOver, takeOverOf } from "#app/handover/take-over.ts";
import { snapshotMayHave } from "#app/planes/snapshot-peek.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { configInput } from "./config-input.ts";
import { CliError, EXIT, type ExitCode } from "./outcome.ts";

export interface StartOptions {
  readonly newInstallation?: boolean;
}

/** Runs the server until a signal has drained it. */
export async function start(flags: readonly string[], { newInstallation = false }: StartOptions = {}): Promise<ExitCode> {
  const takeOver = takeOverOf(process);
  try {
    return await startOrTakeOver(takeOver, flags, newInstallation);
  } catch (error) {
    if (error instanceof Error) await takeOver?.failed(error instanceof ConfigError ? error.problems.join("; ") : startFailure(error));
    throw error;
  }
}

/** Without the beginning that the line on the terminal has. */
const startFailure = ({ message }: Error): string => message.replace(/^cannot start: /, "");

async function startOrTakeOver(takeOver: TakeOver | null, flags: readonly string[], newInstallation: boolean): Promise<ExitCode> {
  const load = (): Config => withRoles(loadConfig(configInput(flags)));
  const { config: read, warnings } = resolveConfig(configInput(flags));
  const config = withRoles(read);
  // Before any thread starts.
  setNativeMode(config.runtime.native);
  const inherited = takeOver === null ? await activated(config) : takeOver.sockets(config);
  if (takeOver !== null && inherited !== undefined) await requireFreePlaces(config, inherited);
  const { lastGood } = planeFiles(config.data);
  const early = prestartThreads(
    prestartPrograms({ zones: snapshotMayHave("zone", lastGood), gateways: snapshotMayHave("gateway", lastGood) }, config.roles),
  );
  try {
    // After the configuration, so that an error in it is reported before the whole server is loaded.
    const { startServer } = await import("../start.ts");
    await startServer({ config, warnings }, load, { early, newInstallation, inherited, takeOver });
    return EXIT.ok;
  } catch (error) {
    // Reasons not to start (an occupied port, a missing key file) are self-explanatory.
    if (error instanceof Error && config.log.level !== "debug")
      throw new CliError(`cannot start: ${listenFailure(error, config) ?? reason(error, config.data)}`);
    throw error;
  } finally {
    await early.dismiss();
  }
}

const ACTIVATION = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] as const;

/** Sockets that systemd has opened. They have no threads yet. */
async function activated(config: Config): Promise<InheritedSockets | undefined> {
  if (!isActivated(process.env, process.pid)) return undefined;
  const reasons: string[] = [];
  const calls = await loadSocketCalls((_part, reason) => reasons.push(reason));
  if (calls === null)
    throw new CliError(`cannot start: sockets of systemd need the native transport (runtime.native): ${reasons.join(", ")}`);
  const sockets = activatedSockets(process.env, config, calls.localEnd);
  // They are not for programs that this one starts.
  for (const name of ACTIVATION) delete process.env[name];
  return createInheritedSockets(config, sockets, false);
}

/** A directory that has joined as a node runs the planes that its token names; `roles` may select some of them. */
function withRoles(config: Config): Config {
  const node = readNodeState(config.data);
  if (node === null) return config;
  const roles = config.roles.filter((role): role is PlaneRole => isPlaneRole(role) && node.planes.includes(role));
  if (roles.length === 0)
    throw new CliError(`${config.data} has joined as the node ${node.name} with ${node.planes.join(", ")}: roles selects none of these`);
  return withValues(config, new Map([["roles", roles]]));
}

/** For an error with a client code the cause gives the details, which clients do not get. */
function reason(error: Error, dataDir: string): string {
  if (!(error instanceof PlatformError && error.cause instanceof Error)) return error.message;
  const advice = error.errorName === "storage_full" ? `. Make room on the disk of ${dataDir}, or choose another directory with --data` : "";
  return `${error.message}: ${error.cause.message}${advice}`;
}
