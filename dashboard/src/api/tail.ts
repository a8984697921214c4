import { startTransition, useEffect, useState } from "react";
import { BASE } from "./client.ts";

/** New rows, newest first. */
export interface Tail<T> {
  readonly rows: readonly T[];
  /** Whether the server sends new rows; otherwise the browser connects again. */
  readonly isOpen: boolean;
  /** Rows that were never shown: there were too many at once, or the browser fell behind. */
  readonly leftOut: number;
}

const ROWS_MAX = 200;
/** Milliseconds between two renderings: a busy site has hundreds of rows in that time. */
const GATHER_MS = 250;
/** New rows in one rendering: more would keep the browser from answering clicks. The others wait for the next one. */
const DRAWN_MAX = 50;
/** Milliseconds after which a refused stream is asked for again; a broken one is the browser's business. */
const AGAIN_MS = 5_000;

/** Follows a stream of server-sent events with rows. Follows nothing, and keeps the rows, while the path is undefined. */
export function useTail<T>(path: string | undefined, event: string, of: string): Tail<T> {
  const [state, setState] = useState<Tail<T> & { readonly of: string }>({ rows: [], isOpen: false, leftOut: 0, of });
  useEffect(() => {
    if (path === undefined) return;
    const gathered: T[] = [];
    let leftOut = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource;
    const show = (): void => {
      timer = undefined;
      const rows = gathered.splice(0, DRAWN_MAX).toReversed();
      const more = leftOut;
      leftOut = 0;
      if (gathered.length > 0) wait();
      // Drawing hundreds of rows must not keep a click or a key waiting.
      startTransition(() =>
        setState((old) => {
          const { rows: shown, leftOut: before } = old.of === of ? old : { rows: [], leftOut: 0 };
          return { ...old, of, rows: [...rows, ...shown].slice(0, ROWS_MAX), leftOut: before + more };
        }),
      );
    };
    const wait = (): void => void (timer ??= setTimeout(show, GATHER_MS));
    const setOpen = (isOpen: boolean): void => setState((old) => ({ ...old, isOpen }));
    const follow = (): void => {
      source = new EventSource(BASE + path);
      source.addEventListener("open", () => setOpen(true));
      source.addEventListener(event, ({ data }) => {
        gathered.push(JSON.parse(String(data)) as T);
        if (gathered.length > ROWS_MAX) {
          gathered.shift();
          leftOut += 1;
        }
        wait();
      });
      source.addEventListener("missed", ({ data }) => {
        leftOut += (JSON.parse(String(data)) as { readonly events: number | null }).events ?? 0;
        wait();
      });
      source.addEventListener("error", () => {
        setOpen(false);
        if (source.readyState === EventSource.CLOSED) again = setTimeout(follow, AGAIN_MS);
      });
    };
    follow();
    return () => {
      source.close();
      clearTimeout(timer);
      clearTimeout(again);
      setOpen(false);
    };
  }, [path, event, of]);
  return state.of === of ? state : { rows: [], isOpen: state.isOpen, leftOut: 0 };
}
