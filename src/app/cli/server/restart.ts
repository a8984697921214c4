import { setTimeout as delay } from "node:timers/promises";
import { loadConfig } from "#app/config/config.ts";
import { isAlive, readRunFile, type RunFile } from "#app/operations/run-file.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { signalServer } from "./signal-server.ts";

const LOOK_EVERY_MS = 100;
/** As long as the server waits for the new process. */
const LOOKS_MAX = 3_000;

/** Sends the server of the data directory SIGUSR2 and waits until another process serves: 0; 1 if it cannot, 3 without a server. */
export async function restart(flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const before = readRunFile(data);
  if (before === null || !isAlive(before.pid)) {
    if (json) print(true, { status: "not running", data }, []);
    else complain([`no server runs on ${data}; start one with: selvedge start --data ${data}`]);
    return EXIT.notRunning;
  }
  signalServer(before.pid, "SIGUSR2");
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const run = readRunFile(data);
    if (run !== null && run.pid !== before.pid) return done(before, run, json);
    const failed = run?.failed_restart;
    if (failed !== undefined && failed.at !== before.failed_restart?.at) {
      if (json) print(true, { status: "failed", problem: failed.problem, pid: before.pid }, []);
      else complain([failed.problem]);
      return EXIT.failed;
    }
    if (!isAlive(before.pid)) throw new CliError(`the server (process ${before.pid}) ended instead of restarting; its log says why`);
    await delay(LOOK_EVERY_MS);
  }
  throw new CliError(`no other process has taken over within ${(LOOKS_MAX * LOOK_EVERY_MS) / 1000} seconds; look at the server's log`);
}

function done(before: RunFile, run: RunFile, json: boolean): ExitCode {
  print(json, { status: "restarted", pid: run.pid, previous_pid: before.pid }, [
    `process ${run.pid} serves; process ${before.pid} finishes its requests and ends`,
  ]);
  return EXIT.ok;
}
