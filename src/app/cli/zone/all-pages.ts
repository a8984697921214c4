import type { ApiClient } from "../api-client.ts";

const PAGES_MAX = 100_000;

/** The rows of all pages of a list. */
export async function allPages<T>(api: ApiClient, path: string, perPage: number): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const rows = (await api.call("GET", `${path}?per_page=${perPage}&page=${page}`)) as readonly T[];
    for (const row of rows) all.push(row);
    if (rows.length < perPage) break;
  }
  return all;
}
