import { test } from "node:test";
import assert from "node:assert/strict";
import { signAws, type AwsRequest } from "./sign-aws.ts";

/** Key, time and scope of the test suite that is published with the signature's description. */
const KEY = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const SUITE: AwsRequest = {
  method: "GET",
  host: "example.amazonaws.com",
  target: "/",
  headers: {},
  body: Buffer.alloc(0),
  region: "us-east-1",
  service: "service",
  atMs: Date.parse("2015-08-30T12:36:00Z"),
};
const signatureOf = (request: Partial<AwsRequest>, session = {}): string =>
  /Signature=([0-9a-f]{64})$/.exec(signAws({ ...SUITE, ...request }, { ...KEY, ...session })["authorization"] ?? "")?.[1] ?? "";

test("requests of the published test suite have the published signatures", () => {
  const vectors: readonly (readonly [name: string, request: Partial<AwsRequest>, signature: string])[] = [
    ["get-vanilla", {}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["post-vanilla", { method: "POST" }, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "get-vanilla-query-order-key-case",
      { target: "/?Param2=value2&Param1=value1" },
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "post-x-www-form-urlencoded",
      { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: Buffer.from("Param1=value1") },
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ],
    [
      "the example of the documentation",
      {
        host: "iam.amazonaws.com",
        target: "/?Action=ListUsers&Version=2010-05-08",
        headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
        service: "iam",
      },
      "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    ],
  ];
  for (const [name, request, signature] of vectors) assert.equal(signatureOf(request), signature, name);
});

test("requests to S3 have the signatures of its documentation, with paths that are not encoded twice", () => {
  const key = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
  const bucket = { host: "examplebucket.s3.amazonaws.com", service: "s3", region: "us-east-1", atMs: Date.parse("2013-05-24T00:00:00Z") };
  const get = {
    target: "/test.txt",
    headers: { range: "bytes=0-9", "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
  };
  assert.equal(signatureOf({ ...bucket, ...get }, key), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const put = {
    method: "PUT",
    target: "/test%24file.text",
    body: Buffer.from("Welcome to Amazon S3."),
    headers: {
      date: "Fri, 24 May 2013 00:00:00 GMT",
      "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
      "x-amz-storage-class": "REDUCED_REDUNDANCY",
    },
  };
  assert.equal(signatureOf({ ...bucket, ...put }, key), "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
});

test("the session token is signed and sent, and the secret key is not sent", () => {
  const fields = signAws(SUITE, { ...KEY, sessionToken: "the-session" });
  assert.equal(fields["x-amz-security-token"], "the-session");
  assert.match(fields["authorization"] ?? "", /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
  assert.ok(!JSON.stringify(fields).includes(KEY.secretAccessKey));
  assert.notEqual(signatureOf({}), signatureOf({}, { sessionToken: "the-session" }));
});

test("a model's name is signed in the form in which it is sent, plain or encoded", () => {
  const plain = signatureOf({ target: "/model/anthropic.claude-v2:1/invoke" });
  assert.match(plain, /^[0-9a-f]{64}$/);
  assert.notEqual(plain, signatureOf({ target: "/model/anthropic.claude-v2%3A1/invoke" }));
});
