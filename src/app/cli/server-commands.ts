import type { Command } from "commander";
import { LEVELS } from "#app/config/config-formats.ts";
import { LOG_PARTS } from "#app/config/log-areas.ts";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, type Finish } from "./command-parts.ts";
import type { DoctorOptions } from "./doctor/doctor.ts";
import type { EnvOptions } from "./env/env.ts";
import type { LogLevelOptions } from "./server/log-level.ts";
import type { StartOptions } from "./start.ts";

/** Adds the commands about the server of a data directory. */
export function addServerCommands(parent: Command, finish: Finish): void {
  addStart(parent, finish);
  addStatus(parent, finish);
  addReload(parent, finish);
  addRestart(parent, finish);
  addDoctor(parent, finish);
  addEnv(parent, finish);
}

function addStart(parent: Command, finish: Finish): void {
  const command = parent
    .command("start")
    .description("Run the server until SIGTERM or Ctrl-C. SIGHUP reloads the configuration and the certificate.")
    .option(
      "--new-installation",
      "start with an empty database although the data directory has been used; the planes stop serving the previous configuration",
    );
  const flags = addConfigFlags(command);
  command.action(async (options: StartOptions) => finish(await (await import("./start.ts")).start(flags, options)));
}

function addDoctor(parent: Command, finish: Finish): void {
  const command = parent
    .command("doctor")
    .description(
      "Check whether the machine has what the server needs (permissions, disk, limits, clock, certificate, resolvers, bus, backups), and while the server is stopped also its files and ports. Says for each fault what to do. Exits 1 if something is wrong.",
    )
    .option("--new-history", "confirm that you restored the database from an older backup on purpose, so that the planes may serve it")
    .option(
      "--rebuild",
      "write a new control.db from what the planes serve (the last good copy), if the present one is damaged or missing and you have no backup",
    );
  const flags = addConfigFlags(command);
  command.action(async (options: DoctorOptions) => finish(await (await import("./doctor/doctor.ts")).doctor(options, flags)));
}

function addStatus(parent: Command, finish: Finish): void {
  const command = parent
    .command("status")
    .description("Show whether a server uses the data directory, and where its planes listen. Exits 3 if none does.");
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async () => finish(await (await import("./server/status.ts")).status(flags)));
}

function addEnv(parent: Command, finish: Finish): void {
  const command = parent
    .command("env")
    .argument(
      "[tool]",
      "terraform, opentofu, pulumi, octodns, dnscontrol, external-dns, cert-manager, certbot, lego, acme.sh, caddy, traefik, lexicon, ddclient, openai or anthropic",
      "shell",
    )
    .description(
      'Print the settings with which a tool calls this server: eval "$(selvedge env)" sets the variables that most tools read. In place of the API token, the settings contain the variable SELVEDGE_TOKEN.',
    )
    .option(
      "--api <url>",
      "base URL of the API, as the tool reaches it (default: SELVEDGE_API, else the server that uses the data directory)",
    )
    .option(
      "--account <id>",
      "for openai and anthropic, the account of the AI gateway (default: the only account that SELVEDGE_TOKEN can access)",
    )
    .option("--gateway <id>", "for openai and anthropic, the AI gateway", "main");
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async (tool: string, options: EnvOptions) => finish(await (await import("./env/env.ts")).env(tool, options, flags)));
}

function addReload(parent: Command, finish: Finish): void {
  const command = parent
    .command("reload")
    .description(
      "Have the running server read its configuration and certificate again, and show what changed and what waits for a restart. If the configuration is invalid, nothing changes, and the command exits 1, or 2 if it finds the fault itself in --config. Exits 3 if no server runs.",
    );
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async () => finish(await (await import("./server/reload.ts")).reload(flags)));
}

function addRestart(parent: Command, finish: Finish): void {
  const command = parent
    .command("restart")
    .description(
      "Have a new process take over from the running server, after an upgrade or a change of its configuration. It gets the sockets, so that no request fails; the old process finishes what it has begun. Exits 1 if the new process cannot serve: then the old one goes on. Exits 3 if no server runs.",
    );
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async () => finish(await (await import("./server/restart.ts")).restart(flags)));
}

/** Adds the commands of `selvedge log`. */
export function addLog(parent: Command, finish: Finish): void {
  const command = parent
    .command("level")
    .argument("[area=level...]", "levels to set, such as edge=debug")
    .description(
      `Show the log levels of the running server by area, and set them without a reload: until the next restart, or for a time. Then those of the configuration return. Areas: ${LOG_PARTS.join(", ")} (lines of none of these) and all. Levels: ${LEVELS.join(", ")}, and configured, which takes back what this command has set. Exits 3 if no server runs.`,
    )
    .option("--for <time>", "how long the levels hold, such as 30m, at most 7d (default: until the next restart)");
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async (words: readonly string[], options: LogLevelOptions) =>
    finish(await (await import("./server/log-level.ts")).logLevel(words, options, flags)),
  );
}

/** Adds the commands of `selvedge config`. */
export function addConfig(parent: Command, finish: Finish): void {
  const command = parent
    .command("check")
    .description("Read the configuration as start does, and print each value with its source. Exits 2 if the configuration is invalid.");
  const flags = addConfigFlags(command);
  command.action(async () => finish((await import("./config-check.ts")).configCheck(flags)));
}
