import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { COOKIE_BYTES, createCookies, isCookieLength } from "./cookies.ts";

const SECRET = "e5e973e5a6b2a43f48e7dc849e37bfcf";

interface Asked {
  readonly secret?: string;
  readonly address: string;
  readonly cookie: string;
  readonly nowSeconds: number;
}

function answer({ secret = SECRET, address, cookie, nowSeconds }: Asked): { known: boolean; cookie: string } {
  const cookies = createCookies(Buffer.from(secret, "hex"));
  const asked = Buffer.from(cookie, "hex");
  const { bytes } = parseIp(address) ?? assert.fail(address);
  // Neither the cookie, nor the address, nor the answer start where their memory does.
  const from = Buffer.concat([Buffer.of(1, 2, 3), asked, Buffer.of(4)]);
  const addresses = Buffer.concat([Buffer.of(5, 6), bytes, Buffer.of(7)]);
  const out = Buffer.alloc(COOKIE_BYTES + 5, 0xee);
  const known = cookies.answer(from, 3, asked.length, addresses, 2, bytes.length, nowSeconds, out, 4);
  assert.deepEqual([...out.subarray(0, 4), out[COOKIE_BYTES + 4]], [0xee, 0xee, 0xee, 0xee, 0xee]);
  return { known, cookie: out.toString("hex", 4, COOKIE_BYTES + 4) };
}

test("RFC 9018, appendix A: server cookies match the test vectors", () => {
  const first = { address: "198.51.100.100", cookie: "2464c4abcf10c957", nowSeconds: 1559731985 };
  assert.deepEqual(answer(first), { known: false, cookie: "2464c4abcf10c957010000005cf79f111f8130c3eee29480" });
  const renewed = { ...first, cookie: "2464c4abcf10c957010000005cf79f111f8130c3eee29480", nowSeconds: 1559734385 };
  assert.deepEqual(answer(renewed), { known: true, cookie: "2464c4abcf10c957010000005cf7a871d4a564a1442aca77" });
  const reserved = { address: "203.0.113.203", cookie: "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5" };
  const fresh = "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e";
  // The example's cookie is nearly two hours old, for which §4.3 has no room, and counts as ours an hour after it was made.
  assert.deepEqual(answer({ ...reserved, nowSeconds: 1559734700 }), { known: false, cookie: fresh });
  assert.equal(answer({ ...reserved, nowSeconds: 1559727985 + 3600 }).known, true);
  const ipv6 = { address: "2001:db8:220:1:59de:d0f4:8769:82b8", cookie: "22681ab97d52c298010000005cf7c57926556bd0934c72f8" };
  const now = { ...ipv6, nowSeconds: 1559741961 };
  assert.deepEqual(answer({ ...now, secret: "dd3bdf9344b678b185a6f5cb60fca715" }), { known: true, cookie: ipv6.cookie });
  const rolled = answer({ ...now, secret: "445536bcd2513298075a5d379663c962" });
  assert.deepEqual(rolled, { known: false, cookie: "22681ab97d52c298010000005cf7c609a6bb79d16625507a" });
});

test("a server cookie is valid for an hour and up to five minutes ahead of our clock, and is replaced after half an hour", () => {
  const address = "192.0.2.1";
  const made = 1_800_000_000;
  const { cookie } = answer({ address, cookie: "0102030405060708", nowSeconds: made });
  const rows: [age: number, known: boolean, same: boolean][] = [
    [-301, false, false],
    [-300, true, true],
    [0, true, true],
    [1800, true, true],
    [1801, true, false],
    [3600, true, false],
    [3601, false, false],
  ];
  for (const [age, known, same] of rows) {
    const found = answer({ address, cookie, nowSeconds: made + age });
    assert.deepEqual([found.known, found.cookie === cookie], [known, same], `${age} s`);
  }
});

test("cookie timestamps wrap at 2^32 seconds", () => {
  const address = "192.0.2.1";
  const made = 2 ** 32 - 10;
  const { cookie } = answer({ address, cookie: "0102030405060708", nowSeconds: made });
  assert.equal(answer({ address, cookie, nowSeconds: made + 20 }).known, true);
  assert.equal(answer({ address, cookie, nowSeconds: made + 4000 }).known, false);
});

test("property: any changed cookie is invalid, and its client gets a valid one", () => {
  const client = fc.uint8Array({ minLength: 8, maxLength: 8 });
  const address = fc.oneof(fc.ipV4(), fc.ipV6()).filter((text) => parseIp(text) !== undefined);
  const nowSeconds = fc.integer({ min: 1_600_000_000, max: 4_000_000_000 });
  fc.assert(
    fc.property(client, address, nowSeconds, fc.nat(23), fc.integer({ min: 1, max: 255 }), (asked, from, now, at, change) => {
      const first = answer({ address: from, cookie: Buffer.from(asked).toString("hex"), nowSeconds: now });
      assert.equal(first.known, false);
      assert.equal(answer({ address: from, cookie: first.cookie, nowSeconds: now }).known, true);
      const changed = Buffer.from(first.cookie, "hex");
      changed[at] = (changed[at] as number) ^ change;
      const second = answer({ address: from, cookie: changed.toString("hex"), nowSeconds: now });
      assert.equal(second.known, false);
      assert.equal(answer({ address: from, cookie: second.cookie, nowSeconds: now }).known, true);
      const other = from.includes(":") ? "2001:db8::1" : "192.0.2.1";
      if (from !== other) assert.equal(answer({ address: other, cookie: first.cookie, nowSeconds: now }).known, false);
    }),
    { numRuns: 500 },
  );
});

test("RFC 7873 §5.2.2: a client cookie has 8 bytes, and a server cookie has 8 to 32", () => {
  const legal = Array.from({ length: 60 }, (_, bytes) => bytes).filter(isCookieLength);
  assert.deepEqual(legal, [8, ...Array.from({ length: 25 }, (_, i) => 16 + i)]);
});
