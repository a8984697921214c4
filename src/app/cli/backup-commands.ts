import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { collect, DATABASE_KEYS, type Finish } from "./command-parts.ts";

/** Adds `selvedge backup`. */
export function addBackup(parent: Command, finish: Finish): void {
  const command = parent
    .command("backup")
    .argument("<file>", "the file to write, which must not exist; its directory needs room for a copy of the databases")
    .description(
      "Back up the data directory: configuration, keys, events and logs, without caches. Works while the server runs. Without a passphrase or a recipient, the file holds the keys in the clear.",
    )
    .option("--passphrase-file <file>", "encrypt with the passphrase in this file; age can decrypt the backup as well")
    .option("--recipient <key>", "encrypt to this public key of age (age1…); repeatable", collect);
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (file: string, options) => finish(await (await import("./backup/backup.ts")).backup(file, options, flags)));
}

/** Adds `selvedge restore`. */
export function addRestore(parent: Command, finish: Finish): void {
  const command = parent
    .command("restore")
    .argument("<file>", "a file that selvedge backup wrote")
    .description(
      "Restore a backup into an empty data directory, after checking all of it. Planes and secondaries load the restored data again.",
    )
    .option("--passphrase-file <file>", "the file with the passphrase of the backup")
    .option("--identity-file <file>", "a file with the secret key of a recipient (AGE-SECRET-KEY-1…)");
  const flags = addConfigFlags(command, ["data", "json"]);
  command.action(async (file: string, options) => finish(await (await import("./backup/backup.ts")).restore(file, options, flags)));
}
