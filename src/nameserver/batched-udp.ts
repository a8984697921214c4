import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { IpAddress } from "#kernel/ip.ts";
import type { MetricRegistry } from "#kernel/metrics.ts";
import { createDatagramBatch, type DatagramBatch, OUTPUT_BYTES } from "./datagram-batch.ts";
import type { QuickAnswer } from "./quick-answers.ts";
import type { Respond } from "./respond.ts";
import type { SystemSockets } from "./system-sockets.ts";
import { enlargeBuffer, type Listener, type UdpConfig, udpSendErrors } from "./udp.ts";

export interface BatchedUdpDeps {
  readonly sockets: SystemSockets;
  readonly address: IpAddress;
  readonly config: UdpConfig;
  readonly quickAnswer: QuickAnswer;
  readonly respond: Respond;
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
  const { sockets, address, config, respond, metrics } = deps;
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

  const batch = createDatagramBatch(sockets);
  const onSent = (error: Error | null): void => {
    if (error) sendErrors.value += 1;
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
      answerAll(deps, batch, received);
      sendErrors.value += batch.send(fd);
    }
    turnEnd ??= setImmediate(() => {
      turnEnd = undefined;
      left = TURN_DATAGRAMS_MAX;
    });
  };
  socket.on("error", onSent);
  socket.on("message", (packet, peer) => {
    const response = peer.port === 0 ? undefined : respond(packet, "udp");
    if (response) socket.send(response, peer.port, peer.address, onSent);
    drain();
  });
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

function answerAll({ quickAnswer, respond }: BatchedUdpDeps, batch: DatagramBatch, received: number): void {
  const { input, output } = batch;
  for (let slot = 0; slot < received; slot++) {
    if (batch.isForged(slot)) continue;
    const start = batch.inputStart(slot);
    const length = batch.inputBytes(slot);
    const outStart = batch.outputStart(slot);
    let bytes = quickAnswer(input, start, length, output, outStart);
    if (bytes === 0) {
      const response = respond(input.subarray(start, start + length), "udp");
      if (response === undefined) continue;
      bytes = response.copy(output, outStart, 0, OUTPUT_BYTES);
    }
    batch.answer(slot, bytes);
  }
}
