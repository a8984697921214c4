import { keepPreviousData, useMutation, useQueryClient, type UseMutationResult, type UseQueryResult } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Membership } from "#model/access/membership.ts";
import type { Zone } from "#model/zones/zone.ts";
import { asciiName } from "./names.ts";
import { api, type Reply } from "./client.ts";
import { useShownRead } from "./shown-read.ts";

interface ReadOptions<T> {
  /** Milliseconds between two looks. */
  readonly everyMs?: number;
  /** Ends the looks once it holds. */
  readonly until?: (result: T) => boolean;
  readonly keepsPrevious?: boolean;
}

/** The response to a GET. Sends no request while the path is undefined. */
export const useRead = <T>(path: string | undefined, { everyMs, until, keepsPrevious }: ReadOptions<T> = {}): UseQueryResult<Reply<T>> =>
  useShownRead({
    queryKey: ["get", path],
    queryFn: ({ signal }) => api<T>("GET", path ?? "", undefined, { signal }),
    enabled: path !== undefined,
    ...(everyMs === undefined
      ? {}
      : { refetchInterval: ({ state: { data } }) => (data !== undefined && until?.(data.result) === true ? false : everyMs) }),
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });

export interface Write {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A write; afterwards everything whose path begins with one of `stale` is read again. A deletion does not wait for that: the
 * page of what was deleted would be gone before it leads elsewhere.
 */
export function useWrite<T>(...stale: readonly string[]): UseMutationResult<Reply<T>, Error, Write> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ method, path, body, headers }: Write) => api<T>(method, path, body, headers ? { headers } : {}),
    onSuccess: (_, { method }) => {
      const read = client.invalidateQueries({
        predicate: ({ queryKey: [kind, path] }) => kind === "get" && typeof path === "string" && stale.some((one) => path.startsWith(one)),
      });
      return method === "DELETE" ? undefined : read;
    },
  });
}

export interface AccountName {
  readonly id: string;
  readonly name: string;
}

const CHOSEN_KEY = "selvedge.account";

/** From now on pages are of this account, in this browser. */
export function chooseAccount(id: string): void {
  localStorage.setItem(CHOSEN_KEY, id);
  location.assign("/");
}

/** The accounts that the signed-in user works in. A token may not see memberships; then those of accounts or zones that it sees. */
export function useAccounts(): readonly AccountName[] {
  const memberships = useRead<Membership[]>("/memberships?status=accepted&per_page=50");
  const isElsewhere = memberships.isError || memberships.data?.result.length === 0;
  const accounts = useRead<AccountName[]>(isElsewhere ? "/accounts" : undefined);
  const isOfZones = isElsewhere && (accounts.isError || accounts.data?.result.length === 0);
  const zones = useRead<Zone[]>(isOfZones ? "/zones?per_page=50" : undefined);
  if (!isElsewhere) return memberships.data?.result.map(({ account }) => account) ?? [];
  if (!isOfZones) return accounts.data?.result ?? [];
  return [...new Map(zones.data?.result.map(({ account: { id, name } }) => [id, { id, name }])).values()];
}

/** The account that was chosen, or the first one. */
export function useAccount(): AccountName | undefined {
  const accounts = useAccounts();
  const chosen = localStorage.getItem(CHOSEN_KEY);
  return accounts.find(({ id }) => id === chosen) ?? accounts[0];
}

/** The zone that the address names. */
export function useZone(): { readonly zone: Zone | undefined; readonly name: string; readonly read: UseQueryResult<Reply<Zone[]>> } {
  const { zone: name = "" } = useParams({ strict: false }) as { zone?: string };
  const read = useRead<Zone[]>(name === "" ? undefined : `/zones?name=${encodeURIComponent(asciiName(name))}`);
  return { zone: read.data?.result[0], name, read };
}
