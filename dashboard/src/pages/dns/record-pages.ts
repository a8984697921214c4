import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import { api, type Reply } from "../../api/client.ts";
import { shownRead } from "../../api/shown-read.ts";

export const PER_PAGE = 200;
/** A dragged scroll bar passes a thousand pages: only where it rests is asked for. */
const REST_MS = 60;
const PAGES_AT_ONCE_MAX = 3;

export interface RecordPages {
  /** Undefined until the first page is there. */
  readonly total: number | undefined;
  at(index: number): DnsRecord | undefined;
  readonly error: Error | null;
  again(): void;
  /** Puts a changed record in its place without a new read. */
  replace(record: DnsRecord): void;
  refresh(): void;
  /** Those of the records that were read already. */
  known(ids: ReadonlySet<string>): readonly DnsRecord[];
}

/** The first and the last page of the rows, as text, so that an equal value causes no new rendering. */
export const pagesOfRows = (first: number, last: number): string => `${Math.floor(first / PER_PAGE)},${Math.floor(last / PER_PAGE)}`;

/** Pages of records for a virtual table. `query` has filters and order; `shown` is of `pagesOfRows`. */
export function useRecordPages(zoneId: string, query: string, shown: string): RecordPages {
  const client = useQueryClient();
  const [rested, setRested] = useState(shown);
  useEffect(() => {
    const timer = setTimeout(() => setRested(shown), REST_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const pages = useMemo(() => {
    const [from = 0, to = 0] = rested.split(",").map(Number);
    return Array.from({ length: Math.min(to - from + 1, PAGES_AT_ONCE_MAX) }, (_, i) => from + i);
  }, [rested]);
  const path = (page: number): string => `/zones/${zoneId}/dns_records?${query}&per_page=${PER_PAGE}&page=${page + 1}`;
  const answers = useQueries({
    queries: pages.map((page) => ({
      queryKey: ["get", path(page)],
      queryFn: ({ signal }: { signal: AbortSignal }) => api<DnsRecord[]>("GET", path(page), undefined, { signal }),
    })),
  });
  const known = answers.find(({ data }) => data)?.data?.result_info?.total_count;
  const [total, setTotal] = useState<number>();
  useEffect(() => {
    if (known !== undefined) setTotal(known);
  }, [known]);
  const failed = answers.map((answer) => shownRead(answer)).find(({ error }) => error);
  const inZone = {
    predicate: ({ queryKey: [kind, key] }: { queryKey: readonly unknown[] }) =>
      kind === "get" && String(key).startsWith(`/zones/${zoneId}/dns_records`),
  };
  return {
    total,
    at: (index) => client.getQueryData<Reply<DnsRecord[]>>(["get", path(Math.floor(index / PER_PAGE))])?.result[index % PER_PAGE],
    error: failed?.error ?? null,
    again: () => void failed?.refetch(),
    replace: (record) =>
      client.setQueriesData<Reply<unknown>>(inZone, (old) =>
        old && Array.isArray(old.result)
          ? { ...old, result: old.result.map((one: DnsRecord) => (one.id === record.id ? record : one)) }
          : old,
      ),
    known: (ids) => {
      const found = new Map<string, DnsRecord>();
      for (const [, reply] of client.getQueriesData<Reply<unknown>>(inZone))
        if (reply && Array.isArray(reply.result))
          for (const one of reply.result as readonly DnsRecord[]) if (ids.has(one.id)) found.set(one.id, one);
      return [...found.values()];
    },
    refresh: () => void client.invalidateQueries(inZone),
  };
}
