import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

let selvedge: Selvedge;
let call: ApiCall;

before(async () => {
  selvedge = await startSelvedge();
  call = apiCaller(selvedge.ready);
});
after(() => selvedge?.stop());

async function zone(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, SELVEDGE_TOKEN: selvedge.ready.token };
  const child = spawn(process.execPath, [PROGRAM, "zone", ...args, "--data", selvedge.dataDir], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit") as Promise<[number]>]);
  return { code, out, err };
}

test("zone history finds a mistake, zone diff shows it, and zone revert undoes it", async () => {
  const { id } = await succeed(call("POST", "/zones", { name: "shop.example", account: { id: selvedge.ready.account_id }, type: "full" }));
  assert.equal((await zone("history", "shop.example")).out, "shop.example has no versions yet\n");
  const records = `/zones/${id}/dns_records`;
  const www = await succeed(call("POST", records, { type: "A", name: "www", content: "192.0.2.1", ttl: 300, comment: "rack 4" }));
  await succeed(call("POST", records, { type: "MX", name: "@", content: "mail.shop.example", priority: 10 }));
  const mistake = await succeed(
    call("POST", `${records}/batch`, {
      patches: [{ id: www.id, content: "192.0.2.99" }],
      posts: [{ type: "TXT", name: "www", content: '"v=oops"' }],
    }),
  );
  assert.equal(mistake.posts.length, 1);

  const history = await zone("history", "Shop.example.");
  assert.equal(history.code, 0, history.err);
  const lines = history.out.trim().split("\n");
  assert.match(lines[0] ?? "", /^VERSION +TIME +CHANGE +RECORDS +WHO +WHY$/);
  assert.match(lines[1] ?? "", /^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +batch +\+1 ~1 +\S/);
  assert.equal(lines.length, 4);
  const limited = JSON.parse((await zone("history", "shop.example", "--limit", "2", "--json")).out);
  assert.deepEqual(
    limited.versions.map(({ kind }: { kind: string }) => kind),
    ["batch", "create"],
  );
  const [bad, good] = limited.versions.map(({ version }: { version: number }) => String(version)) as [string, string];

  const diff = await zone("diff", "shop.example");
  assert.deepEqual([diff.code, diff.err], [0, ""]);
  assert.equal(
    diff.out,
    [
      "- www.shop.example. 300 IN A 192.0.2.1 ; rack 4",
      "+ www.shop.example. 300 IN A 192.0.2.99 ; rack 4",
      '+ www.shop.example. 1 IN TXT "v=oops"',
      "",
    ].join("\n"),
  );
  assert.equal((await zone("diff", "shop.example", bad, good)).out.split("\n")[0], "- www.shop.example. 300 IN A 192.0.2.99 ; rack 4");
  assert.equal((await zone("diff", "shop.example", good, good)).out, "no difference\n");

  const reverted = await zone("revert", "shop.example", bad, "--reason", "falscher Server in Köln");
  assert.equal(reverted.code, 0, reverted.err);
  assert.match(reverted.out, /^shop\.example: version \d+ created \(~1 -1\)\n(.*\n)?- www\.shop\.example\. 300 IN A 192\.0\.2\.99/);
  assert.equal((await succeed(call("GET", `${records}/${www.id}`))).content, "192.0.2.1");
  assert.match((await zone("history", "shop.example", "--limit", "1")).out, new RegExp(` revert ${bad} .*falscher Server in Köln\n$`));

  const again = await zone("revert", "shop.example", bad);
  assert.equal(again.code, 1);
  assert.match(
    again.err,
    /^selvedge: zone shop\.example: Nothing was reverted: the record www\.shop\.example \w+ \(\w+\) was \w+ since\. \(81204\)\n$/,
  );
  assert.match((await zone("revert", "shop.example", "--to", bad)).out, /version \d+ created \(\+1 ~1\)/);
  assert.equal((await zone("revert", "shop.example", "--to", bad)).out, `shop.example is already as it was at version ${bad}\n`);
});

test("wrong usage is explained and exits 2, and an unknown zone exits 1", async () => {
  const rows = [
    [["revert", "shop.example"], 2, /name the version to undo/],
    [["revert", "shop.example", "1", "--to", "2"], 2, /name the version to undo/],
    [["revert", "shop.example", "one"], 2, /"one" is not a version/],
    [["diff", "shop.example", "-1"], 2, /"-1" is not a version/],
    [["history", "shop.example", "--limit", "0"], 2, /--limit takes/],
    [["history", "absent.example"], 1, /cannot access a zone absent\.example/],
    [["diff", "shop.example", "1", "2"], 1, /does not exist or has been deleted/],
  ] as const;
  for (const [args, code, message] of rows) {
    const run = await zone(...args);
    assert.deepEqual([run.code, run.out], [code, ""], args.join(" "));
    assert.match(run.err, message);
  }
});
