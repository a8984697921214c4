import { readPlaces } from "./buffer-slots.ts";
import { doLateTasks, hasLateTasks } from "#kernel/process/tick-queue.ts";

// What late tasks want of earlier reads (turn-end.ts) is as it was until they are done. So a read goes elsewhere, or they are done before it.

/** What is longer can be lent instead of copied (ADR 0044), if nothing was read after it. */
const KEPT_BYTES_MAX = 16 * 1024;

/** The socket of the last plain read, and how much that was. */
let lastFd = -1;
let lastLength = 0;
/** Something was read into `READ_BUFFER` since late tasks were last known to be done. */
let isReadBufferUsed = false;

/** Before a plain read. A socket that is read once more has a long body, whose pieces are dealt with in turn. */
export function keepForPlain(fd: number): void {
  if (hasLateTasks() && (fd === lastFd || lastLength >= KEPT_BYTES_MAX || !readPlaces.stepAside())) doLateTasks();
  if (!hasLateTasks()) freeAll();
  lastFd = fd;
}

/** After it. */
export function readPlain(length: number): void {
  lastLength = length;
}

/** Before `READ_BUFFER` is filled. */
export function keepForSecure(): void {
  if (isReadBufferUsed && hasLateTasks()) doLateTasks();
  if (!hasLateTasks()) freeAll();
  isReadBufferUsed = true;
}

function freeAll(): void {
  readPlaces.stepBack();
  isReadBufferUsed = false;
}
