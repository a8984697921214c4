import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { compileExpression } from "#rules/expression/expression.ts";
import { useManagedLists } from "#rules/expression/values/managed-lists.ts";
import { testRequest } from "#rules/testing/views.ts";
import { readManagedLists } from "./managed-list-files.ts";

afterEach(() => useManagedLists([]));

const PHASE = "http_request_firewall_custom";

test("lists are read from files, one entry per line, and errors have file, line and column", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-lists-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const write = (name: string, content: string): void => writeFileSync(join(directory, name), content);
  write("open_proxies.txt", "# fetched today\r\n192.0.2.7\n\n 2001:db8::/32 # a network\n10.0.0.1..10.0.0.9\n");
  write("empty.txt", "");
  write("readme.md", "not a list");
  assert.deepEqual(readManagedLists(directory), { empty: [], open_proxies: ["192.0.2.7", "2001:db8::/32", "10.0.0.1..10.0.0.9"] });
  for (const [name, content, problem] of [
    ["open_proxies.txt", "192.0.2.7\n  192.0.2.300 # no\n", /open_proxies\.txt:2:3: not an address, a block or a range: "192\.0\.2\.300"$/],
    ["vpn.txt", "example.com\n", /vpn\.txt:1:1: /],
    ["VPN.txt", "", /VPN\.txt: the name of a list may have up to 50 lowercase letters/],
    ["vpn.txt", "192.0.2.1\n".repeat(250_001), /more than 250000 addresses in total/],
    ["vpn.txt", `#${"x".repeat(9 << 20)}`, /larger than 8 MiB in total/],
  ] as const) {
    rmSync(join(directory, "open_proxies.txt"), { force: true });
    write(name, content);
    assert.throws(() => readManagedLists(directory), problem);
    rmSync(join(directory, name));
  }
  assert.throws(() => readManagedLists(join(directory, "nowhere")), /ENOENT/);
});

test("rules can name the known lists, filled or not, and other lists that have a file", () => {
  const applies = compileExpression("ip.src in $cf.open_proxies", PHASE);
  const visitor = testRequest({ client_ip: "192.0.2.7" });
  assert.equal(applies(visitor, null), false);
  useManagedLists([
    ["open_proxies", ["192.0.2.0/28"]],
    ["scanners", ["192.0.2.7"]],
  ]);
  assert.equal(applies(visitor, null), true, "without compiling it again");
  const scanners = compileExpression("ip.src in $cf.scanners", PHASE);
  assert.equal(scanners(visitor, null), true);
  useManagedLists([]);
  assert.deepEqual([applies(visitor, null), scanners(visitor, null)], [false, false]);
  assert.throws(
    () => compileExpression("ip.src in $cf.scanners", PHASE),
    /the list "cf\.scanners" does not exist; managed lists are cf\.anonymizer, cf\.botnetcc, cf\.malware, cf\.open_proxies, cf\.vpn/,
  );
  assert.throws(() => compileExpression("http.host in $cf.vpn", PHASE), /a list of kind ip, which does not contain String values/);
});
