import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const DIG_TIMEOUT_MS = 60_000;
const run = promisify(execFile);

// SPEC 2.4 and SPEC 2.5, seen by a stranger's resolver.
describe("DNS settings in the answers to dig", { skip: toolOrSkip("dig") }, () => {
  let selvedge: Selvedge;
  let call: ApiCall;
  before(async () => {
    selvedge = await startSelvedge();
    call = apiCaller(selvedge.ready);
  });
  after(() => selvedge?.stop());

  /** The records of the section, each as the words of its line. */
  const dig = async (name: string, type: string, section = "answer"): Promise<string[][]> => {
    const [address = "", port = ""] = selvedge.ready.dns.split(":");
    const args = [`@${address}`, "-p", port, name, type, "+norecurse", "+noall", `+${section}`];
    const { stdout } = await run("dig", args, { timeout: DIG_TIMEOUT_MS });
    const lines = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(";"));
    return lines.map((line) => line.split(/\s+/));
  };
  const newZone = (name: string): Promise<any> => succeed(call("POST", "/zones", { name, account: { id: selvedge.ready.account_id } }));

  test("SPEC 4.3: the SOA record follows every setting, and its serial increases with each change", async () => {
    const zone = await newZone("soa.test");
    const settings = `/zones/${zone.id}/dns_settings`;
    const [first] = await dig("soa.test", "SOA");
    const [name, ttl, , , mname, rname, serial, ...numbers] = first ?? [];
    assert.deepEqual([name, ttl, mname, rname], ["soa.test.", "3600", "ns1.selvedge.internal.", "hostmaster.soa.test."]);
    assert.deepEqual(numbers, ["10000", "2400", "604800", "1800"]);

    await succeed(call("PATCH", `/zones/${zone.id}`, { plan: { id: "enterprise" } }));
    const soa = {
      mname: "primary.soa.test",
      rname: "dns.admin@soa.test",
      refresh: 7200,
      retry: 600,
      expire: 86_400,
      ttl: 1800,
      min_ttl: 60,
    };
    await succeed(call("PATCH", settings, { soa, ns_ttl: 300 }));
    const [second] = await dig("soa.test", "SOA");
    const [, ttlNow, , , mnameNow, rnameNow, serialNow, ...numbersNow] = second ?? [];
    assert.deepEqual([ttlNow, mnameNow, rnameNow], ["1800", "primary.soa.test.", "dns\\.admin.soa.test."]);
    assert.deepEqual(numbersNow, ["7200", "600", "86400", "60"]);
    assert.ok(Number(serialNow) > Number(serial));
    assert.equal((await dig("soa.test", "NS"))[0]?.[1], "300");
    const [negative] = await dig("absent.soa.test", "A", "authority");
    assert.deepEqual([negative?.[1], negative?.[3]], ["60", "SOA"], "RFC 2308 §5: a negative answer lives as long as the minimum says");

    const refused = await call("PATCH", settings, { soa: { retry: 3601 } });
    assert.deepEqual([refused.status, refused.body.errors[0]?.code], [400, 10_400]);
    assert.deepEqual(await dig("soa.test", "SOA"), [second]);
  });

  test("the first answer of a new zone uses the account's defaults", async () => {
    const { account_id } = selvedge.ready;
    await succeed(call("PUT", `/accounts/${account_id}`, { name: "enterprise", type: "enterprise" }));
    await succeed(
      call("PATCH", `/accounts/${account_id}/dns_settings`, { zone_defaults: { ns_ttl: 7200, soa: { rname: "dns@company.test" } } }),
    );
    await newZone("defaults.test");
    assert.equal((await dig("defaults.test", "SOA"))[0]?.[5], "dns.company.test.");
    assert.equal((await dig("defaults.test", "NS"))[0]?.[1], "7200");
  });

  test("custom name servers and DNS-only mode take effect at once", async () => {
    const { account_id } = selvedge.ready;
    const zone = await newZone("custom.test");
    await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", ttl: 1, proxied: true }));
    const www = async (): Promise<string | undefined> => (await dig("www.custom.test", "A"))[0]?.[4];
    assert.notEqual(await www(), "192.0.2.1");
    await succeed(call("PATCH", `/zones/${zone.id}/dns_settings`, { zone_mode: "dns_only" }));
    assert.equal(await www(), "192.0.2.1");
    await succeed(call("PATCH", `/zones/${zone.id}/dns_settings`, { zone_mode: "standard" }));
    await succeed(call("PATCH", `/accounts/${account_id}/dns_settings`, { enforce_dns_only: true }));
    assert.equal(await www(), "192.0.2.1");
    await succeed(call("PATCH", `/accounts/${account_id}/dns_settings`, { enforce_dns_only: false }));
    assert.notEqual(await www(), "192.0.2.1");

    await succeed(call("POST", `/accounts/${account_id}/custom_ns`, { ns_name: "ns1.custom.test" }));
    await succeed(call("PUT", `/zones/${zone.id}/custom_ns`, { enabled: true }));
    await succeed(call("POST", `/accounts/${account_id}/custom_ns`, { ns_name: "ns2.custom.test" }));
    const names = (await dig("custom.test", "NS")).map((record) => record[4]).toSorted();
    assert.deepEqual(names, ["ns1.custom.test.", "ns2.custom.test."]);
  });
});
