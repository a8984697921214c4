import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { readUntil } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";

const CARD = "4716461583322103";

test("each zone chooses which visitor data its rows mask, and the default keeps products distinguishable", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const visit = (host: string, path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      request(selvedge.ready.http, { path, headers: { host } }, (res) => res.resume().on("end", resolve))
        .on("error", reject)
        .end();
    });
  const expected = {
    undoubted: ["/product/AB123456C", "/product/AB123457C", "/pay/[masked]"],
    all: ["/product/[masked]", "/product/[masked]", "/pay/[masked]"],
    off: ["/product/AB123456C", "/product/AB123457C", `/pay/${CARD}`],
  };
  const zones: Record<string, string> = {};
  for (const masking of Object.keys(expected)) {
    const name = `${masking}.example`;
    const { id } = await succeed(call("POST", "/zones", { name, account: { id: selvedge.ready.account_id } }));
    zones[masking] = id;
    if (masking !== "undoubted") await succeed(call("PATCH", `/zones/${id}/settings/log_masking`, { value: masking }));
    assert.equal((await succeed(call("GET", `/zones/${id}/settings/log_masking`))).value, masking);
    for (const path of ["/product/AB123456C", "/product/AB123457C", `/pay/${CARD}`]) await visit(name, path);
  }
  for (const [masking, paths] of Object.entries(expected)) {
    const rows = await readUntil(
      async () => (await succeed(call("GET", `/zones/${zones[masking]}/logs/requests`))) as readonly { readonly path: string }[],
      (read) => read.length === 3,
    );
    assert.deepEqual(rows.map(({ path }) => path).toSorted(), paths.toSorted(), masking);
  }
  const refused = await call("PATCH", `/zones/${zones["all"]}/settings/log_masking`, { value: "some" });
  assert.equal(refused.status, 400);
});
