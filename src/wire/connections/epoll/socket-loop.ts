import { PlainChannel } from "./channel.ts";
import { SendQueue } from "./send-queue.ts";
import type { SocketCalls } from "./socket-calls.ts";
import { inOneTurn } from "#kernel/process/tick-queue.ts";

/** Something that the loop watches. */
export interface Watched {
  readonly fd: number;
  /** Told by the events of this one: the number of a descriptor is another's soon after it was closed. */
  id: number;
  onEvents(events: number): void;
  /** Something was thrown over it. */
  abandon(): void;
}

/** Something to do after the events of a turn. */
export interface Task {
  run(): void;
  abandon(): void;
}

/** Ids are compared as the 32 bits that come with events. */
const IDS = 2 ** 31;

/**
 * Tells sockets of a thread that they can be read or written, many in one turn of Node's event loop, which itself only watches
 * the epoll instance that all of them are in (ADR 0028). It keeps the thread alive while it watches anything.
 */
export class SocketLoop {
  readonly calls: SocketCalls;
  readonly plain: PlainChannel;
  readonly outbox: SendQueue;
  private readonly report: (error: unknown) => void;
  private epoll = -1;
  private wakeUp: { close(): void } | null = null;
  /** By descriptor. */
  private readonly watched: (Watched | undefined)[] = [];
  private count = 0;
  private lastId = 0;
  private tasks: Task[] = [];
  private turn: NodeJS.Immediate | null = null;
  private isTurning = false;

  /** `report` hears what sockets' owners did not catch: it costs that socket. */
  constructor(calls: SocketCalls, report: (error: unknown) => void) {
    this.calls = calls;
    this.plain = new PlainChannel(calls);
    this.outbox = new SendQueue(calls);
    this.report = report;
  }

  /** Below zero where the system does not allow it: its error's number, negated. */
  add(one: Watched, events: number): number {
    if (this.epoll < 0) {
      const opened = this.open();
      if (opened < 0) return opened;
    }
    this.lastId = (this.lastId + 1) % IDS;
    one.id = this.lastId;
    const added = this.calls.epollAdd(this.epoll, one.fd, events, one.id);
    if (added >= 0) {
      this.watched[one.fd] = one;
      this.count++;
    } else if (this.count === 0) this.close();
    return added;
  }

  change(one: Watched, events: number): void {
    this.calls.epollModify(this.epoll, one.fd, events, one.id);
  }

  /** Its events wait until it is woken, and are told of then. */
  rest(one: Watched): void {
    this.calls.epollRemove(this.epoll, one.fd);
  }

  /** Below zero where the system does not allow it: its error's number, negated. */
  wake(one: Watched, events: number): number {
    return this.calls.epollAdd(this.epoll, one.fd, events, one.id);
  }

  /** Before its descriptor is closed, or becomes somebody else's. */
  remove(one: Watched): void {
    if (this.watched[one.fd] !== one) return;
    this.calls.epollRemove(this.epoll, one.fd);
    this.forget(one);
  }

  /** The same for one whose descriptor is closed in the same breath: that takes it out of the epoll instance. */
  forget(one: Watched): void {
    if (this.watched[one.fd] !== one) return;
    this.watched[one.fd] = undefined;
    if (--this.count === 0) this.close();
  }

  /** Runs it after the events of this turn, or in the next one. */
  later(task: Task): void {
    this.tasks.push(task);
    if (!this.isTurning) this.awaitTurn();
  }

  private open(): number {
    this.epoll = this.calls.epollCreate();
    if (this.epoll >= 0) {
      this.wakeUp = this.calls.wakeUp(this.epoll);
      if (!this.isTurning) this.awaitTurn();
    }
    return this.epoll;
  }

  private close(): void {
    this.wakeUp?.close();
    this.wakeUp = null;
    this.calls.close(this.epoll);
    this.epoll = -1;
  }

  /** The next turn of Node's event loop is ours as well; it comes at once where there is something to do, or else when it wakes up. */
  private awaitTurn(): void {
    if (this.epoll < 0 && this.tasks.length === 0) return;
    this.turn ??= setImmediate(this.run);
    if (this.tasks.length > 0) this.turn.ref();
    else this.turn.unref();
  }

  private readonly run = (): void => {
    this.turn = null;
    this.isTurning = true;
    inOneTurn(this.work, this.lookAgain);
    this.isTurning = false;
    this.awaitTurn();
  };

  private readonly work = (): boolean => {
    const { outbox } = this;
    outbox.isOpen = true;
    const hadEvents = this.takeEvents();
    if (this.tasks.length > 0) this.runTasks();
    outbox.isOpen = false;
    if (outbox.length > 0) outbox.sendAll();
    return hadEvents;
  };

  /** Tasks wait for the next turn: what these do is not for anybody who has come since. */
  private readonly lookAgain = (): boolean => {
    const { outbox } = this;
    outbox.isOpen = true;
    const hadEvents = this.takeEvents();
    outbox.isOpen = false;
    if (outbox.length > 0) outbox.sendAll();
    return hadEvents;
  };

  /** What these lead to waits for the next turn, or other sockets would wait for them. */
  private runTasks(): void {
    const { tasks } = this;
    this.tasks = [];
    for (const task of tasks) {
      try {
        task.run();
      } catch (error) {
        this.abandon(task, error);
      }
    }
  }

  /** False where there were none. */
  private takeEvents(): boolean {
    const { calls, watched } = this;
    if (this.epoll < 0) return false;
    const count = calls.epollWait(this.epoll);
    for (let i = 0; i < count; i++) {
      const one = watched[calls.fdAt(i)];
      // Closed by what came before it in this turn, and perhaps opened again.
      if (one === undefined || one.id !== calls.idAt(i)) continue;
      try {
        one.onEvents(calls.eventsAt(i));
      } catch (error) {
        this.abandon(one, error);
      }
    }
    return count > 0;
  }

  private abandon(one: Watched | Task, error: unknown): void {
    this.report(error);
    one.abandon();
  }
}
