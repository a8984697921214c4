import { createNodes } from "#control/nodes/nodes.ts";
import { systemClock } from "#kernel/clock.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";
import { addressList } from "./node-token.ts";

/** Says where a node's edge has visitors. */
export async function nodeSet(name: string, options: { readonly addresses: string }, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const addresses = addressList(options.addresses);
  return withTokens(config, async ({ store }) => {
    if (!(await createNodes({ store, clock: systemClock }).setAddresses(name, addresses)))
      throw new CliError(`the node ${JSON.stringify(name)} does not exist; selvedge nodes lists those that do`);
    print(config.json, { name, addresses }, [
      addresses.length === 0
        ? `visitors are not sent to ${name}`
        : `visitors are sent to ${name} at ${addresses.join(", ")} while it is healthy`,
    ]);
    return EXIT.ok;
  });
}
