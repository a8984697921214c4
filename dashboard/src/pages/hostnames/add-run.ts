import { useSyncExternalStore } from "react";
import { api, ApiError } from "../../api/client.ts";

/** Names that are being added one after the other. */
export interface AddRun {
  readonly total: number;
  /** Names that were not tried yet. */
  readonly left: readonly string[];
  readonly failed: readonly { readonly name: string; readonly why: string }[];
  readonly isRunning: boolean;
  /** Why it stopped before its end. */
  readonly stopped?: string;
}

const runs = new Map<string, AddRun>();
const listeners = new Set<() => void>();
const keyOf = (zoneId: string): string => `selvedge.adding.${zoneId}`;

/** The rest is kept in this browser, so that it can go on after the page was closed. */
function set(zoneId: string, run: AddRun | undefined): void {
  if (run) runs.set(zoneId, run);
  else runs.delete(zoneId);
  if (run && run.left.length > 0)
    localStorage.setItem(keyOf(zoneId), JSON.stringify({ total: run.total, left: run.left, failed: run.failed }));
  else localStorage.removeItem(keyOf(zoneId));
  for (const listener of listeners) listener();
}

function runOf(zoneId: string): AddRun | undefined {
  const kept = runs.has(zoneId) ? null : localStorage.getItem(keyOf(zoneId));
  if (kept !== null) {
    try {
      const { total, left, failed } = JSON.parse(kept) as AddRun;
      runs.set(zoneId, { total, left, failed, isRunning: false, stopped: "The page was closed." });
    } catch {
      localStorage.removeItem(keyOf(zoneId));
    }
  }
  return runs.get(zoneId);
}

const working = new Set<string>();
/** The code for a name that the zone has already. */
const DUPLICATE = 1406;

/** Goes on while other pages are open, and waits where the API asks for it. A server that is away stops it. */
async function work(zoneId: string, onDone: () => void): Promise<void> {
  // One that was stopped and has not noticed yet goes on by itself.
  if (working.has(zoneId)) return;
  working.add(zoneId);
  await addAll(zoneId);
  working.delete(zoneId);
  const end = runs.get(zoneId);
  if (end && end.left.length === 0) set(zoneId, end.failed.length === 0 ? undefined : { ...end, isRunning: false });
  onDone();
}

async function addAll(zoneId: string): Promise<void> {
  // The name at which a page was closed may have been added.
  const doubtful = runs.get(zoneId)?.left[0];
  for (let run = runs.get(zoneId); run?.isRunning && run.left[0] !== undefined; run = runs.get(zoneId)) {
    const [name, ...left] = run.left;
    const error = await api("POST", `/zones/${zoneId}/custom_hostnames`, { hostname: name, ssl: { method: "http", type: "dv" } }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    const now = runs.get(zoneId);
    if (!now) return;
    if (error instanceof ApiError && error.waitSeconds > 0) await new Promise((resolve) => setTimeout(resolve, error.waitSeconds * 1000));
    else if (error instanceof ApiError && (error.isPassing || error.status === 401))
      set(zoneId, { ...now, isRunning: false, stopped: error.message });
    else if (name === doubtful && now.left.length < now.total && error instanceof ApiError && error.code === DUPLICATE)
      set(zoneId, { ...now, left });
    else set(zoneId, { ...now, left, failed: error ? [...now.failed, { name, why: error.message }] : now.failed });
  }
}

export function beginRun(zoneId: string, names: readonly string[], onDone: () => void): void {
  const { total, left, failed } = runOf(zoneId) ?? { total: 0, left: [], failed: [] };
  set(zoneId, { total: total + names.length, left: [...left, ...names], failed, isRunning: true });
  void work(zoneId, onDone);
}

export function resumeRun(zoneId: string, onDone: () => void): void {
  const run = runs.get(zoneId);
  if (!run || run.isRunning) return;
  const { stopped: _, ...kept } = run;
  set(zoneId, { ...kept, isRunning: true });
  void work(zoneId, onDone);
}

export const stopRun = (zoneId: string): void => {
  const run = runs.get(zoneId);
  if (run) set(zoneId, { ...run, isRunning: false, stopped: "You stopped it." });
};

export const forgetRun = (zoneId: string): void => set(zoneId, undefined);

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useAddRun = (zoneId: string): AddRun | undefined => useSyncExternalStore(subscribe, () => runOf(zoneId));
