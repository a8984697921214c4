import { systemCall } from "#control/call.ts";
import { conflictText } from "#control/ownership/conflicts.ts";
import { createOwnershipPolicy } from "#control/ownership/policy.ts";
import { createZoneSettling } from "#control/ownership/settling.ts";
import { systemClock } from "#kernel/clock.ts";
import { loadConfig } from "#app/config/config.ts";
import { controlConfig } from "#app/control/control-config.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { withTokens } from "../token-store.ts";
import { plainZoneName } from "./zone-api.ts";

export interface ZoneOwnerOptions {
  readonly account?: string;
}

/** The operator confirms that the account owns the name; no token can do this. */
export async function zoneProve(name: string, { account }: ZoneOwnerOptions, flags: readonly string[]): Promise<ExitCode> {
  const zone = plainZoneName(name);
  return withSettling(flags, async ({ settling, json, whenHeeded }) => {
    const changes = await settling.prove(systemCall("cli"), zone, account);
    print(json, { zone, changes }, lines(changes, `the operator has already confirmed ${zone}`, whenHeeded));
    return EXIT.ok;
  });
}

/** Decides the owner of a name; without a name, lists the zones with disputed ownership. */
export async function zoneSettle(name: string | undefined, { account }: ZoneOwnerOptions, flags: readonly string[]): Promise<ExitCode> {
  return withSettling(flags, async ({ settling, json, whenHeeded }) => {
    if (name === undefined) {
      const conflicts = await settling.conflicts();
      print(json, { conflicts }, conflicts.length === 0 ? ["no zone's ownership is disputed"] : conflicts.map(conflictText));
      return EXIT.ok;
    }
    if (account === undefined) throw new CliError("set the account that owns the name: --account ID", EXIT.usage);
    const zone = plainZoneName(name);
    const changes = await settling.settle(systemCall("cli"), zone, account);
    print(json, { zone, changes }, lines(changes, `${zone} is already settled this way`, whenHeeded));
    return EXIT.ok;
  });
}

const lines = (changes: readonly string[], otherwise: string, whenHeeded: string): readonly string[] =>
  changes.length === 0 ? [otherwise] : [...changes, ...(whenHeeded === "" ? [] : [whenHeeded])];

interface Settling {
  readonly settling: ReturnType<typeof createZoneSettling>;
  readonly json: boolean;
  readonly whenHeeded: string;
}

async function withSettling(flags: readonly string[], work: (parts: Settling) => Promise<ExitCode>): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  const policy = createOwnershipPolicy(controlConfig(config).ownership);
  return withTokens(config, ({ store, whenHeeded }) =>
    work({ settling: createZoneSettling({ store, clock: systemClock, policy, issuing: null }), json: config.json, whenHeeded }),
  );
}
