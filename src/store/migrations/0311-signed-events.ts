import type { Dialect } from "#store/queries/session.ts";

/** Whether a node signs the batches of its events: then control takes no others in its name. */
export const signedEvents = ({ integer }: Dialect): readonly string[] => [
  `ALTER TABLE nodes ADD COLUMN signs_events ${integer} NOT NULL DEFAULT 0`,
];
