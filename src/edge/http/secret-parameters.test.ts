import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { withoutPasswords, withoutSecrets } from "./secret-parameters.ts";

const ROWS: readonly (readonly [string, string])[] = [
  ["", ""],
  ["page=2&sort=token", "page=2&sort=token"],
  ["token=abc", "token=[removed]"],
  ["a=1&access_token=abc&b=2", "a=1&access_token=[removed]&b=2"],
  ["X-Amz-Signature=00ff&X-Amz-Date=20300101", "X-Amz-Signature=[removed]&X-Amz-Date=20300101"],
  ["API_KEY=k;password=p", "API_KEY=[removed];password=[removed]"],
  ["monkey=banana&tokens=3&keyword=x", "monkey=banana&tokens=3&keyword=x"],
  ["token=", "token="],
  ["secret[key]=abc&a[b]=c", "secret[key]=[removed]&a[b]=c"],
  ["secret%5Ba%5D=abc", "secret%5Ba%5D=[removed]"],
  ["user[password][]=abc", "user[password][]=[removed]"],
  ["p%61ssword=abc&clientSecret=x", "p%61ssword=[removed]&clientSecret=[removed]"],
  ["next=https://joe:pw@example.com/x&a=1", "next=[removed]&a=1"],
  ["next=https%3A%2F%2Fjoe%3Apw%40example.com%2Fx", "next=[removed]"],
  ["next=https%253A%252F%252Fjoe%253Apw%2540example.com", "next=[removed]"],
  ["next=/cb%3Fpage%3D2%26access_token%3Dabc", "next=[removed]"],
  ["next=https://example.com/cb#access_token=abc", "next=[removed]"],
  [
    "next=https%3A%2F%2Fexample.com%2Fcb%3Fpage%3D2&mail=joe%40example.com",
    "next=https%3A%2F%2Fexample.com%2Fcb%3Fpage%3D2&mail=joe%40example.com",
  ],
  ["at=10:30@hall&url=https://example.com:8443/@joe:x", "at=10:30@hall&url=https://example.com:8443/@joe:x"],
  ["passenger=2&design=x&postcodes=a&monkeys[key1]=x", "passenger=2&design=x&postcodes=a&monkeys[key1]=x"],
];

for (const [query, kept] of ROWS)
  test(`a row has ${query || "an empty query"} as ${kept || "it is"}`, () => assert.equal(withoutSecrets(query), kept));

const PATHS: readonly (readonly [string, string])[] = [
  ["/a/b", "/a/b"],
  ["/@joe/100%25", "/@joe/100%25"],
  ["/proxy/https://joe:pw@example.com/x", "/proxy/https://joe:[removed]@example.com/x"],
  ["/proxy/https:/joe:pw@example.com/x", "/proxy/https:/joe:[removed]@example.com/x"],
  ["/proxy/https%3A%2F%2Fjoe%3Apw%40example.com/x", "/proxy/[removed]/x"],
  ["/proxy/https%253A%252F%252Fjoe%253Apw%2540example.com/x", "/proxy/[removed]/x"],
  ["/npm/@scope/pkg@1.2.3:latest", "/npm/@scope/pkg@1.2.3:latest"],
];

for (const [path, kept] of PATHS) test(`${path} is written down as ${kept}`, () => assert.equal(withoutPasswords(path), kept));

test("property: no row has a password from a query parameter or URL, however often it is encoded", () => {
  const everywhere = (text: string): string => Array.from(text, (char) => `%${char.charCodeAt(0).toString(16)}`).join("");
  const encodings = fc.array(fc.constantFrom(encodeURIComponent, everywhere), { minLength: 1, maxLength: 3 });
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  const secret = fc.stringMatching(/^[a-zA-Z0-9!]{3,12}$/).map((text) => `Zq9${text}`);
  const forms = fc.constantFrom(
    (w: string, s: string) => ["next", `https://${w}:${s}@${w}.example/`],
    (w: string, s: string) => ["next", `/${w}?a=b&${w}_token=${s}`],
    (w: string, s: string) => [`${w}[password]`, s],
    (w: string, s: string) => [`secret[${w}]`, s],
    (w: string, s: string) => [`${w}-api_key`, s],
  );
  fc.assert(
    fc.property(forms, word, secret, encodings, fc.boolean(), (form, w, s, layers, encodesName) => {
      const encode = (text: string): string => layers.reduce((inner, layer) => layer(inner), text);
      const [name = "", value = ""] = form(w, s);
      const row = withoutSecrets(`page=2&${encodesName ? encode(name) : encodeURIComponent(name)}=${encode(value)}&q=shoes`);
      assert.match(row, /^page=2&[^&]+=\[removed\]&q=shoes$/);
    }),
  );
});
