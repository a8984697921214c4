import { createNodes } from "#control/nodes/nodes.ts";
import { systemClock } from "#kernel/clock.ts";
import { loadConfig } from "#app/config/config.ts";
import { configInput } from "#app/cli/config-input.ts";
import { columns, EXIT, type ExitCode, print, printable } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";

const HEAD = ["NAME", "PLANES", "RING", "STATUS", "REVISION", "BEHIND", "VERSION", "SEEN", "ADDRESSES", "PROBLEMS"];

/** Prints the nodes, as the newest stored reports say: these are a few seconds old. */
export async function nodeList(flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store }) => {
    const nodes = await createNodes({ store, clock: systemClock }).list();
    const rows = nodes.map(
      ({ name, planes, ring, status, revision, behind, version, seen_on, edge_addresses, in_answers, problems, refused }) => [
        name,
        planes.join(","),
        ring,
        status,
        ...[revision, behind, version].map((value) => printable(String(value ?? ""))),
        seen_on?.slice(0, 19) ?? "never",
        edge_addresses.length === 0 || in_answers ? edge_addresses.join(",") : `not answered: ${edge_addresses.join(",")}`,
        printable([...problems, ...(refused === null ? [] : [`refused ${refused.rev}: ${refused.reason}`])].join("; ")),
      ],
    );
    print(config.json, { nodes }, columns([HEAD, ...rows]));
    return EXIT.ok;
  });
}
