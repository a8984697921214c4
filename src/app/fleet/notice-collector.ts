import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#kernel/clock.ts";
import type { NodePlane } from "#model/access/node.ts";
import { reportSubject } from "#snapshot/bus/node-subjects.ts";
import type { PlaneReports } from "#app/planes/planes-deps.ts";
import type { Log } from "#app/log/log.ts";
import { type NodeNotice, type NoticesAnswer, PLANE_OF_NOTICE, readNodeMessage } from "./node-notices.ts";
import { TUNNELS_EVERY_MS } from "./node-notifier.ts";

/** Gives what planes of nodes report to control, as planes of this process do. */
export interface NoticeCollector {
  listen(connection: NatsConnection): void;
  /** Must be called about once a second: tunnels of nodes that no longer repeat them are closed. */
  look(): void;
}

export interface NoticeCollectorDeps {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** One process with control acts on notices. Each keeps the connections of tunnels, which its API shows. */
  isLeading(): boolean;
  /** Null if no such node has joined. */
  planesOf(node: string): Promise<readonly NodePlane[] | null>;
  readonly reports: PlaneReports;
  readonly log: Pick<Log, "warn">;
}

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const SILENT_MS = 3 * TUNNELS_EVERY_MS;
/** A healthy node sends a few messages each second. */
const MESSAGES_PER_SECOND = 50;

export function createNoticeCollector({ clock, isLeading, planesOf, reports, log }: NoticeCollectorDeps): NoticeCollector {
  /** When each node with tunnels told of them. */
  const tunnelsAt = new Map<string, number>();
  const counts = new Map<string, number>();

  const act = (notice: NodeNotice): void => {
    if (notice.kind === "notified") reports.onNotified(notice.zone_id, notice.from);
    else if (notice.kind === "readdressed") reports.onReaddressed(notice.zone_id, notice.addresses);
    else if (notice.kind === "default-gateway") reports.onDefaultGateway(notice.account_id, notice.at_ms);
  };
  const take = async (node: string, message: Msg): Promise<NoticesAnswer | null> => {
    // Plain reports of the node have the same subject and are small.
    if (message.data.length > MESSAGE_BYTES_MAX) return { error: "the message is too large" };
    const read = readNodeMessage(message.data);
    if (read === null || ("notices" in read && !isLeading())) return null;
    const count = (counts.get(node) ?? 0) + 1;
    counts.set(node, count);
    if (count > MESSAGES_PER_SECOND) return { error: "too many messages" };
    const planes = await planesOf(node);
    if (planes === null) return { error: "the node is unknown" };
    if ("tunnels" in read) {
      if (!planes.includes("edge")) return null;
      if (read.tunnels.length === 0) tunnelsAt.delete(node);
      else tunnelsAt.set(node, clock.monotonicMs());
      reports.onTunnels(sourceOf(node), read.tunnels);
      return null;
    }
    const allowed = read.notices.filter(({ kind }) => planes.includes(PLANE_OF_NOTICE[kind]));
    allowed.forEach(act);
    const sightings = allowed.flatMap((notice) => (notice.kind === "sighting" ? notice.sighting : []));
    if (sightings.length > 0) reports.onSightings(sightings);
    return { taken: true };
  };
  const respond = async (message: Msg): Promise<void> => {
    const node = message.subject.split(".")[2] ?? "";
    try {
      const answer = await take(node, message);
      if (answer !== null) message.respond(JSON.stringify(answer));
    } catch (error) {
      log.warn({ node, reason: String(error) }, "taking reports of a node's planes failed; the node sends them again");
    }
  };
  return {
    listen: (connection) =>
      void connection.subscribe(reportSubject("*"), {
        callback: (error, message) => {
          if (error === null) void respond(message);
        },
      }),
    look: () => {
      counts.clear();
      for (const [node, atMs] of tunnelsAt) {
        if (clock.monotonicMs() - atMs < SILENT_MS) continue;
        tunnelsAt.delete(node);
        reports.onTunnels(sourceOf(node), []);
      }
    },
  };
}

const sourceOf = (node: string): string => `node ${node}`;
