import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, DATABASE_KEYS, type Finish, withApi } from "./command-parts.ts";

/** Adds the commands of `selvedge zone`. */
export function addZones(parent: Command, finish: Finish): void {
  addZoneAdd(parent, finish);
  addZoneDelete(parent, finish);
  addZoneImport(parent, finish);
  addZoneExport(parent, finish);
  addZoneHistory(parent, finish);
  addZoneDiff(parent, finish);
  addZoneRevert(parent, finish);
  addZoneRollKey(parent, finish);
  addZoneProve(parent, finish);
  addZoneSettle(parent, finish);
}

function addZoneAdd(parent: Command, finish: Finish): void {
  const command = parent
    .command("add")
    .argument("<name>", "the name of the zone, such as example.com")
    .description("Create a zone without records, and show the name servers to which its registrar delegates it.")
    .option("--account <id>", "the account that owns the zone (default: the only account that the token can access)");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (name: string, options) => finish(await (await import("./zone/zone-set.ts")).zoneAdd(name, options, flags)));
}

function addZoneDelete(parent: Command, finish: Finish): void {
  const command = parent
    .command("delete")
    .argument("<zone>", "the zone, such as example.com")
    .description("Delete a zone with its records, rules and certificates.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-set.ts")).zoneDelete(zone, options, flags)));
}

function addZoneImport(parent: Command, finish: Finish): void {
  const command = parent
    .command("import")
    .argument("<file>", "a zone file in the format of RFC 1035, or - for standard input")
    .description(
      "Import the records of a zone file; existing records are skipped. If a line is wrong, imports nothing and exits 1, unless --on-error is skip.",
    )
    .requiredOption("--zone <name>", "the zone to import into, such as example.com")
    .option("--create", "create the zone if it does not exist")
    .option("--account <id>", "the account to create the zone in (default: the only account that the token can access)")
    .option(
      "--on-error <action>",
      "what to do with lines that the API does not accept: refuse (import nothing), clamp (bring TTLs, comments and tags to their limits, and refuse other faults; the default) or skip (leave the lines out)",
    )
    .option("--dry-run", "report what an import would do, and write nothing")
    .option("--proxied", "proxy all records that can be proxied, unless their comments say otherwise");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (file: string, options) => finish(await (await import("./zone/zone-import.ts")).zoneImport(file, options, flags)));
}

function addZoneExport(parent: Command, finish: Finish): void {
  const command = parent
    .command("export")
    .argument("<zone>", "the zone, such as example.com")
    .description("Print a zone as a zone file. Its comments contain the comments, tags and proxy status of the records.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-export.ts")).zoneExport(zone, options, flags)));
}

function addZoneHistory(parent: Command, finish: Finish): void {
  const command = parent
    .command("history")
    .argument("<zone>", "the zone, such as example.com")
    .description("List the versions of a zone's DNS records, newest first. Every write creates a version.")
    .option("--limit <count>", "number of versions to show", "20");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-history.ts")).zoneHistory(zone, options, flags)));
}

function addZoneDiff(parent: Command, finish: Finish): void {
  const command = parent
    .command("diff")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[from]", "the version to compare (default: the second newest)")
    .argument("[to]", "the version to compare it with (default: the newest)")
    .description("Show what changed between two versions of a zone, as lines of a zone file.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, from: string | undefined, to: string | undefined, options) =>
    finish(await (await import("./zone/zone-diff.ts")).zoneDiff(zone, { ...options, from, to }, flags)),
  );
}

function addZoneRevert(parent: Command, finish: Finish): void {
  const command = parent
    .command("revert")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[version]", "the version whose changes to undo")
    .description("Undo the changes of one version or, with --to, all changes since a version. If it cannot, undoes nothing and exits 1.")
    .option("--to <version>", "restore the zone to this version")
    .option("--reason <text>", "the reason, for the history");
  const flags = addConfigFlags(withApi(command), [...CLIENT_KEYS, "vendor.prefix"]);
  command.action(async (zone: string, version: string | undefined, options) =>
    finish(await (await import("./zone/zone-revert.ts")).zoneRevert(zone, { ...options, version }, flags)),
  );
}

function addZoneRollKey(parent: Command, finish: Finish): void {
  const command = parent
    .command("roll-key")
    .argument("<zone>", "the zone, such as example.com")
    .description("Start to replace the DNSSEC key of a zone. The server completes the steps, and the zone stays valid throughout.")
    .option("--status", "only show the progress of a replacement");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) =>
    finish(await (await import("./zone/zone-roll-key.ts")).zoneRollKey(zone, options, flags)),
  );
}

function addZoneProve(parent: Command, finish: Finish): void {
  const command = parent
    .command("prove")
    .argument("<zone>", "the zone, such as example.com")
    .description(
      "Confirm as the operator that an account owns a zone's name: the planes serve the zone, and others rely on it. Works directly in the database.",
    )
    .option("--account <id>", "the account, if several accounts have a zone with this name");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-owner.ts")).zoneProve(zone, options, flags)));
}

function addZoneSettle(parent: Command, finish: Finish): void {
  const command = parent
    .command("settle")
    .argument("[zone]", "the zone to settle (default: list the zones whose ownership is disputed)")
    .description(
      "Decide which account owns a name: the planes serve its zone. They do not serve zones of other accounts at or below the name until those are proved.",
    )
    .option("--account <id>", "the account that gets the name");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string | undefined, options) =>
    finish(await (await import("./zone/zone-owner.ts")).zoneSettle(zone, options, flags)),
  );
}
