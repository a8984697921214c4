import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface DelayRelay {
  readonly port: number;
  close(): void;
}

/** Passes connections on to a port of this machine, each byte so much later: a path of this length, and as wide as one likes. */
export async function startDelayRelay(toPort: number, oneWayMs: number): Promise<DelayRelay> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: toPort, allowHalfOpen: true, noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.on("data", (bytes: Buffer) => setTimeout(() => to.write(bytes), oneWayMs));
      from.on("end", () => setTimeout(() => to.end(), oneWayMs));
      from.on("error", () => to.destroy());
      from.on("close", () => open.delete(from));
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
