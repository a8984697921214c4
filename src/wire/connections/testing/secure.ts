import type { TestContext } from "node:test";
import { parseIp } from "#kernel/net/ip.ts";
import { exportPrivateKey, generateKeyPair, SIGNING_ALGORITHM } from "#wire/x509/key-pair.ts";
import { loadX509 } from "#wire/x509/library.ts";
import type { OpenSsl, ServerContextOptions } from "#wire/native/openssl.ts";
import { LoopListener } from "#wire/connections/epoll/loop-listener.ts";
import type { LoopSocket } from "#wire/connections/epoll/loop-socket.ts";
import { type Agreed, SecureChannel } from "#wire/connections/epoll/secure-channel.ts";
import type { SecureCalls } from "#wire/connections/epoll/socket-calls.ts";
import { SocketLoop } from "#wire/connections/epoll/socket-loop.ts";
import { socketCalls } from "./transports.ts";
import type { TransportHandler } from "#wire/connections/transport/transport.ts";

export const NAME = "www.example.com";

/** A new self-signed certificate. */
export async function selfSigned(): Promise<Pick<ServerContextOptions, "chain" | "privateKey">> {
  const { X509CertificateGenerator, SubjectAlternativeNameExtension } = await loadX509();
  const keys = await generateKeyPair();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [NAME] }],
    signingAlgorithm: SIGNING_ALGORITHM,
    keys,
    extensions: [new SubjectAlternativeNameExtension([{ type: "dns", value: NAME }])],
  });
  return { chain: certificate.toString("pem"), privateKey: Buffer.from(await exportPrivateKey(keys.privateKey)) };
}

export const PLAIN_OPTIONS = {
  ciphers: ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  minVersion: "1.2",
  maxVersion: "1.3",
  http2: true,
  sessionContext: "test",
  sessionSeconds: 60,
  ticketKey: null,
} as const;

export interface SecureStage {
  readonly loop: SocketLoop;
  readonly port: number;
  readonly accepted: LoopSocket[];
  readonly errors: unknown[];
  /** Number of OpenSSL's connections that are open at the moment. */
  open(): number;
}

/** A port of the epoll loop where every client gets TLS at once, and is handed over after the handshake. */
export async function startSecure(
  t: TestContext,
  onSecure: (socket: LoopSocket, agreed: Agreed) => TransportHandler,
  issuers = "",
): Promise<SecureStage> {
  const secure = socketCalls!.secure!;
  let open = 0;
  const openSsl: OpenSsl = {
    ...secure.openSsl,
    open: (context, fd) => (open++, secure.openSsl.open(context, fd)),
    free: (ssl) => (open--, secure.openSsl.free(ssl)),
  };
  const calls: SecureCalls = { ...secure, openSsl };
  const { chain, privateKey } = await selfSigned();
  const context = openSsl.createContext({ ...PLAIN_OPTIONS, chain: `${chain}\n${issuers}`, privateKey })!;
  const accepted: LoopSocket[] = [];
  const errors: unknown[] = [];
  const loop = new SocketLoop(socketCalls!, (error) => void errors.push(error));
  const ignore = (): void => undefined;
  const listener = new LoopListener(loop, {
    ...{ address: parseIp("127.0.0.1")!, port: 0, reusePort: false, backlog: 1024 },
    onConnection: (socket) => {
      accepted.push(socket);
      const channel = new SecureChannel(calls, openSsl.open(context, socket.fd), null);
      const onSecured = (): void => socket.attach(onSecure(socket, channel.agreed()));
      socket.attach({ onSecured, onBytes: ignore, onDrain: ignore, onEnd: ignore, onClosed: ignore });
      socket.secure(channel);
    },
  });
  t.after(() => {
    listener.close();
    for (const socket of accepted) socket.destroy();
    openSsl.freeContext(context);
  });
  return { loop, port: listener.port, accepted, errors, open: () => open };
}
