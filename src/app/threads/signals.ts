import { isatty } from "node:tty";

/** What the system and people at terminals ask of the server. */
export interface Signals {
  /**
   * Resolves with the first request to end: SIGTERM, SIGINT, or a terminal that was closed. Another SIGTERM or SIGINT ends the process at
   * once. Until it is called each of them does, as a power cut would.
   */
  end(): Promise<void>;
  /** Calls back for each SIGHUP from now on, and once for those that came before. */
  onReload(listener: () => void): void;
}

const STANDARD_STREAMS = [0, 1, 2];

/**
 * SIGUSR1 and SIGUSR2 are passed over from the program's first line on (bin/selvedge.js). SIGHUP means two things. Whoever sends it
 * (`systemctl reload`, logrotate) wants the configuration to be read again. The kernel sends it when the terminal is closed that the
 * server was started in: nobody can see or stop it there any more, so it ends as by Ctrl-C. To be there afterwards, it is started
 * without one (`nohup`, `setsid`, a service).
 */
export function listenForSignals(): Signals {
  const terminals = STANDARD_STREAMS.filter((fd) => isatty(fd));
  const hasLostTerminal = (): boolean => terminals.some((fd) => !isatty(fd));
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  let isAsked = false;
  let isWaiting = false;
  let end = (): void => process.exit(1);
  let reload = (): void => {
    isWaiting = true;
  };
  process.on("SIGHUP", () => (hasLostTerminal() ? end() : reload()));
  return {
    end: () => {
      end = () => {
        isAsked = true;
        reload = () => undefined;
        resolve();
      };
      // The operator has seen enough.
      const onEnd = (): void => (isAsked ? process.exit(1) : end());
      process.on("SIGTERM", onEnd);
      process.on("SIGINT", onEnd);
      return asked;
    },
    onReload: (listener) => {
      if (isAsked) return;
      reload = listener;
      if (isWaiting) listener();
    },
  };
}
