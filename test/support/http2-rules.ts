import assert from "node:assert/strict";
import { END_HEADERS, END_STREAM, FRAME, type Frame } from "./http2-frames.ts";

/** Kind of a header block, read separately. `broken` cannot be decompressed. */
export type BlockKind = "request" | "trailers" | "malformed" | "broken";

/** A frame as a client sends it; `block` describes the header block that ends with it. */
export interface SentFrame extends Frame {
  readonly block: BlockKind;
}

export interface RulesLimits {
  readonly streamsMax: number;
  readonly windowBytes: number;
  readonly continuationsMax: number;
}

/**
 * Allowed answers of a server to one frame: an error of the connection or of the frame's stream, with one of the codes;
 * or no error.
 */
export type Verdict =
  | { readonly scope: "connection"; readonly codes: ReadonlySet<number> }
  | { readonly scope: "stream"; readonly code: number }
  | { readonly scope: "none" };

/** RFC 9113 §7. */
export const CODE = { none: 0, protocol: 1, flowControl: 3, streamClosed: 5, frameSize: 6, refused: 7, compression: 9, calm: 11 } as const;
const ACK = 1;
const PADDED = 8;
const PRIORITY = 0x20;
const PUSH_PROMISE = 5;
const FRAME_BYTES_MAX = 16_384;
const WINDOW_MAX = 0x7fff_ffff;
const FINE: Verdict = { scope: "none" };

/** `remote`: its request is complete; `ended`: both sides have ended; `taken-back`: reset by the client; `reset`: reset by the server. */
type State = "open" | "remote" | "ended" | "taken-back" | "reset";
interface Stream {
  state: State;
  hasHead: boolean;
  answerBytes: number;
  /** The server's send window, and the client's. */
  sendWindow: number;
  receiveWindow: number;
}

/**
 * RFC 9113 for the client of one connection, written independently of the server: computes the required result of each
 * frame, and checks every frame of the server against it. It runs in step with the server: a frame, then all frames of
 * its response.
 */
export class Http2Rules {
  readonly streams = new Map<number, Stream>();
  /** A connection error was due, and came. */
  isOver = false;
  private readonly limits: RulesLimits;
  private isFirst = true;
  private lastStream = 0;
  isDraining = false;
  private blockStream = 0;
  private blockEndsStream = false;
  private continuations = 0;
  private initialWindow = 65_535;
  private sendWindow = 65_535;
  private receiveWindow = 65_535;
  private acksGot = 0;
  private settingsAcksDue = 0;
  private readonly pongsDue: string[] = [];

  constructor(limits: RulesLimits) {
    this.limits = limits;
  }

  get isMidBlock(): boolean {
    return this.blockStream !== 0;
  }

  get openStreams(): number[] {
    return [...this.streams].filter(([, { state }]) => state === "open" || state === "remote").map(([id]) => id);
  }

  /** Whether a request that is whole has its answer to come, when these frames are read as well. */
  waitsFor(frames: readonly Frame[]): boolean {
    const ended = new Set(
      frames.filter(({ type, flags }) => type === FRAME.RST_STREAM || (flags & END_STREAM) !== 0).map(({ stream }) => stream),
    );
    return [...this.streams].some(([id, { state }]) => state === "remote" && !ended.has(id));
  }

  /** Window space for every response, as frames. */
  roomForAll(): { readonly stream: number; readonly increment: number }[] {
    const grants = [{ stream: 0, increment: WINDOW_MAX - this.sendWindow }];
    for (const [stream, { state, sendWindow }] of this.streams)
      if (state === "remote") grants.push({ stream, increment: WINDOW_MAX - sendWindow });
    return grants.filter(({ increment }) => increment > 0);
  }

  /** Processes a frame of the client. */
  sent(frame: SentFrame): Verdict {
    const faults = this.connectionFaults(frame);
    this.isFirst = false;
    return faults.size > 0 ? { scope: "connection", codes: faults } : this.apply(frame);
  }

  /** Errors of the frame that do not depend on its stream's state. */
  private connectionFaults({ type, flags, stream, payload }: SentFrame): Set<number> {
    const { length } = payload;
    const faults = new Set<number>();
    const rule = (isBroken: boolean, code: number): void => void (isBroken && faults.add(code));
    rule(length > FRAME_BYTES_MAX, CODE.frameSize);
    rule(this.isFirst && (type !== FRAME.SETTINGS || (flags & ACK) !== 0), CODE.protocol);
    const isContinuation = type === FRAME.CONTINUATION;
    rule((this.blockStream !== 0) !== isContinuation, CODE.protocol);
    rule(isContinuation && stream !== this.blockStream, CODE.protocol);
    if (isContinuation) rule(this.continuations >= this.limits.continuationsMax, CODE.calm);
    const ofConnection: readonly number[] = [FRAME.SETTINGS, FRAME.PING, FRAME.GOAWAY];
    if (ofConnection.includes(type)) rule(stream !== 0, CODE.protocol);
    else if (type <= FRAME.CONTINUATION && type !== FRAME.WINDOW_UPDATE) rule(stream === 0, CODE.protocol);
    rule(type === PUSH_PROMISE, CODE.protocol);
    const exact = new Map<number, number>([
      [FRAME.PRIORITY, 5],
      [FRAME.RST_STREAM, 4],
      [FRAME.PING, 8],
      [FRAME.WINDOW_UPDATE, 4],
    ]).get(type);
    rule(exact !== undefined && length !== exact, CODE.frameSize);
    rule(type === FRAME.GOAWAY && length < 8, CODE.frameSize);
    rule(type === FRAME.SETTINGS && ((flags & ACK) === 0 ? length % 6 !== 0 : length !== 0), CODE.frameSize);
    if (type === FRAME.DATA || type === FRAME.HEADERS) this.paddingFaults(type, flags, payload, rule);
    return faults;
  }

  private paddingFaults(type: number, flags: number, payload: Buffer, rule: (isBroken: boolean, code: number) => void): void {
    const isPadded = (flags & PADDED) !== 0;
    const room = payload.length - (isPadded ? 1 : 0) - (type === FRAME.HEADERS && (flags & PRIORITY) !== 0 ? 5 : 0);
    rule(room < 0, CODE.frameSize);
    // Some read "too short for its priority" and "more padding than payload" in the other order.
    rule(isPadded && payload.length > 0 && payload[0]! > room, CODE.protocol);
  }

  private apply(frame: SentFrame): Verdict {
    const { type, flags, stream, payload } = frame;
    switch (type) {
      case FRAME.DATA:
        return this.data(stream, payload.length, (flags & END_STREAM) !== 0);
      case FRAME.HEADERS:
        this.blockEndsStream = (flags & END_STREAM) !== 0;
        this.continuations = 0;
        this.blockStream = stream;
        break;
      case FRAME.CONTINUATION:
        this.continuations++;
        break;
      case FRAME.RST_STREAM:
        return this.reset(stream);
      case FRAME.SETTINGS:
        return (flags & ACK) === 0 ? this.settings(payload) : this.settingsAck();
      case FRAME.PING:
        if ((flags & ACK) === 0) this.pongsDue.push(payload.toString("hex"));
        return FINE;
      case FRAME.GOAWAY:
        return this.goaway(payload.readUInt32BE(4));
      case FRAME.WINDOW_UPDATE:
        return this.windowUpdate(stream, payload.readUInt32BE(0) & WINDOW_MAX);
      default:
        return FINE;
    }
    if ((flags & END_HEADERS) === 0) return FINE;
    this.blockStream = 0;
    return this.block(stream, frame.block);
  }

  /** Of a stream that the client has never opened; one that is passed over counts as closed (RFC 9113 §5.1.1). */
  private isIdle(id: number): boolean {
    return id % 2 === 0 || (id > this.lastStream && !this.isDraining);
  }

  private fault(id: number, code: number): Verdict {
    const stream = this.streams.get(id);
    if (stream !== undefined) stream.state = "reset";
    return { scope: "stream", code };
  }

  private block(id: number, kind: BlockKind): Verdict {
    const over = (...codes: number[]): Verdict => ({ scope: "connection", codes: new Set(codes) });
    if (id % 2 === 0) return over(CODE.protocol);
    const known = this.streams.get(id);
    const isDone = known === undefined ? id <= this.lastStream : known.state === "ended" || known.state === "taken-back";
    // §5.1: after END_STREAM or RST_STREAM of the client itself, an error of the connection.
    if (isDone) return over(CODE.streamClosed, CODE.protocol);
    if (kind === "broken") return over(CODE.compression);
    if (known?.state === "reset") return FINE;
    if (known !== undefined) {
      if (known.state === "remote") return this.fault(id, CODE.streamClosed);
      if (kind !== "trailers" || !this.blockEndsStream) return this.fault(id, CODE.protocol);
      known.state = "remote";
      return FINE;
    }
    // The server has announced with GOAWAY that it accepts no more.
    if (this.isDraining) return FINE;
    const isFull = this.openStreams.length >= this.limits.streamsMax;
    this.lastStream = id;
    const state = this.blockEndsStream ? "remote" : "open";
    const windows = { sendWindow: this.initialWindow, receiveWindow: this.limits.windowBytes };
    this.streams.set(id, { state, hasHead: false, answerBytes: 0, ...windows });
    if (isFull) return this.fault(id, CODE.refused);
    return kind === "request" ? FINE : this.fault(id, CODE.protocol);
  }

  private data(id: number, length: number, endsStream: boolean): Verdict {
    this.receiveWindow -= length;
    if (this.receiveWindow < 0) return { scope: "connection", codes: new Set([CODE.flowControl]) };
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (this.isIdle(id)) return { scope: "connection", codes: new Set([CODE.protocol]) };
      return this.isDraining ? FINE : { scope: "stream", code: CODE.streamClosed };
    }
    if (stream.state === "reset") return FINE;
    // The edge has reset the stream, or the client has: the client may get an error of that stream, and no other.
    if (stream.state === "ended" || stream.state === "taken-back")
      return this.isDraining ? FINE : { scope: "stream", code: CODE.streamClosed };
    if (stream.state === "remote") return this.fault(id, CODE.streamClosed);
    stream.receiveWindow -= length;
    if (stream.receiveWindow < 0) return this.fault(id, CODE.flowControl);
    if (endsStream) stream.state = "remote";
    return FINE;
  }

  private reset(id: number): Verdict {
    const stream = this.streams.get(id);
    if (stream === undefined) return this.isIdle(id) ? { scope: "connection", codes: new Set([CODE.protocol]) } : FINE;
    if (stream.state === "open" || stream.state === "remote") stream.state = "taken-back";
    return FINE;
  }

  private settings(payload: Buffer): Verdict {
    const faults = new Set<number>();
    let window = this.initialWindow;
    for (let at = 0; at < payload.length; at += 6) {
      const setting = payload.readUInt16BE(at);
      const value = payload.readUInt32BE(at + 2);
      if ([2, 8, 9].includes(setting) && value > 1) faults.add(CODE.protocol);
      if (setting === 4 && value > WINDOW_MAX) faults.add(CODE.flowControl);
      if (setting === 4) window = value;
      if (setting === 5 && (value < FRAME_BYTES_MAX || value > 0xff_ffff)) faults.add(CODE.protocol);
    }
    const more = window - this.initialWindow;
    this.initialWindow = window;
    for (const stream of this.streams.values()) {
      stream.sendWindow += more;
      const isOpen = stream.state === "open" || stream.state === "remote";
      if (isOpen && stream.sendWindow > WINDOW_MAX) faults.add(CODE.flowControl);
    }
    if (faults.size > 0) return { scope: "connection", codes: faults };
    this.settingsAcksDue++;
    return FINE;
  }

  private settingsAck(): Verdict {
    return ++this.acksGot > 1 ? { scope: "connection", codes: new Set([CODE.protocol]) } : FINE;
  }

  private goaway(code: number): Verdict {
    if (code !== CODE.none) return { scope: "connection", codes: new Set([CODE.none]) };
    this.isDraining = true;
    return FINE;
  }

  private windowUpdate(id: number, increment: number): Verdict {
    if (id === 0) {
      this.sendWindow += increment;
      if (increment === 0) return { scope: "connection", codes: new Set([CODE.protocol]) };
      return this.sendWindow > WINDOW_MAX ? { scope: "connection", codes: new Set([CODE.flowControl]) } : FINE;
    }
    const stream = this.streams.get(id);
    if (stream === undefined) return this.isIdle(id) ? { scope: "connection", codes: new Set([CODE.protocol]) } : FINE;
    if (stream.state !== "open" && stream.state !== "remote") return FINE;
    if (increment === 0) return this.fault(id, CODE.protocol);
    stream.sendWindow += increment;
    return stream.sendWindow > WINDOW_MAX ? this.fault(id, CODE.flowControl) : FINE;
  }

  /** Checks the server's frames against the expected result of the frame that caused them. */
  heard(frames: readonly Frame[], verdict: Verdict, id: number, after = ""): void {
    let isDue = verdict.scope !== "none";
    const wasDraining = this.isDraining;
    for (const frame of frames) {
      assert.ok(!this.isOver, `${after}: something follows a connection error`);
      if (frame.type === FRAME.GOAWAY) {
        const code = frame.payload.readUInt32BE(4);
        if (verdict.scope === "connection") {
          assert.ok(verdict.codes.has(code), `${after}: GOAWAY says ${code}, due is ${[...verdict.codes].join(" or ")}`);
          this.isOver = true;
          isDue = false;
        } else assert.ok(wasDraining && code === CODE.none, `${after}: GOAWAY says ${code}, and nothing was wrong`);
      } else if (frame.type === FRAME.RST_STREAM) {
        const code = frame.payload.readUInt32BE(0);
        // Errors of its position take precedence over errors of its padding.
        const isBoth = verdict.scope === "connection" && (code === CODE.streamClosed || code === CODE.flowControl) && frame.stream === id;
        if (isBoth) continue;
        assert.equal(verdict.scope, "stream", `${after}: stream ${frame.stream} is reset, and nothing was wrong with it`);
        if (verdict.scope === "stream") assert.deepEqual([frame.stream, code], [id, verdict.code], after);
        isDue = false;
      } else this.heardOther(frame);
    }
    assert.ok(!isDue, `${after}: an error was due, and none came`);
    assert.equal(this.isOver ? 0 : this.settingsAcksDue + this.pongsDue.length, 0, `${after}: settings and pings are answered at once`);
  }

  private heardOther({ type, flags, stream: id, payload }: Frame): void {
    const stream = this.streams.get(id);
    switch (type) {
      case FRAME.SETTINGS:
        if ((flags & ACK) !== 0) assert.ok(this.settingsAcksDue-- > 0, "settings are acknowledged that were not sent");
        return;
      case FRAME.PING:
        assert.deepEqual([flags & ACK, payload.toString("hex")], [ACK, this.pongsDue.shift()]);
        return;
      case FRAME.WINDOW_UPDATE:
        if (id === 0) this.receiveWindow += payload.readUInt32BE(0);
        else if (stream !== undefined) stream.receiveWindow += payload.readUInt32BE(0);
        assert.ok(Math.max(this.receiveWindow, stream?.receiveWindow ?? 0) <= WINDOW_MAX);
        return;
      default:
    }
    assert.ok(type === FRAME.HEADERS || type === FRAME.DATA, `a frame of type ${type}`);
    assert.equal(stream?.state, "remote", `a frame of type ${type} on stream ${id}, which waits for none`);
    assert.equal(stream!.hasHead, type === FRAME.DATA, "one head, then data");
    stream!.hasHead = true;
    if (type === FRAME.DATA) {
      stream!.answerBytes += payload.length;
      stream!.sendWindow -= payload.length;
      this.sendWindow -= payload.length;
      assert.ok(payload.length === 0 || Math.min(stream!.sendWindow, this.sendWindow) >= 0, "more than the client has room for");
    }
    if ((flags & END_STREAM) !== 0) stream!.state = "ended";
  }
}
