import { type ClientHttp2Session, connect } from "node:http2";
import type { TestContext } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { type FrontOptions, type GatewayFront, gatewayFront } from "./gateway-front.ts";

export interface SecureGateway extends GatewayFront {
  /** PEM of the authority behind the gateway's certificate. */
  readonly rootPem: string;
}

/** A gateway plane with TLS for `www.example.com`. */
export async function secureGateway(t: TestContext, options: FrontOptions = {}): Promise<SecureGateway> {
  const root = await createRoot(systemClock);
  const { chain, privateKey } = await createLocalCa({ root, clock: systemClock }).issue(["www.example.com"]);
  const front = await gatewayFront(t, { ...options, config: { ...options.config, tls: { certificate: chain, key: privateKey } } });
  return { ...front, rootPem: root.certificate };
}

/** An HTTP/2 connection of node:http2: over TLS with `rootPem`, otherwise with prior knowledge. */
export function gatewaySession(
  t: TestContext,
  { port, rootPem }: { readonly port: number; readonly rootPem?: string },
): ClientHttp2Session {
  const session =
    rootPem === undefined
      ? connect(`http://127.0.0.1:${port}`)
      : connect("https://www.example.com", { host: "127.0.0.1", port, servername: "www.example.com", ca: rootPem });
  session.on("error", () => undefined);
  t.after(() => session.destroy());
  return session;
}
