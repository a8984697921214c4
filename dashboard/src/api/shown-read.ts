import { useQuery, useQueryClient, type Query, type QueryClient, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "./client.ts";

/** Whether what was read before may still be true: the server was away or busy, or the session has ended. */
const saysNothing = (error: unknown): boolean => error instanceof ApiError && (error.isPassing || error.status === 401);

/**
 * A read as pages show it. If a later read fails, the page keeps what it shows, so `error` stays empty, and the shell says that
 * the page is not up to date.
 */
export const shownRead = <R extends UseQueryResult<unknown>>(read: R): R =>
  new Proxy(read, {
    get: (of, key) => {
      const isKept = (key === "error" || key === "isError") && of.data !== undefined && saysNothing(of.error);
      return isKept ? (key === "error" ? null : false) : (Reflect.get(of, key, of) as unknown);
    },
  });

export const useShownRead = <T>(options: UseQueryOptions<T>): UseQueryResult<T> => shownRead(useQuery(options));

/** Data that the page shows although its last read failed. */
export interface Outdated {
  /** Of the oldest data, in milliseconds. */
  readonly since: number;
  readonly error: Error;
  again(): Promise<void>;
}

const isOutdated = ({ state, observers }: Query): boolean =>
  state.status === "error" && state.data !== undefined && saysNothing(state.error) && observers.length > 0;

const outdatedOf = (client: QueryClient): readonly Query[] =>
  client
    .getQueryCache()
    .getAll()
    .filter((query) => isOutdated(query));

/** Undefined while all that the page shows is from reads that succeeded. */
export function useOutdated(): Outdated | undefined {
  const client = useQueryClient();
  const [queries, setQueries] = useState<readonly Query[]>([]);
  useEffect(() => {
    const look = (): void =>
      setQueries((old) => {
        const now = outdatedOf(client);
        return now.length === old.length && now.every((query, at) => query === old[at]) ? old : now;
      });
    return client.getQueryCache().subscribe(look);
  }, [client]);
  const error = queries[0]?.state.error;
  if (!error) return undefined;
  return {
    since: Math.min(...queries.map(({ state }) => state.dataUpdatedAt)),
    error,
    again: async () => void (await Promise.allSettled(queries.map((query) => query.fetch()))),
  };
}
