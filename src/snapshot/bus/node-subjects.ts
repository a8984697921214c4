import { CHANGES, COPIES, HEAD, LIVE } from "./bus-message.ts";

/** Subjects of one node; with the name `*`, of all nodes. */
export const reportSubject = (name: string): string => `sv.report.${name}`;
/** Pieces of batches of events, each a request. */
export const eventsSubject = (name: string): string => `sv.events.${name}`;
export const inboxPrefix = (name: string): string => `_INBOX_${name}`;

/** Names of nodes are parts of subjects, where dots, stars and spaces have a meaning. */
export const NODE_NAME = /^[a-z0-9-]{1,63}$/;

/** A node sends it once a second, and after each change that its planes have applied. */
export interface NodeReport {
  readonly history: string;
  readonly rev: number;
  readonly version: string;
  readonly format: number;
  /** Addresses of its planes, for people. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Why its planes do not all serve; empty if they do. */
  readonly problems: readonly string[];
  /** The last message that it refused. */
  readonly refused?: { readonly rev: number; readonly reason: string };
}

const directGets = (stream: string): readonly string[] => [`$JS.API.DIRECT.GET.${stream}`, `$JS.API.DIRECT.GET.${stream}.>`];

/**
 * What the account of nodes has of control's account. Questions cross as services: the server puts another address in place of the address
 * for the answer. Within one account, a node that named a subject of JetStream or of the changes there got an answer published on it with the
 * permissions of the one that answers.
 */
export const NODE_SUBJECTS = [
  ...[LIVE, HEAD].map((subject) => ({ subject, type: "stream" as const })),
  ...[reportSubject("*"), eventsSubject("*"), ...directGets(CHANGES), ...directGets(COPIES)].map((subject) => ({
    ...{ subject, type: "service" as const },
  })),
];

/**
 * All that a node may do on the bus: hear changes and heartbeats, get single messages of the two streams, report, and send its events. It makes no stream and
 * no consumer, and it cannot publish a change.
 */
export const nodePermissions = (name: string) => ({
  pub: { allow: [reportSubject(name), eventsSubject(name), ...directGets(CHANGES), ...directGets(COPIES)] },
  sub: { allow: [`${inboxPrefix(name)}.>`, LIVE, HEAD] },
});
