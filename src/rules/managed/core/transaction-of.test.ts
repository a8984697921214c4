import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransactionBody, TransactionRequest } from "#rules/seclang/transaction/transaction.ts";
import { testRequest } from "#rules/testing/views.ts";
import { transactionOf } from "./transaction-of.ts";

const sent = (type: string, raw: string): TransactionRequest =>
  transactionOf(testRequest({ method: "POST", headers: { "content-type": [type] }, body: { raw, size: raw.length, truncated: false } }));

const bodyOf = (type: string, raw: string): TransactionBody => {
  const request = sent(type, raw);
  return request.readBody(request.bodyProcessor);
};

test("rules see every line of a part's header section as sent", () => {
  const head = '\x0eContent-Disposition: form-data; name="file"\r\nX-Odd: a\r\n b\r\nContent-Disposition: form-data; name="q"';
  const { partHeaders } = bodyOf("multipart/form-data; boundary=X", `--X\r\n${head}\r\n\r\nx\r\n--X--\r\n`);
  assert.deepEqual(partHeaders, [
    { name: "q", value: '\x0eContent-Disposition: form-data; name="file"' },
    { name: "q", value: "X-Odd: a b" },
    { name: "q", value: 'Content-Disposition: form-data; name="q"' },
  ]);
});

test("rules see each name and file name that a program may read", () => {
  const head = 'Content-Disposition: form-data; name="a\\b"; filename="c\\d"\r\nContent-Type: application/pdf';
  const { files } = bodyOf("multipart/form-data; boundary=X", `--X\r\n${head}\r\n\r\n%PDF-\r\n--X--\r\n`);
  assert.deepEqual(
    files.map(({ name, filename }) => [name, filename]),
    [
      ["ab", "cd"],
      ["ab", "c\\d"],
      ["a\\b", "cd"],
    ],
  );
});

test("the content type chooses the body processor even if the body is empty", () => {
  for (const [type, processor] of [
    ["application/json", "JSON"],
    ["Text/XML; charset=utf-8", "XML"],
    ["application/x-www-form-urlencoded", "URLENCODED"],
    ["application/pdf", ""],
  ] as const)
    assert.equal(sent(type, "").bodyProcessor, processor, type);
});

test("XML attribute names are not argument names, and their values are values", () => {
  const { bodyArguments, xmlAttributes } = bodyOf("application/xml", '<a java.lang.Runtime="v">x</a>');
  assert.deepEqual(bodyArguments, [{ name: "xml", value: "v" }]);
  assert.deepEqual(xmlAttributes, ["v"]);
});
