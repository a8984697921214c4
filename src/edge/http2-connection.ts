import { performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { EdgeContext, OpenConnection } from "./context.ts";
import type { Arrival } from "./exchange.ts";
import { Http2Stream } from "./http2-stream.ts";
import type { EdgeLimits } from "./config.ts";

/** One visitor's connection of HTTP/2, which carries many requests at once. */
export class Http2Connection implements OpenConnection {
  private readonly edge: EdgeContext;
  private readonly arrival: Arrival;
  private readonly socket: Socket;
  private readonly session: ServerHttp2Session;
  private readonly streams = new Set<Http2Stream>();
  /** The client's settings came: it speaks the protocol. */
  private isSettled = false;
  private sinceMs: number;

  constructor(edge: EdgeContext, socket: Socket, arrival: Arrival) {
    this.edge = edge;
    this.arrival = arrival;
    this.socket = socket;
    this.sinceMs = edge.timers.nowMs;
    // Nothing is sent to a client that has closed its side.
    socket.allowHalfOpen = false;
    this.session = performServerHandshake(socket, sessionOptions(edge.limits));
    this.session.on("stream", (stream, _named, _flags, raw) => this.guard(() => this.onStream(stream, raw as readonly string[])));
    this.session.once("remoteSettings", () => (this.isSettled = true));
    // Errors are how node:http2 tells of clients that break the rules: it has ended the connection already.
    this.session.on("error", ignore);
    socket.on("error", ignore);
    socket.on("close", () => this.closed());
    edge.timers.add(this);
    edge.connections.add(this);
  }

  drain(): void {
    if (this.session.closed) return;
    this.sinceMs = this.edge.timers.nowMs;
    this.session.close();
  }

  destroy(): void {
    this.session.destroy();
    this.socket.destroy();
  }

  check(nowMs: number): void {
    const { limits } = this.edge;
    for (const stream of this.streams) stream.check(nowMs);
    if (this.streams.size > 0) return;
    const waitedMs = nowMs - this.sinceMs;
    if (this.session.closed) {
      if (waitedMs > limits.lingerMs) this.destroy();
    } else if (!this.isSettled) {
      if (waitedMs > limits.headTimeoutMs) this.destroy();
    } else if (waitedMs > limits.idleTimeoutMs) this.drain();
  }

  private onStream(stream: ServerHttp2Stream, fields: readonly string[]): void {
    // Errors are how node:http2 tells of resets; the close that follows says all that matters.
    stream.on("error", ignore);
    // Asked and taken back in one go.
    if (stream.destroyed || stream.closed) return;
    const request = new Http2Stream(this.edge, this.arrival, stream);
    this.streams.add(request);
    stream.on("close", () => {
      this.streams.delete(request);
      this.sinceMs = this.edge.timers.nowMs;
      request.leave();
    });
    request.take(fields, this.arrival.scheme);
  }

  private closed(): void {
    this.edge.timers.remove(this);
    this.edge.connections.delete(this);
    this.session.destroy();
  }

  private guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.edge.report(error);
      this.destroy();
    }
  }
}

/** As good as none. */
const SESSION_MEGABYTES_MAX = 1_000_000;

const ignore = (): void => undefined;

const sessionOptions = (limits: EdgeLimits) => ({
  settings: {
    enablePush: false,
    // WebSockets in streams of their own (RFC 8441).
    enableConnectProtocol: true,
    maxConcurrentStreams: limits.http2StreamsMax,
    initialWindowSize: limits.http2WindowBytes,
    maxHeaderListSize: limits.http2HeadBytesMax,
  },
  maxHeaderListPairs: limits.http2FieldsMax,
  // Node.js does not subtract what a stream held when it was reset, and refuses every stream once the sum of that has reached
  // this bound. What a connection holds is bounded by its streams, and by what waits in each.
  maxSessionMemory: SESSION_MEGABYTES_MAX,
  // Asking and taking back costs the origin more than the client (CVE-2023-44487).
  streamResetBurst: limits.http2ResetsMax,
  streamResetRate: limits.http2ResetsPerSecond,
  maxSessionInvalidFrames: limits.http2ResetsMax,
  maxSessionRejectedStreams: limits.http2ResetsMax,
  // An origin may send a field twice that should stand once: it is passed on as HTTP/1.1 passes it on.
  strictSingleValueFields: false,
});
