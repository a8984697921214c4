import { WebSocketError } from "./frames.ts";

export interface BytesHandler {
  /** Bytes of messages, in their order; where one message ends does not matter. */
  onBytes(bytes: Buffer): void;
  onPing(payload: Buffer): void;
  onClose(): void;
}

const CLOSE = 8;
const PING = 9;
const CONTROL_BYTES_MAX = 125;
const PROTOCOL_ERROR = 1002;
const HEAD_BYTES_MAX = 14;

/** Reads a client's frames as one stream of bytes (RFC 6455 §5.2), for services that speak another protocol inside. Throws WebSocketError. */
export class BinaryFrameReader {
  private readonly handler: BytesHandler;
  private readonly head = Buffer.alloc(HEAD_BYTES_MAX);
  private headBytes = 0;
  private isInFrame = false;
  private opcode = 0;
  /** Payload of the frame that has not come. */
  private left = 0;
  private maskAt = 0;
  private masked = 0;
  private control: Buffer[] = [];
  private isClosed = false;

  constructor(handler: BytesHandler) {
    this.handler = handler;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isClosed) {
      if (this.isInFrame) at = this.takePayload(chunk, at);
      else {
        this.head[this.headBytes++] = chunk[at++]!;
        this.readHead();
      }
    }
  }

  private readHead(): void {
    const { head, headBytes } = this;
    if (headBytes < 2) return;
    const short = head[1]! & 0x7f;
    if ((head[1]! & 0x80) === 0) throw new WebSocketError(PROTOCOL_ERROR, "a client's frame is not masked");
    const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
    if (headBytes < 2 + extended + 4) return;
    this.opcode = head[0]! & 0x0f;
    if ((head[0]! & 0x70) !== 0 || (this.opcode > 2 && this.opcode < CLOSE) || this.opcode > 10)
      throw new WebSocketError(PROTOCOL_ERROR, "a frame of an unknown kind");
    this.left = extended === 0 ? short : extended === 2 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2));
    if (this.opcode >= CLOSE && this.left > CONTROL_BYTES_MAX) throw new WebSocketError(PROTOCOL_ERROR, "a control frame is too long");
    this.maskAt = 2 + extended;
    this.masked = this.headBytes = 0;
    this.isInFrame = true;
    if (this.left === 0) this.endFrame();
  }

  private takePayload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.left);
    const payload = Buffer.from(chunk.subarray(at, end));
    for (let i = 0; i < payload.length; i++) payload[i]! ^= this.head[this.maskAt + (this.masked++ & 3)]!;
    this.left -= payload.length;
    if (this.opcode >= CLOSE) this.control.push(payload);
    else this.handler.onBytes(payload);
    if (this.left === 0) this.endFrame();
    return end;
  }

  private endFrame(): void {
    this.isInFrame = false;
    if (this.opcode < CLOSE) return;
    const payload = Buffer.concat(this.control);
    this.control = [];
    if (this.opcode === PING) this.handler.onPing(payload);
    else if (this.opcode === CLOSE) {
      this.isClosed = true;
      this.handler.onClose();
    }
  }
}
