import type { Page } from "#control/call.ts";
import type { ErrorItem } from "#kernel/errors/errors.ts";

/** A note for the caller that is not an error, for example about planes that are behind. */
export interface Message {
  readonly code: number;
  readonly message: string;
}

/**
 * The key order of the recorded service, which clients expect: result, success, errors, messages, result_info (SPEC 2.1,
 * contract.md §1).
 */
export const successEnvelope = (result: unknown, messages: readonly Message[], info: object | null, also: object = {}): string =>
  `{"result":${JSON.stringify(result ?? null)}${afterResult(messages, info, also)}`;

function afterResult(messages: readonly Message[], info: object | null, also: object = {}): string {
  let text = `,"success":true,"errors":[],"messages":${messages.length === 0 ? "[]" : JSON.stringify(messages)}`;
  if (info !== null) text += `,"result_info":${JSON.stringify(info)}`;
  for (const [name, value] of Object.entries(also)) text += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return `${text}}`;
}

/** The same for a page that is sent in parts; `count` is the final number of items. */
export async function* pagedEnvelope(
  page: Page<unknown>,
  shape: (item: unknown) => unknown,
  messages: readonly Message[],
): AsyncGenerator<string> {
  let count = 0;
  const text = (items: readonly unknown[]): string => {
    const json = items.map((item) => JSON.stringify(shape(item))).join(",");
    const separated = count > 0 && items.length > 0 ? `,${json}` : json;
    count += items.length;
    return separated;
  };
  yield `{"result":[${text(page.items)}`;
  for await (const items of page.more ?? []) yield text(items);
  yield `]${afterResult(messages, { ...resultInfo(page), count })}`;
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

/** The end of a list has no cursor; clients detect it by that. They read it in either place (contract.md §1). */
export const cursorInfo = (after: string | null): object => (after === null ? {} : { cursors: { after }, cursor: after });

export const resultInfo = (page: Page<unknown>): ResultInfo => ({
  ...cursorInfo(page.after ?? null),
  page: page.page,
  per_page: page.per_page,
  count: page.items.length,
  total_count: page.total_count,
  total_pages: Math.ceil(page.total_count / page.per_page),
  ...page.info,
});
