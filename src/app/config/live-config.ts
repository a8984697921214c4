import { CONFIG_ROWS, type ConfigKeyName } from "./config-schema.ts";
import { type Config, valueOf, withValues } from "./config.ts";
import { readTls, type Tls } from "./tls-files.ts";

/** The configuration in force: the values from the start, and the newest values of keys that can change at runtime. */
export interface LiveConfig {
  current(): Config;
  tls(): Tls;
  /** Reads everything again, and applies all it can. Throws, without changes, if anything is invalid. */
  reload(): Reloaded;
}

/** Keys by result. */
export interface Reloaded {
  readonly changed: readonly ConfigKeyName[];
  /** Their new values wait for the next start. */
  readonly needRestart: readonly ConfigKeyName[];
  /** Whether the certificate or its key changed, even if the file name did not. */
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
      // A listener uses TLS from its first connection on, or never.
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

/** Values are plain data from one parser, so equal ones have equal JSON. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
