import { bufferSlots } from "./buffer-slots.ts";
import { runDeferredTasks, hasDeferredTasks } from "#kernel/process/tick-queue.ts";

// Late tasks (tick-queue.ts) still use the bytes of earlier reads. So a read goes to other memory, or they run before it.

/** Longer reads can be shared instead of copied, if no read follows them (ADR 0044). */
const KEPT_BYTES_MAX = 16 * 1024;

/** The socket of the last plain read, and the bytes that it read. */
let lastFd = -1;
let lastLength = 0;
/** True once a read has filled `SECURE_BUFFER` since all late tasks were known to be done. */
let isSecureBufferUsed = false;

/** Call before a plain read. A second read of one socket means a long body, whose pieces are handled one after the other. */
export function keepForPlain(fd: number): void {
  if (hasDeferredTasks() && (fd === lastFd || lastLength >= KEPT_BYTES_MAX || !bufferSlots.stepAside())) runDeferredTasks();
  if (!hasDeferredTasks()) freeAll();
  lastFd = fd;
}

/** Call after a plain read. */
export function readPlain(length: number): void {
  lastLength = length;
}

/** Call before `SECURE_BUFFER` is filled. */
export function keepForSecure(): void {
  if (isSecureBufferUsed && hasDeferredTasks()) runDeferredTasks();
  if (!hasDeferredTasks()) freeAll();
  isSecureBufferUsed = true;
}

function freeAll(): void {
  bufferSlots.stepBack();
  isSecureBufferUsed = false;
}
