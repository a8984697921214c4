import { connect } from "node:tls";
import { dialThroughNode } from "#wire/connections/transport/node-transport.ts";
import { TUNNEL_ALPN } from "#wire/tls/tunnel-protocol.ts";
import { FRAME } from "#wire/tunnel/frames.ts";
import { type TunnelSessionOwner, TunnelSession } from "#wire/tunnel/session.ts";
import type { TunnelStream } from "#wire/tunnel/stream.ts";
import type { TransportHandler } from "#wire/connections/transport/transport.ts";

/** Where and as whom a connector dials. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  /** The name in the edge's certificate. */
  readonly serverName: string;
  /** PEM; empty: the public ones. */
  readonly authorities: readonly string[];
  /** JSON of the first frame. */
  readonly hello: string;
}

export interface Welcome {
  readonly connection: string;
  /** The edge's thread that has the connection, and how many threads there are. */
  readonly thread: string;
  readonly threads: number;
}

export interface EdgeConnectionOwner {
  onStream(stream: TunnelStream): void;
  onWelcome(connection: EdgeConnection): void;
  /** The rules of the tunnel; false if they cannot be used. */
  onConfig(config: { readonly version: number; readonly rules: unknown }): boolean;
  /** A stream has ended, or the edge asks to dial elsewhere. */
  onChanged(connection: EdgeConnection): void;
  /** `refusal`: what the edge said about it; "" if it said nothing. */
  onClosed(connection: EdgeConnection, code: string, refusal: string): void;
}

const HANDSHAKE_MS = 15_000;
const TIMED_OUT = "ETIMEDOUT";

/** A connection to the edge, from the first byte on. */
export class EdgeConnection implements TunnelSessionOwner, TransportHandler {
  readonly session: TunnelSession;
  /** Null until the edge has accepted it. */
  welcome: Welcome | null = null;
  private readonly owner: EdgeConnectionOwner;
  private readonly hello: string;
  private readonly limit: NodeJS.Timeout;
  private refusal = "";

  constructor(owner: EdgeConnectionOwner, { address, port, serverName, authorities, hello }: Destination) {
    this.owner = owner;
    this.hello = hello;
    const transport = dialThroughNode((onread) => {
      const socket = connect({
        ...{ host: address, port, servername: serverName, ALPNProtocols: [TUNNEL_ALPN], minVersion: "TLSv1.2", onread },
        ...(authorities.length === 0 ? {} : { ca: [...authorities] }),
      });
      socket.setNoDelay(true);
      return socket;
    });
    this.session = new TunnelSession(transport, this);
    this.limit = setTimeout(() => this.session.destroy(TIMED_OUT), HANDSHAKE_MS);
    transport.attach(this);
  }

  get isServing(): boolean {
    return this.welcome !== null && !this.session.isOver && !this.session.isDraining;
  }

  onSecured(): void {
    if (this.session.transport.tls?.alpnProtocol !== TUNNEL_ALPN) return this.session.destroy("ENOPROTOOPT");
    this.session.trust();
    this.session.start();
    this.session.send(FRAME.hello, 0, this.hello);
  }

  /** Nothing comes before the handshake is over. */
  onBytes(): void {
    this.session.destroy("EPROTO");
  }

  onDrain(): void {}

  onEnd(): void {
    this.session.destroy("ECONNRESET");
  }

  onStream(stream: TunnelStream): void {
    this.owner.onStream(stream);
  }

  onFrame(kind: number, payload: Buffer): void {
    const value = JSON.parse(payload.toString("utf8")) as object;
    if (kind === FRAME.refused) this.refusal = String((value as { readonly reason?: unknown }).reason);
    else if (kind === FRAME.welcome) {
      clearTimeout(this.limit);
      this.welcome = value as Welcome;
      this.owner.onWelcome(this);
    } else if (kind === FRAME.config) {
      const config = value as { readonly version: number; readonly rules: unknown };
      if (this.owner.onConfig(config)) this.session.send(FRAME.applied, 0, String(config.version));
    }
  }

  onChanged(): void {
    this.owner.onChanged(this);
  }

  onClosed(code: string): void {
    clearTimeout(this.limit);
    this.owner.onClosed(this, code, this.refusal);
  }
}
