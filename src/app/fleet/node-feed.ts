import { createPublicKey } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { BUS_FORMAT, NO_REVISION } from "#snapshot/bus/bus-message.ts";
import { type BusSource, createBusSource } from "#snapshot/bus/bus-source.ts";
import { inboxPrefix, type NodeReport, reportSubject } from "#snapshot/bus/node-subjects.ts";
import type { PlaneReports } from "#app/planes/planes-deps.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Position } from "#snapshot/feed.ts";
import type { Config } from "#app/config/config.ts";
import { packageVersion } from "#app/config/package-version.ts";
import type { Log } from "#app/log/log.ts";
import { keepConnected } from "./bus-connection.ts";
import { createNodeNotifier } from "./node-notifier.ts";
import { busRootFile, type NodeState } from "./node-state.ts";
import { openUplink } from "./uplink.ts";

/** The node's side of the bus: its feed, and its reports. */
export interface NodeFeed {
  readonly source: BusSource;
  /** Starts to report; `facts` are read once a second. */
  report(publisher: Publisher, facts: () => Promise<Pick<NodeReport, "addresses" | "problems">>): void;
  /** Events of the node go to control through this port. */
  uplink(): MessagePort;
  /** Why the node must get no visitors although its planes answer, one sentence each. */
  notReady(publisher: Pick<Publisher, "position">): readonly string[];
  /** Takes what planes report to control beside events. */
  readonly notifier: PlaneReports;
  close(): Promise<void>;
}

export interface NodeFeedDeps {
  readonly config: Config;
  readonly state: NodeState;
  readonly log: Log;
  readonly metrics: MetricRegistry;
}

/**
 * A bus with a wiped directory lets nobody in until control gives it its account, and nodes with a copy must serve all of that time. A node cannot
 * tell this from its removal.
 */
const REMOVED_AFTER_MS = 600_000;
const REPORT_EVERY_MS = 1_000;
/** Longer than a plane takes for a change; after it the report has the earlier revision. */
const APPLY_LIMIT_MS = 1_000;

export function openNodeFeed({ config, state, log, metrics }: NodeFeedDeps): NodeFeed {
  let refused: NodeReport["refused"];
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  const source = createBusSource({
    clock: systemClock,
    name: state.name,
    key: createPublicKey(state.control_key),
    log: (level, message, fields) => log[level](fields ?? {}, message),
    refused: (reason, rev) => {
      // Messages that control did not sign must not hide that a change of control's was refused.
      if (rev !== NO_REVISION || (refused?.rev ?? NO_REVISION) === NO_REVISION) refused = { rev, reason };
    },
  });
  const bus = keepConnected({
    url: config.bus.url || state.bus.url,
    ca: config.bus.ca || (state.bus.root === "" ? "" : busRootFile(config.data)),
    ...{ jwt: state.jwt, seed: Buffer.from(state.seed), name: state.name, inboxPrefix: inboxPrefix(state.name), log },
    onConnected: source.attach,
  });
  const dropped = metrics.counter(
    "selvedge_node_notices_dropped_total",
    "Reports of planes (NOTIFY, pages, default gateways) that found no room while control was away.",
  );
  const silent = metrics.gauge("selvedge_node_silent_seconds", "Time since this node last heard of control over the bus.");
  const missing = metrics.gauge("selvedge_node_behind", "Changes of control that this node is known to lack.");
  const notifier = createNodeNotifier({ name: state.name, current: bus.current, dropped });
  return {
    source,
    notifier,
    notReady: (publisher) => [
      ...(publisher.position() === null ? ["this node has no copy of control's changes yet"] : []),
      ...((bus.refusedMs() ?? 0) < REMOVED_AFTER_MS
        ? []
        : ["the bus has not let this node in for ten minutes: it was removed, or the bus has the keys of another installation"]),
    ],
    uplink: () => openUplink({ name: state.name, seed: state.seed, current: bus.current }),
    report: (publisher, facts) => {
      let applied: Position = { history: "", rev: -1 };
      let known: Pick<NodeReport, "addresses" | "problems"> = { addresses: {}, problems: [] };
      const send = (): void => {
        const report: NodeReport = {
          ...applied,
          ...known,
          ...{ version: packageVersion(), format: BUS_FORMAT },
          ...(refused === undefined ? {} : { refused }),
        };
        bus.current()?.publish(reportSubject(state.name), JSON.stringify(report));
      };
      const catchUp = oneMore(async () => {
        const head = publisher.position();
        if (head === null || isClosed) return;
        const { behind } = await publisher.settled(head.rev, APPLY_LIMIT_MS);
        if (behind.length > 0) return;
        applied = head;
        send();
      });
      publisher.onPublished(() => catchUp());
      const tick = async (): Promise<void> => {
        known = await facts().catch(() => known);
        silent.value = source.silentMs() / 1_000;
        missing.value = Math.max(0, (source.head()?.rev ?? 0) - (publisher.position()?.rev ?? 0));
        catchUp();
        send();
        if (!isClosed) timer = setTimeout(() => void tick(), REPORT_EVERY_MS).unref();
      };
      void tick();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      notifier.close();
      await bus.close();
    },
  };
}

/** Calls during a run cause one more run. */
function oneMore(run: () => Promise<void>): () => void {
  let state: "idle" | "running" | "again" = "idle";
  const loop = async (): Promise<void> => {
    do {
      state = "running";
      await run();
    } while ((state as string) === "again");
    state = "idle";
  };
  return () => {
    if (state === "idle") void loop();
    else state = "again";
  };
}
