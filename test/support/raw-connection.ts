import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A TCP connection that reads only on request, like a slow client. */
export interface RawConnection {
  readonly socket: Socket;
  /** Sends the message with its length prefix. */
  send(message: Buffer): void;
  /** The next complete message; undefined if the connection ends before. */
  next(): Promise<Buffer | undefined>;
}

export async function rawConnection(port: number, host = "127.0.0.1"): Promise<RawConnection> {
  const socket = connect(port, host);
  await once(socket, "connect");
  socket.on("error", () => {});
  let bytes = Buffer.alloc(0);
  /** Undefined if no more messages arrive. */
  const more = async (): Promise<Buffer | undefined> => {
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk) return chunk;
      if (socket.destroyed || socket.readableEnded) return undefined;
      const done = new AbortController();
      await Promise.race([once(socket, "readable", done), once(socket, "close", done)]).finally(() => done.abort());
    }
  };
  return {
    socket,
    send: (message) => void socket.write(Buffer.concat([Buffer.of(message.length >> 8, message.length & 0xff), message])),
    next: async () => {
      while (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) {
        const chunk = await more();
        if (!chunk) return undefined;
        bytes = Buffer.concat([bytes, chunk]);
      }
      const message = bytes.subarray(2, 2 + bytes.readUInt16BE(0));
      bytes = bytes.subarray(2 + message.length);
      return message;
    },
  };
}
