import type { Command } from "commander";
import { CLIENT_KEYS, type Finish, withApi } from "../command-parts.ts";
import { addConfigFlags } from "../config-flags.ts";
import type { ApiOptions } from "../zone/zone-api.ts";
import type { GatewayOptions } from "./gateways.ts";

const ZONE = ["<zone>", "the zone, such as example.com"] as const;
const HOSTNAME = ["<hostname>", "the customer's name, such as app.customer.example"] as const;

/** Adds the commands of `selvedge hostnames`. */
export function addHostnames(parent: Command, finish: Finish): void {
  const load = () => import("./hostnames.ts");
  const list = parent
    .command("list")
    .argument(...ZONE)
    .description("List the custom hostnames of a zone, and why each is not active.");
  const listFlags = addConfigFlags(withApi(list), CLIENT_KEYS);
  list.action(async (zone: string, options: ApiOptions) => finish(await (await load()).hostnameList(zone, options, listFlags)));
  const show = parent
    .command("show")
    .argument(...ZONE)
    .argument(...HOSTNAME)
    .description("Show a custom hostname, and the DNS records that its owner must create.");
  const showFlags = addConfigFlags(withApi(show), CLIENT_KEYS);
  show.action(async (zone: string, name: string, options: ApiOptions) =>
    finish(await (await load()).hostnameShow(zone, name, options, showFlags)),
  );
  const add = parent
    .command("add")
    .argument(...ZONE)
    .argument(...HOSTNAME)
    .description("Create a custom hostname with a certificate, and show the DNS records that its owner must create.")
    .option("--method <method>", "how the owner proves the name for the certificate: http or txt", "http");
  const addFlags = addConfigFlags(withApi(add), CLIENT_KEYS);
  add.action(async (zone: string, name: string, options: ApiOptions & { readonly method: string }) =>
    finish(await (await load()).hostnameAdd(zone, name, options, addFlags)),
  );
  const remove = parent
    .command("delete")
    .argument(...ZONE)
    .argument(...HOSTNAME)
    .description("Delete a custom hostname and its certificates.");
  const removeFlags = addConfigFlags(withApi(remove), CLIENT_KEYS);
  remove.action(async (zone: string, name: string, options: ApiOptions) =>
    finish(await (await load()).hostnameDelete(zone, name, options, removeFlags)),
  );
}

/** Adds `selvedge certificates`. */
export function addCertificates(program: Command, finish: Finish): void {
  const command = program
    .command("certificates")
    .argument(...ZONE)
    .description("List the certificates of a zone, ordered and uploaded ones too, with their names and the times at which they expire.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options: ApiOptions) =>
    finish(await (await import("./certificates.ts")).certificateList(zone, options, flags)),
  );
}

const withAccount = (command: Command): Command =>
  withApi(command).option("--account <id>", "the account (default: the only one that the token can access)");

/** Adds the commands of `selvedge gateways`. */
export function addGateways(parent: Command, finish: Finish): void {
  const load = () => import("./gateways.ts");
  const list = parent.command("list").description("List the AI gateways of an account.");
  const listFlags = addConfigFlags(withAccount(list), CLIENT_KEYS);
  list.action(async (options: GatewayOptions) => finish(await (await load()).gatewayList(options, listFlags)));
  const add = parent
    .command("add")
    .argument("<id>", "its name in URLs, such as support")
    .description("Create an AI gateway that requires a token, and logs requests.")
    .option("--open", "require no token");
  const addFlags = addConfigFlags(withAccount(add), CLIENT_KEYS);
  add.action(async (id: string, options: GatewayOptions) => finish(await (await load()).gatewayAdd(id, options, addFlags)));
  const remove = parent
    .command("delete")
    .argument("<id>", "its name in URLs, such as support")
    .description("Delete an AI gateway and its logs.");
  const removeFlags = addConfigFlags(withAccount(remove), CLIENT_KEYS);
  remove.action(async (id: string, options: GatewayOptions) => finish(await (await load()).gatewayDelete(id, options, removeFlags)));
}
