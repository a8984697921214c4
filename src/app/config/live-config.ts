import { CONFIG_ROWS, type ConfigKeyName } from "./config-schema.ts";
import { type Config, valueOf, withValues } from "./config.ts";
import { readTls, type Tls } from "./tls-files.ts";

/** The configuration in force: what the server was started with, and the newest values of the keys that can change while it runs. */
export interface LiveConfig {
  current(): Config;
  tls(): Tls;
  /** Reads everything anew, and puts in force what can be. Throws, with nothing changed, where any of it is wrong. */
  reload(): Reloaded;
}

/** Keys by what has become of them. */
export interface Reloaded {
  readonly changed: readonly ConfigKeyName[];
  /** Their new values wait for the next start. */
  readonly needRestart: readonly ConfigKeyName[];
  /** The certificate or its key is another one, whether or not its file is. */
  readonly hasNewCertificate: boolean;
}

export interface LiveConfigDeps {
  readonly config: Config;
  readonly tls: Tls;
  /** As at the start; throws ConfigError. */
  load(): Config;
}

export function createLiveConfig({ config, tls: firstTls, load }: LiveConfigDeps): LiveConfig {
  let current = config;
  let tls = firstTls;
  return {
    current: () => current,
    tls: () => tls,
    reload: () => {
      const next = load();
      const nextTls = readTls(next.tls);
      const differing = [...CONFIG_ROWS.keys()].filter((key) => !isSame(valueOf(current, key), valueOf(next, key)));
      // A listener speaks TLS from its first connection on, or never.
      const turnsTls = (tls.tls === undefined) !== (nextTls.tls === undefined);
      const canChange = (key: ConfigKeyName): boolean =>
        CONFIG_ROWS.get(key)?.reload === true && !(turnsTls && (key === "tls.certificate" || key === "tls.key"));
      const changed = differing.filter(canChange);
      const hasNewCertificate = !turnsTls && (tls.tls?.certificate !== nextTls.tls?.certificate || tls.tls?.key !== nextTls.tls?.key);
      current = withValues(current, new Map(changed.map((key) => [key, valueOf(next, key)])));
      if (!turnsTls) tls = nextTls;
      return { changed, needRestart: differing.filter((key) => !canChange(key)), hasNewCertificate };
    },
  };
}

/** Values are plain data from one parser, so that equal ones are written alike. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
