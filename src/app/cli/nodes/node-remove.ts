import { createNodes } from "#control/nodes/nodes.ts";
import { systemClock } from "#kernel/clock.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";

/** Removes a node; a running server with control shuts it out within about a second. */
export async function nodeRemove(name: string, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store, whenHeeded }) => {
    if (!(await createNodes({ store, clock: systemClock }).remove(name)))
      throw new CliError(`the node ${JSON.stringify(name)} does not exist; selvedge nodes lists those that do`);
    print(config.json, { removed: name }, [`removed ${name}. ${whenHeeded || "A server with control shuts it out when it starts."}`]);
    return EXIT.ok;
  });
}
