/** Something that is done once at the end of a turn of the event loop, however often it was asked for in it. */
export interface TurnTask {
  onTurnEnd(): void;
}

let due: TurnTask[] = [];
let isAmidTurn = false;
/** Where tasks wait that no turn of ours has brought. One may come before it: what its tasks add is for the turn after. */
let soon: NodeJS.Immediate | null = null;

/** Has the task done when all that has come in this turn was read. It is to be added once, and must not throw. */
export function atTurnEnd(task: TurnTask): void {
  if (!isAmidTurn) soon ??= setImmediate(run);
  due.push(task);
}

/** Does the work of a turn that reads many sockets, and then what was to be done at its end. */
export function inOneTurn(work: () => void): void {
  isAmidTurn = true;
  try {
    work();
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
  for (const task of tasks) task.onTurnEnd();
}
