import type { FeedSource, Position } from "./feed.ts";

/** The source of a process that has the last good copy and no connection to control: it never has newer changes. */
export function unchangingSource(at: Position): FeedSource {
  const nothingElse = async (): Promise<never> => {
    throw new Error(`revision ${at.rev} is on disk; this process has no control to ask for another copy`);
  };
  return { full: nothingElse, stream: nothingElse, since: async () => [], onCommit: () => () => undefined };
}
