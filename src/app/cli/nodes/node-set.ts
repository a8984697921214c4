import { createNodes } from "#control/nodes/nodes.ts";
import { systemClock } from "#kernel/clock.ts";
import type { NodeRing } from "#model/access/node.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";
import { addressList } from "./node-token.ts";

export interface NodeSetOptions {
  readonly addresses?: string;
  readonly ring?: NodeRing;
}

/** Changes where a node's edge has visitors, and when it gets changes. */
export async function nodeSet(name: string, options: NodeSetOptions, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const addresses = options.addresses === undefined ? undefined : addressList(options.addresses);
  const { ring } = options;
  if (addresses === undefined && ring === undefined) throw new CliError("name --addresses or --ring", EXIT.usage);
  return withTokens(config, async ({ store }) => {
    if (!(await createNodes({ store, clock: systemClock }).change(name, { addresses, ring })))
      throw new CliError(`the node ${JSON.stringify(name)} does not exist; selvedge nodes lists those that do`);
    const visitors = addresses?.length === 0 ? "are not sent to it" : `are sent to ${addresses?.join(", ")} while it is healthy`;
    print(config.json, { name, ...(addresses === undefined ? {} : { addresses }), ...(ring === undefined ? {} : { ring }) }, [
      ...(addresses === undefined ? [] : [`${name}: visitors ${visitors}`]),
      ...(ring === undefined
        ? []
        : [`${name}: ${ring === "canary" ? "gets changes before the other nodes" : "gets changes after the canaries"}`]),
    ]);
    return EXIT.ok;
  });
}
