import type { Command } from "commander";
import type { Finish } from "#app/cli/command-parts.ts";
import type { TunnelRunOptions } from "./run.ts";

/** Adds the commands of `selvedge tunnel`. */
export function addTunnels(parent: Command, finish: Finish): void {
  parent
    .command("run")
    .argument("[token]", "the tunnel's token; prefer SELVEDGE_TUNNEL_TOKEN, because other users can see a command's arguments")
    .description(
      "Connect services of this machine or its network to the edge, without an open port. Runs until SIGTERM or Ctrl-C, and then lets requests in progress end. Exits 1 if the edge refuses the token.",
    )
    .option("--url <service>", "send every request to this service, such as http://127.0.0.1:8080, instead of using the rules of the API")
    .option(
      "--edge <host[:port]>",
      "dial this address (default: the one in the token); repeat it for each machine with an edge",
      (edge: string, before: readonly string[]) => [...before, edge],
      [] as readonly string[],
    )
    .option("--connections <number>", "keep at least this many connections to each edge, and one to each of its threads", "4")
    .option("--drain <seconds>", "wait so long for requests in progress when ending", "30")
    .option("--log-level <level>", "trace, debug, info, warn, error, fatal or silent", "info")
    .addHelpText("after", EXAMPLES)
    .action(async (token: string | undefined, options: TunnelRunOptions) =>
      finish(await (await import("./run.ts")).runTunnel(token, options)),
    );
}

const EXAMPLES = `
Examples:
  selvedge tunnel run TOKEN
  SELVEDGE_TUNNEL_TOKEN=TOKEN selvedge tunnel run --url http://127.0.0.1:8080
  selvedge tunnel run TOKEN --edge edge.example.net:443`;
