import { createRollouts } from "#control/nodes/rollouts.ts";
import { systemClock } from "#kernel/clock.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "#app/cli/config-input.ts";
import { EXIT, type ExitCode, print, printable } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";

/** Shows, stops or continues the rollout; a running server heeds it within about a second. */
export async function rolloutCommand(name: "status" | "pause" | "resume", flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store }) => {
    const rollouts = createRollouts({ store, clock: systemClock });
    if (name === "pause") await rollouts.pause("by selvedge rollout pause");
    if (name === "resume") await rollouts.resume();
    const status = await rollouts.status();
    const { state, canaries, revision, released, reason, paused_on } = status;
    const lines = [
      state === "off"
        ? "off: no node is a canary, so all nodes get changes at once"
        : `${state}: canaries ${canaries.join(", ") || "none"}; other nodes follow up to revision ${released} of ${revision}`,
      ...(reason === null ? [] : [`paused since ${paused_on?.slice(0, 19)}: ${printable(reason)}`]),
    ];
    print(config.json, status, lines);
    return EXIT.ok;
  });
}
