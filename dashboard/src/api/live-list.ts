import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import type { Reply } from "./client.ts";
import { useRead } from "./hooks.ts";
import { useTail } from "./tail.ts";

interface LiveListOptions<T> {
  /** The list's path; the stream is at `/tail` below it. */
  readonly path: string;
  /** Of the stream's events. */
  readonly event: string;
  readonly filter: URLSearchParams;
  /** Names and values that only the list has: its length, and times. */
  readonly only: readonly (readonly [string, string])[];
  /** `paused` keeps the rows as they are; `still` has the list alone. */
  readonly mode: "followed" | "paused" | "still";
  keyOf(row: T): string;
}

export interface LiveList<T> {
  readonly read: UseQueryResult<Reply<T[]>>;
  /** Newest first. */
  readonly rows: readonly T[];
  readonly isOpen: boolean;
  /** Rows that were never in the list, since too many arrived at once. */
  readonly leftOut: number;
}

/** A list of the API, newest first, to which the server's stream adds what is new. Pass a `keyOf` that never changes. */
export function useLiveList<T extends { readonly occurred_at: string }>(options: LiveListOptions<T>): LiveList<T> {
  const { path, event, filter, only, mode, keyOf } = options;
  const query = new URLSearchParams([...only.map((pair) => [...pair]), ...filter]);
  const read = useRead<T[]>(`${path}?${query.toString()}`, { keepsPrevious: true });
  const tail = useTail<T>(mode === "followed" ? `${path}/tail?${filter.toString()}` : undefined, event, filter.toString());
  // The list was read before the stream began: what arrived between is in neither.
  useEffect(() => void (tail.isOpen && read.refetch()), [tail.isOpen]);
  const rows = useMemo(() => {
    const byKey = new Map([...(mode === "still" ? [] : tail.rows), ...(read.data?.result ?? [])].map((row) => [keyOf(row), row]));
    return [...byKey.values()].toSorted((a, b) => (a.occurred_at < b.occurred_at ? 1 : -1)).slice(0, SHOWN_MAX);
  }, [mode === "still", tail.rows, read.data, keyOf]);
  return { read, rows, isOpen: tail.isOpen, leftOut: mode === "still" ? 0 : tail.leftOut };
}

const SHOWN_MAX = 200;
