import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import type { Duplex } from "node:stream";
import { parentPort, workerData } from "node:worker_threads";

// The thread of gateway-realtime.ts: a provider whose sessions send at full speed, and the clients that read them.

export interface RealtimeLoad {
  readonly sessions: number;
  /** Bytes of a message's payload. */
  readonly messageBytes: number;
  /** Whether each message says that an answer is over: the gateway parses it and counts its usage. */
  readonly areAnswers: boolean;
}

const HEAD = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";
/** Bytes of one write. */
const WRITE_BYTES = 256 * 1024;

const { messageBytes, areAnswers, sessions } = workerData as RealtimeLoad;
let received = 0;

function messages(): Buffer {
  const event = JSON.stringify({
    type: areAnswers ? "response.done" : "response.delta",
    response: { usage: { input_tokens: 1, output_tokens: 1 } },
  });
  const payload = Buffer.from(event + " ".repeat(Math.max(0, messageBytes - event.length)));
  const head = Buffer.from(payload.length < 126 ? [0x81, payload.length] : [0x81, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (payload.length >= 126) head.writeBigUInt64BE(BigInt(payload.length), 2);
  const one = Buffer.concat([head, payload]);
  return Buffer.concat(Array.from({ length: Math.max(1, Math.floor(WRITE_BYTES / one.length)) }, () => one));
}

const bytes = messages();
const provider = createServer((socket) => {
  const send = (): void => {
    while (socket.write(bytes));
  };
  socket.on("error", () => undefined).on("drain", send);
  socket.once("data", () => {
    socket.write(HEAD);
    send();
  });
});
provider.listen(0, "127.0.0.1", () => parentPort?.postMessage((provider.address() as AddressInfo).port));

parentPort?.on("message", (message: "bytes" | { readonly url: string; readonly headers: Record<string, string> }) => {
  if (message === "bytes") {
    parentPort?.postMessage(received);
    received = 0;
    return;
  }
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  for (let i = 0; i < sessions; i++) {
    const asked = request(message.url, { headers: { ...message.headers, ...upgrade } });
    asked.on("upgrade", (_res: unknown, socket: Duplex) => void socket.on("data", (chunk: Buffer) => (received += chunk.length)));
    asked.on("response", (res) => void process.stderr.write(`the gateway refused a session: ${res.statusCode}\n`));
    asked.end();
  }
});
