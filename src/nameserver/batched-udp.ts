import { createSocket } from "node:dgram";
import { once } from "node:events";
import { formatIp, type IpAddress } from "#kernel/ip.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import type { Client } from "./client.ts";
import { OUTPUT_BYTES, senderOf } from "./datagram.ts";
import { createDatagramBatch, type DatagramBatch } from "./datagram-batch.ts";
import { createDelivery, type UdpResponders } from "./delivery.ts";
import { DROPPED } from "./quick-answers.ts";
import type { Response } from "./respond.ts";
import type { SystemSockets } from "./system-sockets.ts";
import { createSend, enlargeBuffer, type Listener, type UdpConfig, udpSendErrors } from "./udp.ts";

export interface BatchedUdpDeps extends UdpResponders {
  readonly sockets: SystemSockets;
  readonly address: IpAddress;
  readonly config: UdpConfig;
  readonly metrics: MetricRegistry;
}

/** Datagrams that are answered before deltas, connections and timers of the thread get their turn. */
const TURN_DATAGRAMS_MAX = 1024;

/**
 * DNS over UDP with many datagrams a system call. Node watches the socket and reads the first datagram that arrives;
 * whatever waits behind it is taken and answered in batches before the event loop goes on. So the thread sleeps, wakes
 * and applies deltas as any other does. Rejects with the system's error where the address cannot be bound.
 */
export async function listenBatchedUdp(deps: BatchedUdpDeps): Promise<Listener> {
  const { sockets, address, config, metrics } = deps;
  const sendErrors = udpSendErrors(metrics);
  const family = address.family;
  const fd = sockets.bindUdp(address, config.port, config.reusePort);
  const socket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    // Peers are addresses already: nothing is to be looked up for each answer.
    lookup: (text, _options, done) => done(null, text, family),
  });
  const listening = once(socket, "listening");
  try {
    socket.bind({ fd });
    await listening;
  } catch (error) {
    socket.close();
    sockets.close(fd);
    throw error;
  }
  sockets.forbidReuse(fd);
  enlargeBuffer(socket);

  const batch = createDatagramBatch(sockets, deps.clock);
  const onSent = (error: Error | null): void => {
    if (error) sendErrors.value += 1;
  };
  const send = createSend(socket, onSent);
  const deliver = createDelivery(deps, send);
  const sendLater: SendLater = (response, { address: bytes, port }) => {
    const text = formatIp({ family: bytes.length === 4 ? 4 : 6, bytes });
    send(response, port, family === 6 && bytes.length === 4 ? `::ffff:${text}` : text);
  };
  let left = TURN_DATAGRAMS_MAX;
  let turnEnd: NodeJS.Immediate | undefined;
  const drain = (): void => {
    while (left > 0) {
      const received = batch.receive(fd);
      if (received === 0) {
        // Nothing waited any longer, so nothing of the thread was held up.
        left = TURN_DATAGRAMS_MAX;
        return;
      }
      left -= received;
      answerAll(deps, batch, received, sendLater);
      sendErrors.value += batch.send(fd);
    }
    turnEnd ??= setImmediate(() => {
      turnEnd = undefined;
      left = TURN_DATAGRAMS_MAX;
    });
  };
  socket.on("error", onSent);
  socket.on("message", (packet, peer) => {
    // At a moderate load this is every datagram, and Node's own way of sending costs more than all the rest of an answer.
    if (batch.put(packet, peer)) {
      answerAll(deps, batch, 1, sendLater);
      sendErrors.value += batch.send(fd);
    } else deliver(packet, peer);
    drain();
  });
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

/** For a response that is not known yet when its batch is sent. */
type SendLater = (response: Promise<Response>, client: Client) => void;

function answerAll({ quickAnswer, respond }: BatchedUdpDeps, batch: DatagramBatch, received: number, sendLater: SendLater): void {
  for (let slot = 0; slot < received; slot++) {
    const datagram = batch.datagram(slot);
    if (datagram.port === 0) continue;
    let bytes = quickAnswer(datagram);
    if (bytes === DROPPED) continue;
    if (bytes === 0) {
      const client = senderOf(datagram);
      const response = respond(datagram.input.subarray(datagram.start, datagram.start + datagram.length), client);
      if (response === undefined) continue;
      if (response instanceof Promise) {
        sendLater(response, client);
        continue;
      }
      bytes = response.copy(datagram.output, datagram.outStart, 0, OUTPUT_BYTES);
    }
    batch.answer(slot, bytes);
  }
}
