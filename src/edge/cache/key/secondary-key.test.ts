import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { secondaryKey } from "./secondary-key.ts";

const key = (name: string, ...lines: readonly string[]): string => secondaryKey([name], { headers: () => lines });

test("RFC 9111 §4.1: secondary keys ignore white space around members, but not within them", () => {
  assert.equal(key("accept-language", "de ,\ten"), key("accept-language", "de,en"));
  assert.equal(key("accept-language", " de, en "), key("accept-language", "de", "en"));
  assert.notEqual(key("accept-language", "d e"), key("accept-language", "de"));
  assert.equal(key("accept-encoding", "gzip;q=1 , br"), key("accept-encoding", "GZIP;q=1,br"));
  assert.equal(key("accept-encoding", "gzip;q=1,br"), key("accept-encoding", "br,gzip;q=0.5, deflate"));
  assert.notEqual(key("accept-encoding", "gzip;q=1,br"), key("accept-encoding", "gzip;q=1,br;q=0"));
  assert.equal(key("accept-encoding", ";     x"), JSON.stringify("identity"));
  assert.equal(key("accept-encoding"), "null");
});

test("normalizing a field with much white space takes linear time", () => {
  for (const name of ["accept-encoding", "priority"])
    for (const piece of [" ", "\t", " ,", ", ", ","])
      assertGrowsLinearly(`${name}: ${piece}`, (length) => {
        const value = `;${piece.repeat(length / piece.length)}x`;
        return () => key(name, value);
      });
});
