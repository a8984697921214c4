import type { Clock } from "#kernel/clock.ts";
import { formatIp } from "#kernel/net/ip.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import type { Client } from "#nameserver/message/client.ts";
import type { MessageStream } from "./message-stream.ts";
import type { TransferKind } from "./transfer-content.ts";
import { serialOf } from "#nameserver/zones/zone-journal.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

export type TransferLog = (level: "info" | "warn", message: string, fields: Readonly<Record<string, unknown>>) => void;

export interface TransferAccountDeps {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  /** Time limit of a whole transfer. */
  readonly timeoutMs: number;
  readonly log: TransferLog;
}

/** One transfer, for the log and the metrics. */
export interface Transferred {
  readonly zone: ZoneIndex;
  readonly kind: TransferKind;
  readonly client: Client;
  readonly stream: MessageStream;
  /** Called once, when the transfer ends. */
  ended(): void;
}

/** Counts streams, limits their time and logs their end. */
export function createTransferAccount({
  clock,
  metrics,
  timeoutMs,
  log,
}: TransferAccountDeps): (transferred: Transferred) => MessageStream {
  const sentBytes = metrics.counter("selvedge_dns_transfer_bytes_total", "Bytes of outgoing zone transfers");
  const total = (kind: TransferKind, result: "sent" | "broken"): Metric =>
    metrics.counter("selvedge_dns_transfers_total", "Finished outgoing zone transfers", { kind, result });

  return ({ zone, kind, client, stream, ended }) => {
    const startedMs = clock.monotonicMs();
    const serial = serialOf(zone);
    let [messages, bytes] = [0, 0];
    let state: "open" | "sent" | "closed" = "open";
    let reason = "the other server closed the connection or was too slow";
    const tell = (result: "sent" | "broken"): void => {
      total(kind, result).value += 1;
      sentBytes.value += bytes;
      const ms = Math.round(clock.monotonicMs() - startedMs);
      const fields = { zone: zone.entry.name, kind, serial, peer: addressOf(client), messages, bytes, ms };
      if (result === "sent") log("info", "transferred a zone to another server", fields);
      else log("warn", "a zone transfer to another server was interrupted", { ...fields, reason });
    };
    const nextMessage = (): ReturnType<MessageStream["next"]> => {
      if (clock.monotonicMs() - startedMs > timeoutMs) throw new RangeError("the transfer takes too long");
      return stream.next();
    };
    return {
      next: () => {
        try {
          const message = nextMessage();
          if (message === undefined) state = "sent";
          messages += message ? 1 : 0;
          bytes += message?.length ?? 0;
          return message;
        } catch (error) {
          reason = String(error);
          throw error;
        }
      },
      close: () => {
        if (state === "closed") return;
        const result = state === "sent" ? "sent" : "broken";
        state = "closed";
        stream.close();
        ended();
        tell(result);
      },
    };
  };
}

const addressOf = ({ address }: Client): string => formatIp({ family: address.length === 4 ? 4 : 6, bytes: address });
