import type { Page, PageRequest } from "#control/call.ts";

/** One page of what is all in memory. */
export const firewallPage = <T>(items: readonly T[], { page, per_page }: PageRequest): Page<T> => ({
  items: items.slice((page - 1) * per_page, page * per_page),
  page,
  per_page,
  total_count: items.length,
});

/** Whether a text has another in it, whatever the case; what is not asked for fits. */
export const holdsText = (text: string | undefined, part: string | undefined): boolean =>
  part === undefined || (text ?? "").toLowerCase().includes(part.toLowerCase());
