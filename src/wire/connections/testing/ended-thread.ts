import { parentPort, workerData } from "node:worker_threads";
import { parseIp } from "#kernel/net/ip.ts";
import { LoopListener } from "#wire/connections/epoll/loop-listener.ts";
import { SecureChannel } from "#wire/connections/epoll/secure-channel.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { PLAIN_OPTIONS } from "./secure.ts";

// A thread that ends at an unknown moment: it shakes hands, or repeats one call without end once a client has connected.

const { chain, privateKey, work } = workerData as { chain: string; privateKey: Uint8Array; work: string };
const calls = (await loadSocketCalls())!;
const secure = calls.secure!;
const { openSsl } = secure;
const options = { ...PLAIN_OPTIONS, chain, privateKey: Buffer.from(privateKey) };
const context = openSsl.createContext(options)!;
const loop = new SocketLoop(calls, () => undefined);

/** Works on a secure connection, by name. */
const WORKS: Readonly<Record<string, (ssl: number) => void>> = {
  agreed: (ssl) => void [openSsl.version(ssl), openSsl.cipher(ssl), openSsl.alpn(ssl), openSsl.serverName(ssl)],
  reads: (ssl) => {
    openSsl.feed(1);
    openSsl.failure(ssl, openSsl.read(ssl, secure.readAt, 1));
    openSsl.takeBack();
  },
  writes: (ssl) => openSsl.failure(ssl, openSsl.write(ssl, secure.at, 100)),
  connections: () => openSsl.free(openSsl.open(context, 0)),
  contexts: () => openSsl.freeContext(openSsl.createContext(options)!),
};

const ignore = (): void => undefined;
const listener = new LoopListener(loop, {
  ...{ address: parseIp("127.0.0.1")!, port: 0, reusePort: false, backlog: 1024 },
  onConnection: (socket) => {
    const ssl = openSsl.open(context, socket.fd);
    const channel = new SecureChannel(secure, ssl, null);
    const onSecured = (): void => {
      channel.agreed();
      const once = WORKS[work];
      if (once === undefined) return socket.destroy();
      parentPort!.postMessage("working");
      for (;;) once(ssl);
    };
    socket.attach({ onSecured, onBytes: ignore, onDrain: ignore, onEnd: () => socket.destroy(), onClosed: ignore });
    socket.secure(channel);
  },
});
parentPort!.postMessage(listener.port);
