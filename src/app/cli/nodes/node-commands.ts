import { type Command, Option } from "commander";
import { addConfigFlags } from "#app/cli/config-flags.ts";
import { NODE_RINGS } from "#model/access/node.ts";
import { DATABASE_KEYS, type Finish } from "#app/cli/command-parts.ts";

/** Adds the commands of `selvedge node`. */
export function addNodes(parent: Command, finish: Finish): void {
  const token = parent
    .command("token")
    .description("Make a node and print the token with which one machine joins as this node. The token is shown once.")
    .requiredOption("--name <name>", "name of the node: letters a to z, digits and hyphens")
    .requiredOption("--planes <planes>", "what the node runs: edge, nameserver, gateway, separated by commas")
    .option(
      "--addresses <addresses>",
      "public addresses of the node's edge, separated by commas, with which nameservers answer for proxied names",
    )
    .addOption(ringOption())
    .option("--expires-in <time>", "how long the token can be used: 24h, 30m or 600s", "1h");
  const tokenFlags = addConfigFlags(token, DATABASE_KEYS);
  token.action(async (options) => finish(await (await import("./node-token.ts")).nodeToken(options, tokenFlags)));
  addNodeList(parent, "list", finish);
  const set = parent
    .command("set")
    .argument("<name>", "the node's name, as shown by node list")
    .description("Change the addresses or the ring of a node.")
    .option("--addresses <addresses>", "public addresses of its edge, separated by commas; none: visitors are not sent to it")
    .addOption(ringOption());
  const setFlags = addConfigFlags(set, DATABASE_KEYS);
  set.action(async (name: string, options) => finish(await (await import("./node-set.ts")).nodeSet(name, options, setFlags)));
  const remove = parent
    .command("remove")
    .argument("<name>", "the node's name, as shown by node list")
    .description("Remove a node: its connection to the bus is closed and its credentials are revoked.");
  const removeFlags = addConfigFlags(remove, DATABASE_KEYS);
  remove.action(async (name: string) => finish(await (await import("./node-remove.ts")).nodeRemove(name, removeFlags)));
}

const ringOption = (): Option => new Option("--ring <ring>", "canary: it gets changes before the other nodes").choices(NODE_RINGS);

/** Adds the commands of `selvedge rollout`. */
export function addRollout(parent: Command, finish: Finish): void {
  for (const [name, description] of [
    ["status", "Show how far changes have reached the nodes after the canaries."],
    ["pause", "Hold changes back from the nodes after the canaries, until rollout resume."],
    ["resume", "Give changes to all nodes again. Those that wait first stay with the canaries for rollout.wait_seconds."],
  ] as const) {
    const command = parent.command(name).description(description);
    const flags = addConfigFlags(command, DATABASE_KEYS);
    command.action(async () => finish(await (await import("./rollout.ts")).rolloutCommand(name, flags)));
  }
}

/** `selvedge nodes` and `selvedge node list`. */
export function addNodeList(parent: Command, name: string, finish: Finish): void {
  const list = parent.command(name).description("List the machines that run planes only, and how far each has followed the changes.");
  const flags = addConfigFlags(list, DATABASE_KEYS);
  list.action(async () => finish(await (await import("./node-list.ts")).nodeList(flags)));
}

/** `selvedge join`. */
export function addJoin(parent: Command, finish: Finish): void {
  const join = parent
    .command("join")
    .argument("<url>", "URL of a server with the role control, such as https://control.example.net:8780; plain HTTP on this machine only")
    .argument("<token>", "the token that selvedge node token printed")
    .description("Make the data directory that of a node: selvedge start then runs the node's planes, without database and API.");
  join.option("--ca <file>", "PEM file of the authority that issued the certificate of that server, if the system does not trust it");
  const flags = addConfigFlags(join, ["data", "json"]);
  join.action(async (url: string, token: string, options) => finish(await (await import("./join.ts")).join(url, token, options, flags)));
}

/** `selvedge bus config`. */
export function addBus(parent: Command, finish: Finish): void {
  const config = parent
    .command("config")
    .description("Print the part of nats-server's configuration that lets this installation and its nodes in, and nobody else.")
    .requiredOption("--directory <path>", "directory in which nats-server keeps its state");
  const flags = addConfigFlags(config, DATABASE_KEYS);
  config.action(async (options) => finish(await (await import("./bus-config.ts")).busConfig(options, flags)));
}
