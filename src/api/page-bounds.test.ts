import assert from "node:assert/strict";
import { test } from "node:test";
import { PER_PAGE_MAX, readPage } from "./paging.ts";
import { ROUTES } from "./routes/table.ts";

/** Pages of more: those of records go out in parts (long-pages.test.ts), and changes of records are packed in texts of 250. */
const LONGER: ReadonlyMap<string, number> = new Map([
  ["dns-records-list", 5_000_000],
  ["dns-versions-diff", 5_000],
  ["dns-versions-changes-list", 5_000],
]);

test("each list has a maximum page size of 1,000 rows, except known ones", () => {
  const paged = ROUTES.filter(({ paging }) => paging === "page" || paging === "cursor");
  assert.ok(paged.length > 40, `${paged.length} routes with pages`);
  for (const { id, per_page } of paged) {
    const most = readPage({ per_page: "999999999999999" }, per_page).per_page;
    assert.ok(most <= (LONGER.get(id) ?? PER_PAGE_MAX), `${id} gives ${most} rows a page`);
  }
  for (const id of LONGER.keys())
    assert.ok(
      paged.some((route) => route.id === id),
      `there is no route ${id}`,
    );
});
