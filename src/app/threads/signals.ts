import { isatty } from "node:tty";

/** Signals from the system and from people at terminals. */
export interface Signals {
  /**
   * Resolves with the signal of the first request to end: SIGTERM, SIGINT, or a closed terminal. Another SIGTERM or SIGINT ends the
   * process at once. Until it is called, each of them does, like a power cut.
   */
  end(): Promise<NodeJS.Signals>;
  /** Calls back for each SIGHUP from now on, and once for earlier ones. */
  onReload(listener: () => void): void;
  /** Calls back for each SIGUSR2 from now on, and once for earlier ones. */
  onRestart(listener: () => void): void;
  /** Calls back for each SIGUSR1 from now on. */
  onLevels(listener: () => void): void;
}

const STANDARD_STREAMS = [0, 1, 2];

/**
 * SIGUSR1 is ignored from the program's first line on (bin/selvedge.js) until `selvedge log level` can be answered, and
 * SIGUSR2 until the server can be asked for another process that takes over. SIGHUP has two meanings. A sender
 * (`systemctl reload`, logrotate) wants the configuration to be read again. The kernel sends it when the server's
 * terminal is closed: the server can no longer be seen or stopped there, so it ends as by Ctrl-C. To outlive the
 * terminal, start it without one (`nohup`, `setsid`, a service).
 */
export function listenForSignals(): Signals {
  const terminals = STANDARD_STREAMS.filter((fd) => isatty(fd));
  const hasLostTerminal = (): boolean => terminals.some((fd) => !isatty(fd));
  const { promise: asked, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let isAsked = false;
  let isWaiting = false;
  let end = (_signal: NodeJS.Signals): void => process.exit(1);
  let reload = (): void => {
    isWaiting = true;
  };
  let isRestartWaiting = false;
  let restart = (): void => {
    isRestartWaiting = true;
  };
  let levels = (): void => undefined;
  process.on("SIGUSR1", () => levels());
  process.on("SIGUSR2", () => restart());
  process.on("SIGHUP", () => (hasLostTerminal() ? end("SIGHUP") : reload()));
  return {
    end: () => {
      end = (signal) => {
        isAsked = true;
        reload = restart = levels = () => undefined;
        resolve(signal);
      };
      // The second request ends the process at once.
      const onEnd = (signal: NodeJS.Signals): void => (isAsked ? process.exit(1) : end(signal));
      process.on("SIGTERM", onEnd);
      process.on("SIGINT", onEnd);
      return asked;
    },
    onRestart: (listener) => {
      if (isAsked) return;
      restart = listener;
      if (isRestartWaiting) listener();
    },
    onLevels: (listener) => {
      if (!isAsked) levels = listener;
    },
    onReload: (listener) => {
      if (isAsked) return;
      reload = listener;
      if (isWaiting) listener();
    },
  };
}
