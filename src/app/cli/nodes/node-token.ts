import { createNodes } from "#control/nodes/nodes.ts";
import { systemClock } from "#kernel/clock.ts";
import { NODE_PLANES, type NodePlane, type NodeRing } from "#model/access/node.ts";
import { loadConfig } from "#app/config/config.ts";
import { isLoopbackUrl } from "#app/config/bind-safety.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";

export interface NodeTokenOptions {
  readonly name: string;
  readonly planes: string;
  readonly addresses?: string;
  readonly ring?: NodeRing;
  readonly expiresIn: string;
}

/** Makes a node and prints its join token. */
export async function nodeToken(
  { name, planes, addresses, ring, expiresIn }: NodeTokenOptions,
  flags: readonly string[],
): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const [chosen, validMs] = [planesOf(planes), timeOf(expiresIn)];
  return withTokens(config, async ({ store }) => {
    const { token, expires_on } = await createNodes({ store, clock: systemClock }).create(name, chosen, validMs, {
      addresses: addressList(addresses),
      ring,
    });
    print(config.json, { name, planes: chosen, token, expires_on }, [
      token,
      `for the node ${name} (${chosen.join(", ")}), once, until ${expires_on}; on its machine: selvedge join URL TOKEN`,
    ]);
    const bus = config.bus.node_url || config.bus.url;
    if (bus !== "" && isLoopbackUrl(bus)) complain([loopbackBus(bus)]);
    return EXIT.ok;
  });
}

const loopbackBus = (bus: string): string =>
  `warning: the node will look for the bus at ${bus}, which only this machine reaches. For a node on another machine, set bus.node_url and restart the server before the node joins`;

/** `none`, or without the option: no address. */
export const addressList = (text = "none"): readonly string[] => (text === "none" ? [] : text.split(",").map((address) => address.trim()));

function planesOf(text: string): readonly NodePlane[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !NODE_PLANES.some((plane) => plane === name));
  if (unknown !== undefined)
    throw new CliError(`--planes must be a list of ${NODE_PLANES.join(", ")}, not ${JSON.stringify(unknown)}`, EXIT.usage);
  return NODE_PLANES.filter((plane) => names.includes(plane));
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const VALID_MS_MAX = 7 * 86_400_000;

function timeOf(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? 0);
  if (ms < 1 || ms > VALID_MS_MAX) throw new CliError(`--expires-in must be a time of at most 7d such as 1h, 30m or 600s`, EXIT.usage);
  return ms;
}
