import { CliError } from "#app/cli/outcome.ts";

/** Throws if the server belongs to another user. */
export function signalServer(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
    throw new CliError(`the server runs as another user (process ${pid}): run this as that user or as root`);
  }
}
