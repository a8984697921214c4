import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import { AWAY_AFTER_MS, type SeenReport } from "#control/nodes/nodes.ts";
import { NO_REVISION } from "#snapshot/bus/bus-message.ts";
import { type NodeReport, reportSubject } from "#snapshot/bus/node-subjects.ts";
import { createSettlement, type Follower } from "#snapshot/settlement.ts";
import type { Log } from "#app/log/log.ts";

/** The nodes that report over the bus to this process. */
export interface RemoteNodes {
  /** The newest report of each. */
  readonly heard: ReadonlyMap<string, SeenReport>;
  /** These nodes may be connected, although none has reported yet: calls name them until they have, or are away. */
  expect(names: readonly string[]): void;
  listen(connection: NatsConnection): void;
  /** Resolves when the connected nodes have applied the revision, or at the timeout; returns the names of those that have not. */
  settled(rev: number, timeoutMs: number, isPatient?: boolean): Promise<{ readonly behind: readonly string[] }>;
  /** Must be called about once a second: nodes without recent reports are not waited for. */
  look(history: string): void;
  forget(name: string): void;
  close(): void;
}

export interface RemoteNodesDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** A node has refused a change. */
  onRefused(rev: number): void;
  onReport(name: string): void;
  /** Whether the node gets changes later than others: calls name it, and do not wait for it. */
  isHeld(name: string): boolean;
}

/** A report is a few hundred bytes; a node could send anything. */
const REPORT_BYTES_MAX = 16_384;
/** It can say something else in each report. */
const WARN_EVERY_MS = 10_000;

export function createRemoteNodes({ clock, log, onRefused, onReport, isHeld }: RemoteNodesDeps): RemoteNodes {
  const heard = new Map<string, SeenReport>();
  const followers = new Map<string, Follower>();
  const present = new Set<Follower>();
  const warnedMs = new Map<string, number>();
  const settlement = createSettlement(present);
  let history = "";
  let asked = 0;
  let expectedUntilMs = -Infinity;

  const followerOf = (name: string): Follower => {
    const follower = followers.get(name) ?? { name: `node ${name}`, acked: -1, pending: [], late: false };
    followers.set(name, follower);
    return follower;
  };
  const take = (name: string, data: Uint8Array): void => {
    const report = data.length > REPORT_BYTES_MAX ? null : parsed(data);
    if (report === null) return;
    const before = heard.get(name);
    heard.set(name, { ...report, seenMs: clock.nowMs() });
    const follower = followerOf(name);
    follower.acked = report.history === history ? report.rev : -1;
    if (follower.acked >= asked) follower.late = false;
    if (isHeld(name)) follower.late = true;
    present.add(follower);
    const { refused } = report;
    if (refused !== undefined && (before?.refused?.rev !== refused.rev || before.refused.reason !== refused.reason)) {
      if (refused.rev !== NO_REVISION) onRefused(refused.rev);
      if (clock.monotonicMs() - (warnedMs.get(name) ?? -Infinity) >= WARN_EVERY_MS) {
        warnedMs.set(name, clock.monotonicMs());
        log.warn({ node: name, ...refused }, "a node refused a change and keeps what it has");
      }
    }
    settlement.check();
    onReport(name);
  };
  const drop = (name: string): void => {
    const follower = followers.get(name);
    if (follower !== undefined && present.delete(follower)) settlement.check();
  };
  return {
    heard,
    expect: (names) => {
      expectedUntilMs = clock.monotonicMs() + AWAY_AFTER_MS;
      for (const name of names) present.add(followerOf(name));
    },
    listen: (connection) =>
      void connection.subscribe(reportSubject("*"), {
        callback: (error, message) => {
          if (error === null) take(message.subject.split(".")[2] ?? "", message.data);
        },
      }),
    settled: (rev, timeoutMs, isPatient) => {
      asked = Math.max(asked, rev);
      return settlement.settled(rev, timeoutMs, isPatient);
    },
    look: (current) => {
      history = current;
      const mayStillReport = clock.monotonicMs() < expectedUntilMs;
      for (const name of followers.keys()) {
        const seenMs = heard.get(name)?.seenMs;
        if (seenMs === undefined ? !mayStillReport : clock.nowMs() - seenMs > AWAY_AFTER_MS) drop(name);
      }
    },
    forget: (name) => {
      drop(name);
      followers.delete(name);
      warnedMs.delete(name);
      heard.delete(name);
    },
    close: () => {
      present.clear();
      settlement.close();
    },
  };
}

/** Null if it is not a report: no message of a node may harm control. */
function parsed(data: Uint8Array): NodeReport | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(data).toString());
  } catch {
    return null;
  }
  const { history, rev, version, format, addresses, problems, refused } = membersOf(value);
  if (typeof history !== "string" || typeof version !== "string" || !Number.isSafeInteger(rev) || !Number.isSafeInteger(format))
    return null;
  const { rev: refusedRev, reason } = membersOf(refused);
  return {
    ...{ history, rev: rev as number, version, format: format as number },
    addresses: Object.fromEntries(Object.entries(membersOf(addresses)).map(([listener, address]) => [listener, textOf(address)])),
    problems: Array.isArray(problems) ? problems.map(textOf) : [],
    ...(typeof reason === "string" ? { refused: { rev: Number.isSafeInteger(refusedRev) ? (refusedRev as number) : 0, reason } } : {}),
  };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
