import type { Command } from "commander";
import { CLIENT_KEYS, collect, type Finish, withApi } from "../command-parts.ts";
import { addConfigFlags } from "../config-flags.ts";
import type { PurgeOptions } from "./cache-purge.ts";
import type { RecordFields } from "./zone-records.ts";
import type { ApiOptions } from "./zone-api.ts";

const ZONE = ["<zone>", "the zone, such as example.com"] as const;

/** Adds `selvedge zones` and `selvedge purge`. */
export function addZoneList(program: Command, finish: Finish): void {
  const zones = program.command("zones").description("List the zones that the token can access.");
  const zoneFlags = addConfigFlags(withApi(zones), CLIENT_KEYS);
  zones.action(async (options: ApiOptions) => finish(await (await import("./zone-list.ts")).zoneList(options, zoneFlags)));
  const purge = program
    .command("purge")
    .argument(...ZONE)
    .argument("[url...]", "the addresses whose responses to remove")
    .description("Remove responses from the cache of a zone.")
    .option("--everything", "remove all of them")
    .option("--host <name>", "remove those of this host; repeatable", collect)
    .option("--tag <tag>", "remove those with this tag in Cache-Tag; repeatable", collect)
    .option("--prefix <prefix>", "remove those below this host and path, such as www.example.com/css; repeatable", collect);
  const purgeFlags = addConfigFlags(withApi(purge), CLIENT_KEYS);
  purge.action(async (zone: string, urls: readonly string[], options: PurgeOptions) =>
    finish(await (await import("./cache-purge.ts")).cachePurge(zone, urls, options, purgeFlags)),
  );
}

const withFields = (command: Command): Command =>
  command
    .option("--ttl <seconds>", "time to live (default of new records: 1, which is automatic)")
    .option("--priority <number>", "priority of MX and URI records")
    .option("--proxied <yes|no>", "yes: visitors reach the edge; no: visitors reach the content")
    .option("--comment <text>", "a comment, which the DNS does not show");

/** Adds the commands of `selvedge records`. */
export function addRecords(parent: Command, finish: Finish): void {
  const load = () => import("./zone-records.ts");
  const list = parent
    .command("list")
    .argument(...ZONE)
    .description("List the DNS records of a zone with their IDs.");
  const listFlags = addConfigFlags(withApi(list), CLIENT_KEYS);
  list.action(async (zone: string, options: ApiOptions) => finish(await (await load()).recordList(zone, options, listFlags)));

  const add = parent
    .command("add")
    .argument(...ZONE)
    .argument("<type>", "the type, such as A")
    .argument("<name>", "the name, such as www; @ is the zone itself")
    .argument("<content>", "the content, such as 192.0.2.1")
    .description("Create a DNS record.");
  const addFlags = addConfigFlags(withApi(withFields(add)), CLIENT_KEYS);
  add.action(async (zone: string, type: string, name: string, content: string, options: ApiOptions & RecordFields) =>
    finish(await (await load()).recordAdd(zone, { type, name, content }, options, addFlags)),
  );

  const edit = parent
    .command("edit")
    .argument(...ZONE)
    .argument("<id>", "the record's ID, as shown by records list")
    .description("Change fields of a DNS record; its other fields stay as they are.")
    .option("--name <name>", "the new name")
    .option("--content <content>", "the new content");
  const editFlags = addConfigFlags(withApi(withFields(edit)), CLIENT_KEYS);
  edit.action(async (zone: string, id: string, options: ApiOptions & RecordFields) =>
    finish(await (await load()).recordEdit(zone, id, options, editFlags)),
  );

  const remove = parent
    .command("delete")
    .argument(...ZONE)
    .argument("<id>", "the record's ID, as shown by records list")
    .description("Delete a DNS record.");
  const removeFlags = addConfigFlags(withApi(remove), CLIENT_KEYS);
  remove.action(async (zone: string, id: string, options: ApiOptions) =>
    finish(await (await load()).recordDelete(zone, id, options, removeFlags)),
  );
}
