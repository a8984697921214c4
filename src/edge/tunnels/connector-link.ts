import { randomUUID } from "node:crypto";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { Checked } from "#kernel/timers.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import { FRAME } from "#wire/tunnel/frames.ts";
import { type TunnelSessionOwner, TunnelSession } from "#wire/tunnel/session.ts";
import type { TunnelEntry } from "#snapshot/entries.ts";
import { type Hello, readHello } from "./hello.ts";

/** The tunnels of a thread, as their connections see them. */
export interface LinkOwner {
  readonly clock: Clock;
  readonly helloTimeoutMs: number;
  /** Edge threads behind the port, and this one: a connector dials until it has a connection to each. */
  readonly threads: { readonly own: string; readonly count: number };
  /** The tunnel that the connector may serve, or why it may not. */
  admit(link: ConnectorLink, hello: Hello): TunnelEntry | string;
  /** The state of an admitted connection has changed. */
  changed(link: ConnectorLink): void;
  closed(link: ConnectorLink): void;
}

const VERSION = /^\d{1,15}$/;

/** A connector's connection to this thread. */
export class ConnectorLink implements TunnelSessionOwner, Checked {
  readonly id = randomUUID();
  readonly session: TunnelSession;
  readonly openedAt: string;
  /** Null until it has shown who it is. */
  hello: Hello | null = null;
  private readonly owner: LinkOwner;
  private readonly address: string;
  private readonly sinceMs: number;
  private sentVersion = -1;
  private newestSent = -1;
  private appliedVersion = 0;

  constructor(owner: LinkOwner, transport: Transport, client: End) {
    this.owner = owner;
    this.address = client.address;
    this.openedAt = isoMicros(owner.clock.nowMicros());
    this.sinceMs = owner.clock.monotonicMs();
    this.session = new TunnelSession(transport, this);
    this.session.start();
  }

  get isUsable(): boolean {
    return this.hello !== null && this.session.takesStreams;
  }

  /** Sends the rules of the tunnel if the connector does not have them. */
  configure({ config, config_src: source }: TunnelEntry): void {
    if (source !== "cloudflare" || config === undefined || config.version === this.sentVersion) return;
    this.sentVersion = config.version;
    this.newestSent = Math.max(this.newestSent, config.version);
    this.session.send(FRAME.config, 0, JSON.stringify(config));
  }

  /** Its form in reports to control. */
  view({ tunnel: tunnel_id, connector }: Hello): TunnelLink {
    return {
      ...{ id: this.id, tunnel_id, connector_id: connector.id, version: connector.version, arch: connector.arch },
      ...{ features: connector.features, run_at: connector.run_at, opened_at: this.openedAt, address: this.address },
      ...{ config_version: this.appliedVersion, draining: this.session.isDraining },
    };
  }

  /** Ends the connection. The connector opens another one, unless the reason tells it not to. */
  refuse(reason: string): void {
    this.session.send(FRAME.refused, 0, JSON.stringify({ reason }));
    this.session.destroySoon();
  }

  /** Tells the connector to dial elsewhere. */
  announceEnd(): void {
    this.session.send(FRAME.drain, 0);
  }

  onFrame(kind: number, payload: Buffer): void {
    if (kind === FRAME.hello && this.hello === null) this.greet(readHello(payload));
    else if (kind === FRAME.applied && this.hello !== null) this.applied(payload.toString("latin1"));
    else this.session.destroy("EPROTO");
  }

  onChanged(): void {
    if (this.hello !== null && this.session.isDraining) this.owner.changed(this);
  }

  onClosed(): void {
    this.owner.closed(this);
  }

  check(nowMs: number): void {
    if (this.hello === null && nowMs - this.sinceMs > this.owner.helloTimeoutMs) this.session.destroy("ETIMEDOUT");
    else this.session.check(nowMs);
  }

  /** A restored database counts from an earlier version, so an older answer may name a later one. */
  private applied(text: string): void {
    const version = VERSION.test(text) ? Number(text) : NaN;
    if (!(version <= this.newestSent)) return this.refuse("the connector applied rules that the edge has not sent");
    this.appliedVersion = version;
    this.owner.changed(this);
  }

  private greet(hello: Hello | undefined): void {
    const entry = hello === undefined ? "the first frame is not valid" : this.owner.admit(this, hello);
    if (hello === undefined || typeof entry === "string") return this.refuse(String(entry));
    this.hello = hello;
    this.session.trust();
    const { threads } = this.owner;
    this.session.send(FRAME.welcome, 0, JSON.stringify({ connection: this.id, thread: threads.own, threads: threads.count }));
    this.configure(entry);
    this.owner.changed(this);
  }
}
