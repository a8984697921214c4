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
 * In a flood the thread sleeps between batches, until some more datagrams have come: each batch wakes threads on both sides,
 * which costs as much as an answer or two. An answer waits for up to 75 µs more then, the system's own delay included.
 */
const PAUSE_US = 25;
/** So many are worth their batch. */
const GATHERED = 32;
/** Then deltas, connections and timers of the thread get their turn. */
const TURN_MS = 1;
const TURN_BATCHES_MAX = 64;

/**
 * DNS over UDP with many datagrams a system call. The event loop says that some wait; they are taken and answered in
 * batches before it goes on. So the thread sleeps, wakes and applies deltas as any other does. Rejects with the system's
 * error where the address cannot be bound.
 */
export async function listenBatchedUdp(deps: BatchedUdpDeps): Promise<Listener> {
  const { sockets, address, config, metrics, clock } = deps;
  const sendErrors = udpSendErrors(metrics);
  const fd = opened(config.fd ?? sockets.bindUdp(address, config.port, config.reusePort));
  const batch = createDatagramBatch(sockets, address.family, clock);
  let isOpen = true;
  const sendLater: SendLater = (response, name) => {
    void response.then((known) => {
      if (known && isOpen && !sockets.sendTo(fd, known, name)) sendErrors.value += 1;
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
      // One that was alone is seldom followed at once: asking the event loop is cheaper than asking in vain.
      if (nowMs - startMs >= TURN_MS || (!flood && received <= 1)) break;
      if (flood && received < GATHERED) sockets.pause(PAUSE_US);
    }
    return flood;
  };
  const watch = sockets.watch(fd, answerWaiting);
  return {
    port: sockets.portOf(fd),
    close: async () => {
      isOpen = false;
      watch.close();
      releaseFd(fd);
      sockets.close(fd);
    },
  };
}

/** For a response that is not known yet when its batch is sent; `name` is where it goes. */
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
