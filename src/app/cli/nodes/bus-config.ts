import { openBusAuthority } from "#control/nodes/bus-authority.ts";
import { isoMicros, systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { openKeyFile, verifyKey } from "#store/database/key-file.ts";
import { loadConfig } from "#app/config/config.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { configInput } from "#app/cli/config-input.ts";
import { EXIT, type ExitCode, print } from "#app/cli/outcome.ts";
import { withTokens } from "#app/cli/token-store.ts";

/** Prints the configuration of nats-server; the same keys each time. */
export async function busConfig({ directory }: { readonly directory: string }, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  return withTokens(config, async ({ store }) => {
    const sealer = createSealer(openKeyFile({ path: planeFiles(config.data).sealKey, databaseExists: true }));
    await verifyKey(store, sealer, isoMicros(systemClock.nowMicros()));
    const authority = await openBusAuthority({ store, sealer, clock: systemClock });
    const text = authority.serverConfig(directory);
    print(config.json, { config: text }, [text]);
    return EXIT.ok;
  });
}
