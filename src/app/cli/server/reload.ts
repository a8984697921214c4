import { setTimeout as delay } from "node:timers/promises";
import { loadConfig } from "#app/config/config.ts";
import { isAlive, type ReloadOutcome, readRunFile } from "#app/operations/run-file.ts";
import { configInput } from "#app/cli/config-input.ts";
import { signalServer } from "./signal-server.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";

const LOOK_EVERY_MS = 50;
const LOOKS_MAX = 600;

/**
 * Sends SIGHUP to the server of the data directory and waits for the result: 0 if the new configuration is in force, 1
 * if it is refused, 3 without a server.
 */
export async function reload(flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const run = readRunFile(data);
  if (run === null || !isAlive(run.pid)) {
    if (json) print(true, { status: "not running", data }, []);
    else complain([`no server runs on ${data}; start one with: selvedge start --data ${data}`]);
    return EXIT.notRunning;
  }
  const before = run.last_reload?.number ?? 0;
  signalServer(run.pid, "SIGHUP");
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const outcome = readRunFile(data)?.last_reload;
    if (outcome !== undefined && outcome.number > before) return told(outcome, json);
    if (!isAlive(run.pid)) throw new CliError(`the server (process ${run.pid}) stopped instead of reloading; its log states the reason`);
    await delay(LOOK_EVERY_MS);
  }
  throw new CliError(
    `the server (process ${run.pid}) has not reloaded within ${(LOOKS_MAX * LOOK_EVERY_MS) / 1000} seconds; look at its log`,
  );
}

function told(outcome: ReloadOutcome, json: boolean): ExitCode {
  const { problems, changed, need_restart, has_new_certificate } = outcome;
  if (problems.length > 0) {
    if (json) print(true, outcome, []);
    else complain([...problems, "nothing was changed: the server keeps its current configuration"]);
    return EXIT.failed;
  }
  print(json, outcome, [
    changed.length === 0 ? "no setting that the server applies while it runs has changed" : `changed: ${changed.join(", ")}`,
    ...(has_new_certificate ? ["new connections get the new certificate"] : []),
    ...(need_restart.length === 0 ? [] : [`after a restart: ${need_restart.join(", ")}`]),
  ]);
  return EXIT.ok;
}
