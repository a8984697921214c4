import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { isSerialAfter, soaSerial } from "./serial.ts";
import { encodeContent } from "./record-types.ts";

const serials = fc.integer({ min: 0, max: 0xffff_ffff });

test("property: each serial is before the next 2^31 - 1 serials, modulo 2^32", () => {
  fc.assert(
    fc.property(serials, fc.integer({ min: 1, max: 0x7fff_ffff }), (serial, step) => {
      const later = (serial + step) >>> 0;
      assert.equal(isSerialAfter(later, serial), true);
      assert.equal(isSerialAfter(serial, later), false);
    }),
  );
  assert.equal(isSerialAfter(7, 7), false);
  assert.equal(isSerialAfter(0x8000_0000, 0), false);
  assert.equal(isSerialAfter(0, 0x8000_0000), false);
  assert.equal(isSerialAfter(0, 0xffff_ffff), true);
});

test("the serial is read from an SOA's RDATA", () => {
  const rdata = encodeContent("SOA", "ns.example. who.example. 4026531841 1 2 3 4", { origin: "example", style: "master" });
  assert.equal(soaSerial(rdata), 4_026_531_841);
});
