import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Membership } from "#model/access/membership.ts";
import type { Zone } from "#model/zones/zone.ts";
import { api, type Reply } from "./client.ts";

interface ReadOptions {
  /** Milliseconds between two looks. */
  readonly everyMs?: number;
  readonly keepsPrevious?: boolean;
}

/** The response to a GET. Sends no request while the path is undefined. */
export const useRead = <T>(path: string | undefined, { everyMs, keepsPrevious }: ReadOptions = {}): UseQueryResult<Reply<T>> =>
  useQuery({
    queryKey: ["get", path],
    queryFn: ({ signal }) => api<T>("GET", path ?? "", undefined, { signal }),
    enabled: path !== undefined,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });

export interface Write {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A write; afterwards everything whose path begins with one of `stale` is read again. */
export function useWrite<T>(...stale: readonly string[]): UseMutationResult<Reply<T>, Error, Write> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ method, path, body, headers }: Write) => api<T>(method, path, body, headers ? { headers } : {}),
    onSuccess: () =>
      client.invalidateQueries({
        predicate: ({ queryKey: [kind, path] }) => kind === "get" && typeof path === "string" && stale.some((one) => path.startsWith(one)),
      }),
  });
}

/** The account that the signed-in user works in. */
export function useAccount(): { readonly id: string; readonly name: string } | undefined {
  const { data } = useRead<Membership[]>("/memberships?status=accepted&per_page=50");
  const accounts = useRead<{ id: string; name: string }[]>(data && data.result.length === 0 ? "/accounts" : undefined);
  return data?.result[0]?.account ?? accounts.data?.result[0];
}

/** The zone that the address names. */
export function useZone(): { readonly zone: Zone | undefined; readonly name: string; readonly read: UseQueryResult<Reply<Zone[]>> } {
  const { zone: name = "" } = useParams({ strict: false }) as { zone?: string };
  const read = useRead<Zone[]>(name === "" ? undefined : `/zones?name=${encodeURIComponent(name)}`);
  return { zone: read.data?.result[0], name, read };
}
