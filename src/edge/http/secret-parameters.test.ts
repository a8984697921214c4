import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutSecrets } from "./secret-parameters.ts";

const ROWS: readonly (readonly [string, string])[] = [
  ["", ""],
  ["page=2&sort=token", "page=2&sort=token"],
  ["token=abc", "token=[removed]"],
  ["a=1&access_token=abc&b=2", "a=1&access_token=[removed]&b=2"],
  ["X-Amz-Signature=00ff&X-Amz-Date=20300101", "X-Amz-Signature=[removed]&X-Amz-Date=20300101"],
  ["API_KEY=k;password=p", "API_KEY=[removed];password=[removed]"],
  ["monkey=banana&tokens=3&keyword=x", "monkey=banana&tokens=3&keyword=x"],
  ["token=", "token="],
];

for (const [query, kept] of ROWS)
  test(`${query || "an empty query"} is written down as ${kept || "it is"}`, () => assert.equal(withoutSecrets(query), kept));
