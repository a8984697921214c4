import { useSyncExternalStore } from "react";

/** The calls that a page made, for "show as API call". */
export interface NotedCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
}

const KEPT_MAX = 25;
let calls: readonly NotedCall[] = [];
const listeners = new Set<() => void>();

function set(next: readonly NotedCall[]): void {
  calls = next;
  for (const listener of listeners) listener();
}

/** Newest first; a call that is repeated stands once. */
export const note = (call: NotedCall): void =>
  set(
    [call, ...calls.filter(({ method, path, body }) => method !== call.method || path !== call.path || body !== call.body)].slice(
      0,
      KEPT_MAX,
    ),
  );

/** At another page. */
export const forget = (): void => set([]);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useCalls = (): readonly NotedCall[] => useSyncExternalStore(subscribe, () => calls);
