import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { dialThroughLoop } from "#wire/connections/epoll/loop-socket.ts";
import { dialThroughNode } from "#wire/connections/transport/node-transport.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";

export const socketCalls = await loadSocketCalls();

/** Exceptions of the sockets' owners, from all loops of a test file. */
export const thrown: unknown[] = [];

/** The implementations of a transport. */
export const WAYS: readonly (readonly [way: string, loop: SocketLoop | null])[] = [
  ["Node.js", null],
  ...(socketCalls === null ? [] : [["our own loop", new SocketLoop(socketCalls, (error) => void thrown.push(error))] as const]),
];

/** Dials a port of this machine. */
export const dial = (loop: SocketLoop | null, port: number): Transport =>
  (loop === null ? undefined : dialThroughLoop(loop, "127.0.0.1", port)) ??
  dialThroughNode((onread) => connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true, onread }));

/** Runs the work within a tick, as incoming bytes make sockets do it; without a loop, at once. */
export function inTickOf(loop: SocketLoop | null, work: () => void): Promise<void> | void {
  if (loop === null) return work();
  return new Promise((resolve, reject) => {
    const run = (): void => {
      try {
        resolve(work());
      } catch (error) {
        reject(error as Error);
      }
    };
    loop.later({ run, abandon: () => undefined });
  });
}

/** A handler that records everything it hears. */
export interface Ear extends TransportHandler {
  text: string;
  isConnected: boolean;
  drains: number;
  ends: number;
  readonly closed: string[];
}

export function createEar(more: Partial<TransportHandler> = {}): Ear {
  const ear: Ear = {
    text: "",
    isConnected: false,
    drains: 0,
    ends: 0,
    closed: [],
    onConnected: () => {
      ear.isConnected = true;
      more.onConnected?.();
    },
    onBytes: (buffer, length) => {
      ear.text += buffer.toString("latin1", 0, length);
      more.onBytes?.(buffer, length);
    },
    onDrain: () => {
      ear.drains++;
      more.onDrain?.();
    },
    onEnd: () => {
      ear.ends++;
      more.onEnd?.();
    },
    onClosed: (code) => {
      ear.closed.push(code);
      more.onClosed?.(code);
    },
  };
  return ear;
}

/** A server whose connections a test takes in order of arrival. */
export interface Peer {
  readonly port: number;
  readonly server: Server;
  /** Dials the server. */
  dial(loop: SocketLoop | null): Transport;
  /** The next connection that was not taken yet. */
  accept(): Promise<Socket>;
  /** Closes connections that a failed test has left open, too. */
  close(): void;
}

export async function createPeer(): Promise<Peer> {
  const accepted: Socket[] = [];
  const all: { destroy(): void }[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    accepted.push(socket);
    all.push(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    server,
    dial: (loop) => {
      const near = dial(loop, port);
      all.push(near);
      return near;
    },
    accept: async () => {
      while (accepted.length === 0) await once(server, "connection");
      return accepted.shift()!;
    },
    close: () => {
      server.close();
      for (const socket of all) socket.destroy();
    },
  };
}
