import type { IpAddress } from "#kernel/net/ip.ts";
import { releaseFd, opened } from "#kernel/process/fd-registry.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import { OUTPUT_BYTES, senderOf } from "#nameserver/message/datagram.ts";
import { createFloodGauge } from "#nameserver/limits/burst-detector.ts";
import { createDatagramBatch, type DatagramBatch } from "./datagram-batch.ts";
import type { UdpResponders } from "./delivery.ts";
import { DROPPED } from "#nameserver/responder/fast-path.ts";
import type { Response } from "#nameserver/responder/respond.ts";
import type { SystemSockets } from "./system-sockets.ts";
import { type Listener, type UdpConfig, udpSendErrors } from "./udp.ts";

export interface BatchedUdpDeps extends UdpResponders {
  readonly sockets: SystemSockets;
  readonly address: IpAddress;
  readonly config: UdpConfig;
  readonly metrics: MetricRegistry;
}

/**
 * In a flood, the thread sleeps between batches so that more datagrams gather: each batch wakes threads on both sides,
 * which costs as much as an answer or two. This delays an answer by up to 75 µs, including the system's own delay.
 */
const PAUSE_US = 25;
/** A batch of so many datagrams is large enough. */
const GATHERED = 32;
/** After this time, the event loop runs deltas, connections and timers of the thread. */
const TURN_MS = 1;
const TURN_BATCHES_MAX = 64;

/**
 * DNS over UDP with many datagrams per system call. When the event loop reports a readable socket, the thread receives
 * and answers batches before it continues, so it sleeps, wakes and applies deltas like any other thread. Rejects with the
 * system's error if the address cannot be bound.
 */
export async function listenBatchedUdp(deps: BatchedUdpDeps): Promise<Listener> {
  const { sockets, address, config, metrics, clock } = deps;
  const sendErrors = udpSendErrors(metrics);
  const fd = opened(config.fd ?? sockets.bindUdp(address, config.port, config.reusePort, config.onlyIpv6));
  const batch = createDatagramBatch(sockets, address.family, clock);
  let isOpen = true;
  /** Answers that are not known yet. */
  let pending = 0;
  let onNonePending = (): void => undefined;
  const sendLater: SendLater = (response, name) => {
    pending++;
    void response.then((known) => {
      if (known && isOpen && !sockets.sendTo(fd, known, name)) sendErrors.value += 1;
      if (--pending === 0) onNonePending();
    });
  };
  const isFlood = createFloodGauge();
  const answerWaiting = (): boolean => {
    let flood = false;
    const startMs = clock.monotonicMs();
    for (let batches = 1; batches <= TURN_BATCHES_MAX; batches++) {
      const received = batch.receive(fd);
      if (received > 0) {
        answerAll(deps, batch, received, sendLater);
        sendErrors.value += batch.send(fd);
      }
      const nowMs = clock.monotonicMs();
      flood = isFlood(received, nowMs);
      // After a single datagram, another seldom follows at once, and polling is cheaper than receiving nothing.
      if (nowMs - startMs >= TURN_MS || (!flood && received <= 1)) break;
      if (flood && received < GATHERED) sockets.pause(PAUSE_US);
    }
    return flood;
  };
  const watch = sockets.watch(fd, answerWaiting);
  return {
    port: sockets.portOf(fd),
    fd,
    close: async (timeoutMs) => {
      watch.close();
      if (pending > 0 && timeoutMs > 0) {
        await new Promise<void>((resolve) => {
          const limit = setTimeout(resolve, timeoutMs);
          onNonePending = () => {
            clearTimeout(limit);
            resolve();
          };
        });
      }
      isOpen = false;
      releaseFd(fd);
      sockets.close(fd);
    },
  };
}

/** Sends a response that is not known yet when its batch is sent; `name` is the peer's socket address. */
type SendLater = (response: Promise<Response>, name: Uint8Array) => void;

function answerAll({ quickAnswer, respond }: BatchedUdpDeps, batch: DatagramBatch, received: number, sendLater: SendLater): void {
  for (let slot = 0; slot < received; slot++) {
    const datagram = batch.datagram(slot);
    if (datagram.port === 0) continue;
    let bytes = quickAnswer(datagram);
    if (bytes === DROPPED) continue;
    if (bytes === 0) {
      const response = respond(datagram.input.subarray(datagram.start, datagram.start + datagram.length), senderOf(datagram));
      if (response === undefined) continue;
      if (response instanceof Promise) {
        sendLater(response, batch.nameOf(slot));
        continue;
      }
      bytes = response.copy(datagram.output, datagram.outStart, 0, OUTPUT_BYTES);
    }
    batch.answer(slot, bytes);
  }
}
