import { MessageChannel, type MessagePort } from "node:worker_threads";

/** Ports by transport. */
export type Bound = Readonly<Record<string, number>>;

/** A new channel; the first port stays with the caller, the second goes to the thread. */
export const channel = (): { readonly near: MessagePort; readonly far: MessagePort } => {
  const { port1, port2 } = new MessageChannel();
  return { near: port1, far: port2 };
};

/** One end of a new channel goes to `taker`, the other one to the sending thread. */
export function handOver(taker: { attach(port: MessagePort): void }): MessagePort {
  const { near, far } = channel();
  taker.attach(near);
  return far;
}

/** Several threads on one port: the first finds the port, the others join it. */
export async function startSharing(
  name: string,
  count: number,
  start: (name: string, siblings: Bound) => { readonly listening: Promise<Bound> },
): Promise<Bound> {
  const bound = await start(`${name}-1`, {}).listening;
  await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(`${name}-${i + 2}`, bound).listening));
  return bound;
}

/** Throws if the plane has not reported it. */
export function portOf(bound: Bound, transport: string): number {
  const port = bound[transport];
  if (port === undefined) throw new Error(`a plane did not report its port for ${transport}`);
  return port;
}

/** Whether no other thread has the port yet, and this one had none before a crash. */
export const isFirst = (siblings: Bound, bound: Bound): boolean => Object.keys(siblings).length + Object.keys(bound).length === 0;
