import { createCipheriv, createHmac } from "node:crypto";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const [SECRET_BYTES, KEY_BYTES, NONCE_BYTES] = [32, 16, 12];
/** The content types of records (RFC 8446 §5.1). */
const [HANDSHAKE, APPLICATION_DATA] = [22, 23];
/** A handshake message: its type, its length, and that the other side's keys are to be new as well (RFC 8446 §4.6.3). */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 1]);
const TAG_BYTES = 16;

/** An established TLS 1.3 connection whose client writes raw records from then on. */
export interface KeyUpdater {
  readonly socket: Socket;
  /** This many records, each of which updates the keys and requests an update. */
  keyUpdates(count: number): Buffer;
  /** A record with a text, once. */
  text(text: string): Buffer;
}

/** Throws if the handshake fails. Nothing but the handshake has been sent over the connection. */
export async function connectKeyUpdater(port: number, servername: string): Promise<KeyUpdater> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => undefined);
  const secured = connectTls({ socket, servername, ciphers: "TLS_AES_128_GCM_SHA256", minVersion: "TLSv1.3", rejectUnauthorized: false });
  let secret: Buffer | undefined;
  secured.on("keylog", (line) => {
    const [label, , value] = line.toString().trim().split(" ");
    if (label === "CLIENT_TRAFFIC_SECRET_0") secret = Buffer.from(value ?? "", "hex");
  });
  // Node sends the end of the handshake only after the secureConnect event; tickets arrive after that.
  await new Promise((resolve, reject) => secured.once("session", resolve).once("error", reject));
  secured.on("error", () => undefined);
  const current = (): Buffer => {
    if (secret === undefined) throw new Error("the handshake left no secret");
    return secret;
  };
  return {
    socket,
    keyUpdates: (count) =>
      Buffer.concat(
        Array.from({ length: count }, () => {
          const record = firstRecord(current(), HANDSHAKE, KEY_UPDATE);
          secret = expand(current(), "traffic upd", SECRET_BYTES);
          return record;
        }),
      ),
    text: (text) => firstRecord(current(), APPLICATION_DATA, Buffer.from(text)),
  };
}

/** Under this secret (RFC 8446 §5.2). */
function firstRecord(secret: Buffer, type: number, content: Buffer): Buffer {
  const inner = Buffer.concat([content, Buffer.from([type])]);
  const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, inner.length + TAG_BYTES]);
  const cipher = createCipheriv("aes-128-gcm", expand(secret, "key", KEY_BYTES), expand(secret, "iv", NONCE_BYTES));
  cipher.setAAD(head);
  return Buffer.concat([head, cipher.update(inner), cipher.final(), cipher.getAuthTag()]);
}

/** HKDF-Expand-Label without a context (RFC 8446 §7.1). */
function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = `tls13 ${label}`;
  const info = Buffer.concat([Buffer.from([0, length, name.length]), Buffer.from(name), Buffer.from([0])]);
  return createHmac("sha256", secret)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, length);
}
