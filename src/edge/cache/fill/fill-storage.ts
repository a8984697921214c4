import { BodyBuffer } from "#edge/http/body-buffer.ts";
import type { DiskWriter } from "#edge/cache/store/disk-writer.ts";
import type { FillOwner, FillRequest } from "./fill-context.ts";
import { secondaryKey } from "#edge/cache/key/secondary-key.ts";
import { StoredResponse } from "#edge/cache/store/stored-response.ts";
import type { Storable } from "#edge/cache/policy/cacheability.ts";

/** Bytes that may wait for the disk before the origin is paused, and the amount at which it resumes. */
const PENDING_BYTES_MAX = 4_194_304;
const PENDING_BYTES_LOW = 1_048_576;

/** Stores a response while it arrives: in memory, or on disk if it is too large for the memory. */
export class FillKeeping {
  /** Set once the length is known. */
  response: StoredResponse | null = null;
  /** Null if the body is on disk or is not stored. */
  body: BodyBuffer | null = null;
  private readonly owner: FillOwner;
  private readonly request: FillRequest;
  /** Called when the disk can take more. */
  private readonly resume: () => void;
  private writer: DiskWriter | null = null;
  private pending: { readonly reason: string; readonly storable: Storable } | null = null;
  private reserved = 0;

  constructor(owner: FillOwner, request: FillRequest, resume: () => void) {
    this.owner = owner;
    this.request = request;
    this.resume = resume;
  }

  get isOnDisk(): boolean {
    return this.writer !== null;
  }

  get hasRoom(): boolean {
    return this.writer === null || this.writer.pendingBytes < PENDING_BYTES_MAX;
  }

  /** Reserves memory for a body of this length. Returns false if there is not enough. */
  fits(length: number): boolean {
    return length <= this.owner.objectBytesMax && this.set(length);
  }

  /** Whether the disk can store a body of this length; a body of unknown length goes to memory. */
  fitsDisk(length: number | null): boolean {
    const { owner } = this;
    if (length === null || length <= owner.objectBytesMax || length > owner.diskObjectBytesMax) return false;
    return this.openWriter();
  }

  /** Starts a body of known length in memory. */
  begin(reason: string, storable: Storable, length: number): void {
    this.body = new BodyBuffer(length);
    this.response = this.describing(reason, storable)(length);
  }

  /** Starts a body of unknown length, or one on disk. */
  beginUnknown(reason: string, storable: Storable): void {
    if (this.writer === null) this.body = new BodyBuffer(null);
    this.pending = { reason, storable };
  }

  /** Moves a body that is too large for the memory to disk. Returns false if the disk cannot store it. */
  moveToDisk(length: number): boolean {
    const { body } = this;
    this.body = null;
    if (body === null || length > this.owner.diskObjectBytesMax || !this.openWriter()) return false;
    for (const piece of body.finish()) this.writer?.append(piece, 0, piece.length);
    this.set(0);
    return true;
  }

  /** Returns false if the body is not on disk, or becomes too large. */
  appendOnDisk(buffer: Buffer, start: number, end: number): boolean {
    const { writer } = this;
    if (writer === null || writer.length + end - start > this.owner.diskObjectBytesMax) return false;
    writer.append(buffer, start, end);
    return true;
  }

  /** Completes a body on disk. Stores it unless the fill is doomed. */
  finishOnDisk(isDoomed: boolean): void {
    const { writer, pending } = this;
    this.writer = null;
    if (isDoomed) writer?.abort();
    else if (writer !== null && pending !== null) this.owner.keepWritten(writer, this.describing(pending.reason, pending.storable));
  }

  /** Completes a body in memory. Stores it unless the fill is doomed. */
  finish(isDoomed: boolean): StoredResponse {
    const body = this.body!;
    if (this.response === null) this.response = this.describing(this.pending!.reason, this.pending!.storable)(body.length);
    this.response.body = body.finish();
    if (!isDoomed) this.owner.keep(this.response);
    return this.response;
  }

  /** Stores nothing of this response. */
  giveUp(): void {
    this.writer?.abort();
    this.writer = null;
  }

  /** Releases the reserved memory. */
  release(): void {
    this.owner.reserve(-this.reserved);
    this.reserved = 0;
  }

  private describing(reason: string, storable: Storable): (length: number) => StoredResponse {
    const { asked, exchange } = this.request;
    const secondary = secondaryKey(storable.vary, exchange);
    return (length) => new StoredResponse(asked, reason, storable, secondary, length);
  }

  private openWriter(): boolean {
    const writer = this.owner.writer();
    if (writer === null) return false;
    this.writer = writer;
    writer.onWritten = () => {
      if (writer.pendingBytes <= PENDING_BYTES_LOW) this.resume();
    };
    return true;
  }

  private set(length: number): boolean {
    if (!this.owner.reserve(length - this.reserved)) return false;
    this.reserved = length;
    return true;
  }
}
