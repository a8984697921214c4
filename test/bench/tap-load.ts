import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

/** CPU time of one thread so far in µs, as the scheduler counts it: unlike ticks, it sees work of any length. */
export const threadMicroseconds = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[0]) / 1000;

/** An origin that answers every request with the same page. */
export async function startPageOrigin(port: number, body: Buffer): Promise<{ close(): void }> {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay());
    socket.on("data", (bytes) => {
      if (!bytes.includes("\r\n\r\n")) return;
      socket.write(head);
      socket.write(body);
    });
    socket.on("error", () => socket.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { close };
}

/** A client that reads one page after the other on a connection. */
export class PageVisitor {
  private readonly socket: Socket;
  private left = 0;
  private done: () => void = () => undefined;

  constructor(port: number, bytes: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    let head = "";
    this.socket.on("data", (piece: Buffer) => {
      if (this.left === 0) {
        head += piece.toString("latin1");
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        if (!head.startsWith("HTTP/1.1 200")) throw new Error(head.slice(0, end));
        this.left = bytes - (head.length - end - 4);
        head = "";
      } else this.left -= piece.length;
      if (this.left === 0) this.done();
    });
  }

  async get(host: string): Promise<void> {
    const done = new Promise<void>((resolve) => (this.done = resolve));
    this.socket.write(`GET /page HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await done;
  }

  close(): void {
    this.socket.destroy();
  }
}
