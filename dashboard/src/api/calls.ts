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

/** Members of bodies that are shown as an ellipsis, because somebody may look over the user's shoulder. */
const SECRETS: ReadonlySet<string> = new Set([
  "password",
  "current_password",
  "private_key",
  "secret",
  "code",
  "api_key",
  "key",
  "headers",
]);

/** A try of a gateway has header fields in its body. */
const isSecret = (name: string): boolean => SECRETS.has(name) || name.endsWith("authorization") || name.endsWith("-key");

const shownBody = (body: unknown): unknown =>
  body === undefined
    ? undefined
    : JSON.parse(JSON.stringify(body), (name, value: unknown) =>
        isSecret(name) && typeof value === "string" && value !== "" ? "…" : value,
      );

/** Newest first; a call that is repeated stands once. */
export const note = (noted: NotedCall): void => {
  const call = { ...noted, body: shownBody(noted.body) };
  set([call, ...calls.filter((other) => !isSame(other, call))].slice(0, KEPT_MAX));
};

const isSame = (a: NotedCall, b: NotedCall): boolean =>
  a.method === b.method && a.path === b.path && JSON.stringify(a.body) === JSON.stringify(b.body);

/** At another page. */
export const forget = (): void => set([]);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useCalls = (): readonly NotedCall[] => useSyncExternalStore(subscribe, () => calls);
