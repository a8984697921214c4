import { useEffect, useState } from "react";
import { BASE } from "./client.ts";

/** New rows, newest first. */
export interface Tail<T> {
  readonly rows: readonly T[];
  /** Whether the server sends new rows; otherwise the browser connects again. */
  readonly isOpen: boolean;
}

const ROWS_MAX = 200;
/** Milliseconds between two renderings: a busy site has hundreds of rows in that time. */
const GATHER_MS = 250;
/** Milliseconds after which a refused stream is asked for again; a broken one is the browser's business. */
const AGAIN_MS = 5_000;

/** Follows a stream of server-sent events with rows. Follows nothing, and keeps the rows, while the path is undefined. */
export function useTail<T>(path: string | undefined, event: string, of: string): Tail<T> {
  const [state, setState] = useState<Tail<T> & { readonly of: string }>({ rows: [], isOpen: false, of });
  useEffect(() => {
    if (path === undefined) return;
    let gathered: T[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource;
    const show = (): void => {
      timer = undefined;
      const rows = gathered.toReversed();
      gathered = [];
      setState((old) => ({ ...old, of, rows: [...rows, ...(old.of === of ? old.rows : [])].slice(0, ROWS_MAX) }));
    };
    const setOpen = (isOpen: boolean): void => setState((old) => ({ ...old, isOpen }));
    const follow = (): void => {
      source = new EventSource(BASE + path);
      source.addEventListener("open", () => setOpen(true));
      source.addEventListener(event, ({ data }) => {
        gathered.push(JSON.parse(String(data)) as T);
        if (gathered.length > ROWS_MAX) gathered.shift();
        timer ??= setTimeout(show, GATHER_MS);
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
  return state.of === of ? state : { rows: [], isOpen: state.isOpen };
}
