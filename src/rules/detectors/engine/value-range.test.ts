import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { compileDetectors } from "./compiled.ts";
import { VALUE_BYTES_MAX } from "./long-values.ts";
import { BodyScanner, scanBuffer } from "./scan.ts";
import { scanText } from "./scan-text.ts";
import type { Finding } from "./tallies.ts";
import { createValueHash } from "./value-hash.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { jsonPaths } from "#rules/detectors/masking/json-path.ts";

const compiled = compileDetectors(DETECTORS);
const valueHash = createValueHash(randomBytes(32));
const ZONE = "a".repeat(32);

function found(id: string, text: string): Finding {
  const finding = scanText(compiled, text).findings.find(({ detector }) => detector.id === id);
  assert.ok(finding !== undefined, `${id} is not found in ${text}`);
  return finding;
}

const valuesIn = (id: string, text: string): readonly string[] => found(id, text).hits.map((hit) => hit.text);
const hashIn = (id: string, text: string): string => {
  const { detector, hits } = found(id, text);
  return valueHash(ZONE, detector, hits[0]?.text ?? "");
};
const pathIn = (id: string, value: unknown): string | undefined => {
  const body = Buffer.from(JSON.stringify(value));
  const finding = found(id, body.toString());
  return jsonPaths(body, finding.hits, [finding]).get(finding.offset);
};

const AWS = "q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE/x";
const KEY = "Vb7kQ2xR9mLp4ZtY8wN3sHc1";

test("a hit is the value without its name", () => {
  for (const [id, text, value] of [
    ["secret.aws_secret_access_key", `aws_secret_access_key = ${AWS}`, AWS],
    ["secret.aws_secret_access_key", `<SecretAccessKey>${AWS}</SecretAccessKey>`, AWS],
    ["secret.generic_key", `clientSecret: "${KEY}"`, KEY],
    ["secret.generic_key", `&quot;apiKey&quot;:&quot;${KEY}&quot;`, KEY],
    ["secret.generic_password", `"password": "tR8-vk2!Lq"`, "tR8-vk2!Lq"],
    ["secret.connection_password", "Server=db;User Id=app;Password=t9Kq2vLx7w;", "t9Kq2vLx7w"],
    ["secret.authorization", `Authorization: Bearer ${KEY}`, KEY],
    ["secret.azure_sas", "?a=1&sig=b9Jm6OGRB7MrYcOfVVFpI1QalQXv953c83dfFMKg7HC%3D", "b9Jm6OGRB7MrYcOfVVFpI1QalQXv953c83dfFMKg7HC%3D"],
    ["secret.postmark_token", "POSTMARK_API_TOKEN=453d29bd-bdfb-48e9-ae3e-c7f47845fe57", "453d29bd-bdfb-48e9-ae3e-c7f47845fe57"],
    ["secret.private_key", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\n-----END", "MIGHAgEAMBMGByqGSM49AgEG\n"],
    ["fin.bic_named", "swift code: COBADEFFXXX", "COBADEFFXXX"],
  ] as const)
    assert.deepEqual(valuesIn(id, text), [value], text);
});

test("a long value is found whole, wherever it is cut, so that every rule has the same hash of it", () => {
  const part = (length: number): string =>
    Buffer.from(KEY.repeat(Math.ceil(length / KEY.length)).slice(0, length))
      .toString("base64url")
      .slice(0, length);
  for (const lengths of [
    [36, 60, 43],
    [36, 200, 43],
    [60, 300, 342],
    [36, 900, 86],
    [400, 1000, 700],
    [20, 3000, 43],
    [20, 9000, 43],
  ])
    for (const [separator, end] of [
      [".", ""],
      ["-", "=="],
      ["~", "="],
    ] as const) {
      const value = `${lengths.map(part).join(separator)}${end}`;
      for (const text of [`{"access_token":"${value}"}`, `apiKey = "${value}"`, `Authorization: Bearer ${value}`])
        for (const blockBytes of [64, 700, 65_536]) {
          const scanner = new BodyScanner(compiled, { buffer: scanBuffer(blockBytes) });
          scanner.push(Buffer.from(text));
          const hits = scanner.end().findings.flatMap((finding) => finding.hits.map((hit) => hit.text));
          assert.ok(hits.length > 0, text.slice(0, 60));
          for (const hit of hits) assert.equal(hit, value, `${text.slice(0, 60)} (${value.length}, ${blockBytes})`);
        }
    }
});

test("a JSON Web Token that is longer than a window is found whole, and what follows is found too", () => {
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${encoded({ alg: "RS256", typ: "JWT" })}.${encoded({ sub: KEY, scope: KEY.repeat(60) })}.${AWS.replace("/", "_").repeat(9)}`;
  for (const before of [0, 300, 65_000]) {
    const text = `${" ".repeat(before)}${token} and ${token} and clientSecret: "${KEY}"`;
    const { findings } = scanText(compiled, text);
    const hits = findings.flatMap((finding) => finding.hits).sort((a, b) => a.offset - b.offset);
    assert.deepEqual(
      hits.map((hit) => [hit.offset, hit.text]),
      [
        [before, token],
        [before + token.length + 5, token],
        [text.length - 1 - KEY.length, KEY],
      ],
    );
  }
});

test("a value without an end is found up to a bound, in linear time", () => {
  const text = `apiKey = "${KEY.repeat(100_000)}`;
  const scanner = new BodyScanner(compiled, { buffer: scanBuffer() });
  scanner.push(Buffer.from(text));
  assert.equal(scanner.hasFindings, true);
  const [finding] = scanner.end().findings;
  assert.equal(finding?.hits[0]?.text, KEY.repeat(1000).slice(0, VALUE_BYTES_MAX));
  assert.ok(scanner.candidates < 1000, String(scanner.candidates));
});

test("a token of everybody is published in whatever member or header it is", () => {
  const claims = Buffer.from('{"iss":"supabase","role":"anon","iat":1641769200,"exp":1799535600}').toString("base64url");
  const token = `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.${claims}.dc_X5iR_VP_qT0zsiyj_I_OZ2T9FtRU2BBNWN8Bu4GE`;
  for (const text of [
    `{"apikey":"${token}"}`,
    `{"access_token":"${token}"}`,
    `const options = {apiKey:"${token}"}`,
    `secret_key: "${token}"`,
    `headers: {"Authorization": "Bearer ${token}", "apikey": "${token}"}`,
  ]) {
    const { findings } = scanText(compiled, text);
    assert.deepEqual(
      findings.filter(({ detector }) => detector.enabled).map(({ detector }) => detector.id),
      [],
      text,
    );
    assert.ok(
      findings.some(({ detector }) => detector.id === "secret.jwt_published"),
      text,
    );
  }
});

test("a hit has its true path, with the key shown", () => {
  assert.equal(pathIn("secret.aws_secret_access_key", { aws: { secretAccessKey: AWS } }), "$.aws.secretAccessKey");
  assert.equal(pathIn("secret.generic_key", { a: [{ clientSecret: KEY }] }), "$.a[0].clientSecret");
  assert.equal(pathIn("secret.generic_password", { db: { password: "tR8-vk2!Lq" } }), "$.db.password");
  assert.equal(
    pathIn("pii.machine_readable_zone", {
      l1: "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<",
      l2: "L898902C36UTO7408122F1204159ZE184226B<<<<<10",
    }),
    "$.l2",
  );
});

test("the hash depends on the value only, not on the spelling of its name or signs", () => {
  const same = (id: string, texts: readonly string[]): void =>
    assert.equal(new Set(texts.map((text) => hashIn(id, text))).size, 1, `${id}: ${texts.join(" | ")}`);
  same("secret.aws_secret_access_key", [
    `aws_secret_access_key = ${AWS}`,
    `AWS_SECRET_ACCESS_KEY=${AWS}`,
    `{"awsSecretKey":"${AWS.replace("/", "\\/")}"}`,
    `secretAccessKey: "${AWS.replace("/", "&#x2F;")}"`,
    `secretAccessKey: "${AWS.replace("/", "\\u002f")}"`,
    `SecretAccessKey=${AWS.replace("/", "%2F")}`,
  ]);
  same("secret.generic_key", [`api_key=${KEY}`, `{"clientSecret":"${KEY}"}`, `API_TOKEN: '${KEY}'`]);
  same("secret.generic_password", [`password: "tR8-vk2!Lq"`, `PASSWORD='tR8-vk2!Lq'`]);
  same("secret.connection_password", [";Password=t9Kq2vLx7w;", ";pwd=t9Kq2vLx7w;"]);
  same("secret.authorization", [`Bearer ${KEY}`, `bearer ${KEY}`]);
  const lines = [
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2",
    "OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r",
  ];
  same(
    "secret.private_key",
    ["\n", "\\n", "\r\n"].map((end) => `-----BEGIN PRIVATE KEY-----${end}${lines.join(end)}${end}-----END PRIVATE KEY-----`),
  );
  const other = [lines[0], (lines[1] as string).replaceAll("A", "B")];
  assert.notEqual(
    hashIn("secret.private_key", `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n`),
    hashIn("secret.private_key", `-----BEGIN PRIVATE KEY-----\n${other.join("\n")}\n`),
  );
  same("pii.machine_readable_zone", [
    "P<UTOERIKSSON<<ANNA<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10",
    "P&lt;UTOERIKSSON&lt;&lt;&lt;&lt;<br>L898902C36UTO7408122F1204159ZE184226B&lt;&lt;&lt;&lt;&lt;10",
  ]);
  same("fin.iban", ["DE89 3704 0044 0532 0130 00", "DE 89 370 400 44 0532013000", "de89370400440532013000"]);
});

/** Detectors of secrets that have such a sign in them. */
const WITH_SIGN: ReadonlySet<string> = new Set(["secret.rancher_token", "secret.frameio_token"]);

test("no secret starts with a name and a sign", () => {
  for (const { id, category, hits } of DETECTORS)
    if (category === "secrets" && !WITH_SIGN.has(id))
      for (const value of hits.flatMap((text) => valuesIn(id, text)))
        assert.doesNotMatch(value, /^[A-Za-z][A-Za-z_.-]{2,24}["'\\&quot;\]]{0,8}[ \t]*(?:=>|:=|[:=](?!\/\/))/, id);
});
