import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Between a nameserver and its primary, over UDP and TCP. */
export interface CutRelay {
  /** The first connection that carries more than so many bytes of the primary stops there; it is cut once `meanwhile` is done. */
  cutAfter(bytes: number, meanwhile: () => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export async function startCutRelay(port: number, primaryPort: number): Promise<CutRelay> {
  let cut: { readonly bytes: number; end(): Promise<void> } | null = null;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const primary = connect(primaryPort, "127.0.0.1");
    const destroy = (): void => void [client, primary].forEach((socket) => socket.destroy());
    for (const socket of [client, primary]) {
      open.add(socket);
      socket.on("error", destroy).on("close", () => {
        open.delete(socket);
        destroy();
      });
    }
    client.pipe(primary);
    let carried = 0;
    primary.on("data", (chunk) => {
      const now = cut;
      if (now === null || carried + chunk.length <= now.bytes) {
        carried += chunk.length;
        client.write(chunk);
        return;
      }
      cut = null;
      client.write(chunk.subarray(0, now.bytes - carried));
      primary.pause();
      void now.end().then(destroy);
    });
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const datagrams = createSocket("udp4");
  const clients = new Map<number, UdpSocket>();
  datagrams.on("message", (message, { port: from }) => {
    let toPrimary = clients.get(from);
    if (!toPrimary) {
      clients.set(from, (toPrimary = createSocket("udp4")));
      toPrimary.on("error", () => undefined).on("message", (answer) => datagrams.send(answer, from, "127.0.0.1"));
    }
    toPrimary.send(message, primaryPort, "127.0.0.1");
  });
  datagrams.bind(port, "127.0.0.1");
  await once(datagrams, "listening");
  return {
    cutAfter: (bytes, meanwhile) =>
      new Promise<void>((resolve, reject) => {
        cut = { bytes, end: () => meanwhile().then(() => resolve(), reject) };
      }),
    close: async () => {
      for (const socket of open) socket.destroy();
      for (const socket of [datagrams, ...clients.values()]) socket.close();
      server.close();
      await once(server, "close");
    },
  };
}
