import type { Clock } from "#kernel/clock.ts";
import type { Config } from "#app/config/config.ts";
import type { LeveledLog } from "#app/log/log.ts";
import type { InheritedSockets } from "#app/handover/inherited-sockets.ts";
import type { TakeOver } from "#app/handover/take-over.ts";
import type { PrestartedThreads } from "#app/threads/prestart.ts";

export interface ComposeDeps {
  readonly config: Config;
  /** Reads the configuration again; throws ConfigError. */
  load(): Config;
  readonly log: LeveledLog;
  readonly clock: Clock;
  /** Shared by all threads (kernel/net/operator-ports.ts). */
  readonly operatorPorts: SharedArrayBuffer;
  /** The planes' threads, which are loading. */
  readonly early: PrestartedThreads;
  /** The operator wants an empty database beside a used data directory. */
  readonly newInstallation: boolean;
  /** Sockets that another process has opened; undefined without any. */
  readonly inherited: InheritedSockets | undefined;
  /** Null, unless it takes over from another process. */
  readonly takeOver: TakeOver | null;
}
