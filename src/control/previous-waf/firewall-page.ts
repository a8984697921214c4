import type { Page, PageRequest } from "#control/call.ts";

/** One page of a list in memory. */
export const firewallPage = <T>(items: readonly T[], { page, per_page }: PageRequest): Page<T> => ({
  items: items.slice((page - 1) * per_page, page * per_page),
  page,
  per_page,
  total_count: items.length,
});

/** Whether a text contains another, ignoring case; true if `part` is undefined. */
export const holdsText = (text: string | undefined, part: string | undefined): boolean =>
  part === undefined || (text ?? "").toLowerCase().includes(part.toLowerCase());
