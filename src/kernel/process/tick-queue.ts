/** A task that runs once at the end of a tick, however often it was requested in it. */
export interface TickTask {
  onTickEnd(): void;
}

/** A task that no response of the tick waits for. */
export interface DeferredTask {
  onAllSent(): void;
}

/** Other work of the Node.js event loop waits for its ticks. */
const LOOKS_MAX = 4;

let due: TickTask[] = [];
/** The first `lateCount` of these are set: the array keeps its length, because there may be one for each read. */
const late: (DeferredTask | null)[] = [];
let lateCount = 0;
let isAmidTurn = false;
/** Runs tasks that were added outside of our ticks. A tick may come before it: tasks that its tasks add run in the next tick. */
let soon: NodeJS.Immediate | null = null;

/** Runs the task once all input of this tick was read. It must be added only once, and must not throw. */
export function atTickEnd(task: TickTask): void {
  if (!isAmidTurn) soon ??= setImmediate(run);
  due.push(task);
}

/**
 * Runs the task after all output of the tick was sent, or before the sockets' loop overwrites data that a handler
 * received in this tick: until then the data is unchanged. False outside of such a tick, where neither is known. It must
 * be added only once, and must not throw.
 */
export function afterSends(task: DeferredTask): boolean {
  if (isAmidTurn) late[lateCount++] = task;
  return isAmidTurn;
}

/** Whether any task waits. */
export const hasDeferredTasks = (): boolean => lateCount > 0;

/** Called before the buffer that sockets share is refilled. */
export function runDeferredTasks(): void {
  for (let index = 0; index < lateCount; index++) {
    const task = late[index];
    late[index] = null;
    task?.onAllSent();
  }
  lateCount = 0;
}

/**
 * Does the work of a tick that reads many sockets, and then the tasks of its end. Before late tasks, `lookAgain` handles
 * input that has arrived meanwhile, if any: input does not wait for late tasks.
 */
export function inOneTick(work: () => boolean, lookAgain: () => boolean): void {
  try {
    let hadWork = untilEnd(work);
    for (let looks = 0; hadWork && looks < LOOKS_MAX && lateCount > 0; looks++) hadWork = untilEnd(lookAgain);
  } finally {
    runDeferredTasks();
  }
}

function untilEnd(work: () => boolean): boolean {
  isAmidTurn = true;
  try {
    return work();
  } finally {
    isAmidTurn = false;
    if (due.length > 0) run();
  }
}

function run(): void {
  if (soon !== null) clearImmediate(soon);
  soon = null;
  const tasks = due;
  due = [];
  for (const task of tasks) task.onTickEnd();
}
