/** Something that is done once at the end of a turn of the event loop, however often it was asked for in it. */
export interface TickTask {
  onTickEnd(): void;
}

/** Something that nobody whom the turn answers has to wait for. */
export interface DeferredTask {
  onAllSent(): void;
}

/** Node's event loop has others that wait for their turns. */
const LOOKS_MAX = 4;

let due: TickTask[] = [];
/** The first `lateCount` of these: the array keeps its room, since there may be one for each read. */
const late: (DeferredTask | null)[] = [];
let lateCount = 0;
let isAmidTurn = false;
/** Where tasks wait that no turn of ours has brought. One may come before it: what its tasks add is for the turn after. */
let soon: NodeJS.Immediate | null = null;

/** Has the task done when all that has come in this turn was read. It is to be added once, and must not throw. */
export function atTickEnd(task: TickTask): void {
  if (!isAmidTurn) soon ??= setImmediate(run);
  due.push(task);
}

/**
 * Has the task done when all that the turn sends has left, or before the sockets' loop reads anything over what a handler was
 * given in this turn: that is still as it was. False outside of such a turn, where nothing is known of either. It is to be added once, and must not throw.
 */
export function afterSends(task: DeferredTask): boolean {
  if (isAmidTurn) late[lateCount++] = task;
  return isAmidTurn;
}

/** Whether any waits. */
export const hasLateTasks = (): boolean => lateCount > 0;

/** Before the buffer that sockets share is filled anew. */
export function doLateTasks(): void {
  for (let index = 0; index < lateCount; index++) {
    const task = late[index];
    late[index] = null;
    task?.onAllSent();
  }
  lateCount = 0;
}

/**
 * Does the work of a turn that reads many sockets, and then what was to be done at its end. Before late tasks `lookAgain` does
 * what has come meanwhile, if anything has: nobody waits for what nobody waits for.
 */
export function inOneTurn(work: () => boolean, lookAgain: () => boolean): void {
  try {
    let hadWork = untilEnd(work);
    for (let looks = 0; hadWork && looks < LOOKS_MAX && lateCount > 0; looks++) hadWork = untilEnd(lookAgain);
  } finally {
    doLateTasks();
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
