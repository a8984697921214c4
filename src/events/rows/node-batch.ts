/** A place between two records of a node's files; places are in the order of segment and offset. */
export interface NodePlace {
  readonly segment: number;
  readonly at: number;
}

export const START: NodePlace = { segment: 0, at: 0 };

export const isBefore = (a: NodePlace, b: NodePlace): boolean => a.segment < b.segment || (a.segment === b.segment && a.at < b.at);

/** `rows`: packed rows; `logs`: records of gateway logs, with their bodies. */
export const BATCH_SOURCES = ["rows", "logs"] as const;
export type BatchSource = (typeof BATCH_SOURCES)[number];

/** A range of a source's log. Control stores, for each node, source and epoch, the place up to which it has the events. */
export interface BatchRange {
  readonly source: BatchSource;
  /** Identifies the node's directory: places of another directory are not comparable. */
  readonly epoch: string;
  readonly from: NodePlace;
  /** Equal to `from` in a question for the place up to which control has everything. */
  readonly to: NodePlace;
}

export interface NodeBatch extends BatchRange {
  readonly node: string;
  readonly bytes: Uint8Array;
}

/** From the thread of a node that sends, to its connection. */
export interface SendMessage extends BatchRange {
  readonly request: number;
  readonly bytes: Uint8Array;
}

/** To the writer of control's events. */
export interface BatchMessage {
  readonly type: "batch";
  readonly request: number;
  readonly batch: NodeBatch;
}

/** The answer to a batch or a question. */
export interface BatchAnswer {
  readonly request: number;
  /** All records before this place are in control's events, or were refused permanently. Absent: ask again later. */
  readonly stored?: NodePlace;
  /** The reason why control will never accept the batch: the node must not send it again. */
  readonly refused?: string;
  readonly error?: string;
}
