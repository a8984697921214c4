import { PlainChannel } from "./channel.ts";
import { SendQueue } from "./send-queue.ts";
import type { SocketCalls } from "./socket-calls.ts";
import { inOneTick } from "#kernel/process/tick-queue.ts";

/** Something that the loop watches. */
export interface Watched {
  readonly fd: number;
  /** Sent back with its events: a new socket may get the same descriptor soon after a close. */
  id: number;
  onEvents(events: number): void;
  /** Called if one of its calls threw. */
  abandon(): void;
}

/** Work to do after the events of a tick. */
export interface Task {
  run(): void;
  abandon(): void;
}

/** Ids are compared as the 32 bits that come with events. */
const IDS = 2 ** 31;

/**
 * Tells the sockets of a thread that they can be read or written, many in one tick of Node.js. Node.js
 * itself watches only the epoll instance that contains them all (ADR 0028). The loop keeps the thread alive while it
 * watches anything.
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

  /** `report` gets exceptions that a socket's owner did not catch; that socket is closed. */
  constructor(calls: SocketCalls, report: (error: unknown) => void) {
    this.calls = calls;
    this.plain = new PlainChannel(calls);
    this.outbox = new SendQueue(calls);
    this.report = report;
  }

  /** Watches it. Returns a negated error number if the system refuses. */
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

  /** Holds its events back until `wake`. */
  rest(one: Watched): void {
    this.calls.epollRemove(this.epoll, one.fd);
  }

  /** Watches it again. Returns a negated error number if the system refuses. */
  wake(one: Watched, events: number): number {
    return this.calls.epollAdd(this.epoll, one.fd, events, one.id);
  }

  /** Stops watching it. Call before the descriptor is closed or given away. */
  remove(one: Watched): void {
    if (this.watched[one.fd] !== one) return;
    this.calls.epollRemove(this.epoll, one.fd);
    this.forget(one);
  }

  /** Stops watching it if the caller closes the descriptor right after: closing removes it from the epoll instance. */
  forget(one: Watched): void {
    if (this.watched[one.fd] !== one) return;
    this.watched[one.fd] = undefined;
    if (--this.count === 0) this.close();
  }

  /** Runs the task after the events of this tick, or in the next tick. */
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

  /** Takes part in the next tick: at once if there are tasks, otherwise when Node.js wakes up. */
  private awaitTurn(): void {
    if (this.epoll < 0 && this.tasks.length === 0) return;
    this.turn ??= setImmediate(this.run);
    if (this.tasks.length > 0) this.turn.ref();
    else this.turn.unref();
  }

  private readonly run = (): void => {
    this.turn = null;
    this.isTurning = true;
    inOneTick(this.work, this.lookAgain);
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

  /** Takes the events that came during this tick. Tasks wait for the next tick. */
  private readonly lookAgain = (): boolean => {
    const { outbox } = this;
    outbox.isOpen = true;
    const hadEvents = this.takeEvents();
    outbox.isOpen = false;
    if (outbox.length > 0) outbox.sendAll();
    return hadEvents;
  };

  /** Tasks that these add wait for the next tick, so that other sockets have theirs. */
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

  /** Returns false if there were no events. */
  private takeEvents(): boolean {
    const { calls, watched } = this;
    if (this.epoll < 0) return false;
    const count = calls.epollWait(this.epoll);
    for (let i = 0; i < count; i++) {
      const one = watched[calls.fdAt(i)];
      // An earlier event of this tick has closed it; a new socket may have its descriptor.
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
