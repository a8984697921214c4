import type { NatsConnection } from "@nats-io/transport-node";
import type { Metric } from "#kernel/process/metrics.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import { reportSubject } from "#snapshot/bus/node-subjects.ts";
import type { PlaneReports } from "#app/planes/planes-deps.ts";
import { type NodeMessage, type NodeNotice, NOTICES_MAX, type NoticesAnswer, TUNNEL_LINKS_MAX } from "./node-notices.ts";

/** The node's side: keeps what its planes report until control has it. */
export interface NodeNotifier extends PlaneReports {
  close(): void;
}

export interface NodeNotifierDeps {
  /** Of the node. */
  readonly name: string;
  current(): NatsConnection | null;
  /** Counts notices that found no room. */
  readonly dropped: Metric;
}

/** Control takes tunnels of a node that does not repeat them as closed. */
export const TUNNELS_EVERY_MS = 5_000;
const RETRY_MS = 1_000;
const ANSWER_LIMIT_MS = 10_000;
/** While control is away. Pages and questions cause most notices again. */
const WAITING_MAX = 10_000;

export function createNodeNotifier({ name, current, dropped }: NodeNotifierDeps): NodeNotifier {
  const subject = reportSubject(name);
  const waiting: NodeNotice[] = [];
  const links = new Map<string, readonly TunnelLink[]>();
  let isSending = false;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;

  const ask = async (notices: readonly NodeNotice[]): Promise<boolean> => {
    const connection = current();
    if (connection === null) return false;
    const message = JSON.stringify({ notices } satisfies NodeMessage);
    const { data } = await connection.request(subject, message, { timeout: ANSWER_LIMIT_MS });
    return (JSON.parse(Buffer.from(data).toString()) as NoticesAnswer).taken === true;
  };
  const send = async (): Promise<void> => {
    if (isSending) return;
    isSending = true;
    clearTimeout(retry);
    while (waiting.length > 0 && !isClosed) {
      const first = waiting.slice(0, NOTICES_MAX);
      // Nothing answers while no process with control leads.
      if (!(await ask(first).catch(() => false))) {
        retry = setTimeout(() => void send(), RETRY_MS).unref();
        break;
      }
      waiting.splice(0, first.length);
    }
    isSending = false;
  };
  const add = (notice: NodeNotice): void => {
    if (waiting.length >= WAITING_MAX) {
      dropped.value++;
      return;
    }
    waiting.push(notice);
    void send();
  };
  const tellTunnels = (): void => {
    const tunnels = [...links.values()].flat().slice(0, TUNNEL_LINKS_MAX);
    current()?.publish(subject, JSON.stringify({ tunnels } satisfies NodeMessage));
  };
  const timer = setInterval(() => {
    if (links.size > 0) tellTunnels();
  }, TUNNELS_EVERY_MS).unref();

  return {
    onNotified: (zone_id, from) => add({ kind: "notified", zone_id, from }),
    onReaddressed: (zone_id, addresses) => add({ kind: "readdressed", zone_id, addresses }),
    onDefaultGateway: (account_id, at_ms) => add({ kind: "default-gateway", account_id, at_ms }),
    onSightings: (sightings) => sightings.forEach((sighting) => add({ kind: "sighting", sighting })),
    onTunnels: (thread, of) => {
      if (of.length === 0) links.delete(thread);
      else links.set(thread, of);
      tellTunnels();
    },
    close: () => {
      isClosed = true;
      clearInterval(timer);
      clearTimeout(retry);
    },
  };
}
