import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

// The client of `edge-handshakes`, in a separate process: connects over TLS 1.3, closes, and connects again.

export interface HandshakeLoad {
  readonly port: number;
  readonly host: string;
  /** Concurrent handshakes. */
  readonly concurrency: number;
  readonly seconds: number;
  /** With the ticket of a first connection, or each with a new key exchange and certificate. */
  readonly resume: boolean;
}

const load = JSON.parse(process.argv[2] ?? "{}") as HandshakeLoad;
const STEP_TIMEOUT_MS = 5_000;

const open = (session?: Buffer): TLSSocket =>
  connect({
    host: "127.0.0.1",
    port: load.port,
    servername: load.host,
    ALPNProtocols: ["http/1.1"],
    minVersion: "TLSv1.3",
    // Supported by both: a proxy that also supports the hybrid with ML-KEM must not be slower for it here.
    ecdhCurve: "X25519",
    // Only the server is measured; trust in certificates has separate tests.
    rejectUnauthorized: false,
    timeout: STEP_TIMEOUT_MS,
    ...(session === undefined ? {} : { session }),
  }).on("timeout", () => process.exit(1));

/** A ticket arrives after the handshake, together with the first read data. */
async function firstTicket(): Promise<Buffer> {
  const socket = open();
  socket.write(`HEAD / HTTP/1.1\r\nHost: ${load.host}\r\n\r\n`);
  const [ticket] = (await once(socket, "session")) as [Buffer];
  socket.destroy();
  return ticket;
}

const ticket = load.resume ? await firstTicket() : undefined;
const endMs = performance.now() + load.seconds * 1000;
let done = 0;

async function connectAgainAndAgain(): Promise<void> {
  while (performance.now() < endMs) {
    const socket = open(ticket);
    await once(socket, "secureConnect");
    if (socket.isSessionReused() !== load.resume) throw new Error(`the session was ${load.resume ? "not " : ""}resumed`);
    done++;
    // Reads the server's tickets, because closing with unread data resets the connection.
    socket.resume().end();
    await once(socket, "close");
  }
}

await Promise.all(Array.from({ length: load.concurrency }, connectAgainAndAgain));
console.log(done);
