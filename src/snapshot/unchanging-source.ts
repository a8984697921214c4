import type { FeedSource, Position } from "./feed.ts";

/** For a process that has the last good copy and no connection to control: there is never anything newer. */
export function unchangingSource(at: Position): FeedSource {
  const nothingElse = async (): Promise<never> => {
    throw new Error(`revision ${at.rev} is on disk; this process has no control to ask for another copy`);
  };
  return { full: nothingElse, stream: nothingElse, since: async () => [], onCommit: () => () => undefined };
}
