import type { Page } from "#control/call.ts";
import type { ErrorItem } from "#kernel/errors.ts";

/** Something that the caller should know and that is no error, such as planes that are behind. */
export interface Message {
  readonly code: number;
  readonly message: string;
}

/** The key order is the one that the field's clients were recorded with: result, success, errors, messages, result_info (SPEC 2.1, contract.md §1). */
export function successEnvelope(result: unknown, messages: readonly Message[], info: ResultInfo | null): string {
  const head = `{"result":${JSON.stringify(result ?? null)},"success":true,"errors":[],"messages":${messages.length === 0 ? "[]" : JSON.stringify(messages)}`;
  return info === null ? `${head}}` : `${head},"result_info":${JSON.stringify(info)}}`;
}

export const failureEnvelope = (errors: readonly ErrorItem[]): string =>
  JSON.stringify({ result: null, success: false, errors, messages: [] });

/** All five members: clients fail without `count` or `total_pages` (contract.md §1). */
export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

export const resultInfo = (page: Page<unknown>): ResultInfo => ({
  page: page.page,
  per_page: page.per_page,
  count: page.items.length,
  total_count: page.total_count,
  total_pages: Math.ceil(page.total_count / page.per_page),
});
