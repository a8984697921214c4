import { ApiError } from "../../../api/client.ts";
import { useRead } from "../../../api/hooks.ts";

/** The configuration of a direction, null if the zone has none. */
export function useTransfer<T>(path: string): { readonly data: T | null | undefined; readonly error: Error | null } {
  const read = useRead<T>(path, { everyMs: 10_000 });
  const isMissing = read.error instanceof ApiError && read.error.status === 404;
  return { data: isMissing ? null : read.data?.result, error: isMissing ? null : read.error };
}
