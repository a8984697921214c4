import { bootstrap, type Bootstrapped, type IgnoredPreset } from "#control/access/bootstrap.ts";
import { isoMicros } from "#kernel/clock.ts";
import { createSealer, type Sealer } from "#kernel/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { openKeyFile, verifyKey } from "#store/key-file.ts";
import { databaseExists, openStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { hasBootstrapToken } from "#store/tokens.ts";
import { unsafeBinds } from "./bind-safety.ts";
import type { Closing } from "./closing.ts";
import type { ComposeDeps } from "./compose.ts";
import { databaseUrl, type Config } from "./config.ts";
import { presets } from "./control-config.ts";
import { lockDataDirectory } from "./data-lock.ts";
import { openLocalAuthority } from "./local-authority.ts";
import { planeFiles, type PlaneFiles } from "./plane-files.ts";
import { readTls, type Tls } from "./tls-files.ts";

/** What outlives the process, opened for this one alone. */
export interface State {
  readonly tls: Tls;
  readonly files: PlaneFiles;
  readonly sealer: Sealer;
  readonly store: Store;
  readonly ca: LocalCa | null;
  /** The account of the first start; the token only until a start has shown it. */
  readonly first: Bootstrapped;
}

/** Throws, before anything is changed, where the configuration, the directory or the database is not fit. */
export async function openState({ config, clock, log }: ComposeDeps, closing: Closing): Promise<State> {
  const tls = readTls(config.tls);
  const lock = lockDataDirectory(config.data);
  closing.add(() => lock.release());
  const files = planeFiles(config.data);
  const url = databaseUrl(config);
  const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: await databaseExists(url) }));
  const store = await openStore({ url, clock });
  closing.add(() => store.close());
  await verifyKey(store, sealer, isoMicros(clock.nowMicros()));
  const first = await bootstrap({ store, clock, sealer, email: config.bootstrap.email, ...presets(config) });
  for (const preset of first.ignored) log[preset.isInUse ? "info" : "warn"]({ key: preset.key }, ignoredText(preset));
  await refuseUnsafeBinds(config, store);
  const ca = await openLocalAuthority({ store, sealer, clock, dataDir: config.data });
  return { tls, files, sealer, store, ca, first };
}

/** Containers give presets at every start. */
const ignoredText = ({ key, isInUse }: IgnoredPreset): string =>
  `${key} is ignored, since the first start is over: ${
    isInUse
      ? "it is in use as it is"
      : "`selvedge token list` shows the tokens there are, `selvedge token reset` gives the first one a new secret"
  }`;

async function refuseUnsafeBinds(config: Config, store: Store): Promise<void> {
  const reasons = unsafeBinds(config, await hasBootstrapToken(store.read));
  if (reasons.length > 0)
    throw new Error(`this configuration listens beyond this machine. ${reasons.join(". ")}. insecure_bind allows it all the same`);
}
