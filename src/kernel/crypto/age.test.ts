import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { decryptAge, encryptAge } from "./age.ts";
import { type AgeKey, type AgeLock, isRecipient } from "./age-keys.ts";

// Made by age-keygen for this test.
const RECIPIENT = "age1n5kmevdkqtgsyyujfeh7m664vr6hefpdu82qmlv83dctm8t6yamqn56ldw";
const IDENTITY = { identity: "AGE-SECRET-KEY-1Q7HAFF2JFZDUY5ASXF9XV69M2DJ6GTNZC3Y7U62WJEMDVGUFEVQSV7ALU3" };
const PASSPHRASE = { passphrase: "correct horse battery staple" };
const CHUNK = 65_536;

const through = (bytes: Buffer, step: ReturnType<typeof encryptAge>, sizes: readonly number[] = []): Promise<Buffer> =>
  buffer(Readable.from(pieces(bytes, sizes), { objectMode: false }).compose(step));

function* pieces(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    if (size > 0 && at < bytes.length) yield bytes.subarray(at, at + size);
    at += size;
  }
  if (at < bytes.length) yield bytes.subarray(at);
}

const patterned = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 255));

/** A key pair as age-keygen makes it. */
function keyPair(t: TestContext): { readonly recipient: string; readonly identity: string; readonly file: string } {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-age-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "key");
  execFileSync("age-keygen", ["-o", file], { stdio: "ignore" });
  const text = readFileSync(file, "utf8");
  return { file, recipient: /age1\w+/.exec(text)?.[0] ?? "", identity: /AGE-SECRET-KEY-1\w+/.exec(text)?.[0] ?? "" };
}

test("a key decrypts data encrypted for it, in chunks of any size", async () => {
  for (const length of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]) {
    const plain = patterned(length);
    const sealed = await through(plain, encryptAge({ recipients: [RECIPIENT] }), [1, 10, CHUNK]);
    assert.ok(sealed.toString("latin1").startsWith("age-encryption.org/v1\n-> X25519 "));
    assert.deepEqual(await through(sealed, decryptAge(IDENTITY), [5, 100, CHUNK + 16]), plain, String(length));
  }
  assert.deepEqual(await through(await through(patterned(10), encryptAge(PASSPHRASE)), decryptAge(PASSPHRASE)), patterned(10));
});

test("age decrypts our files, and we decrypt its files", { skip: toolOrSkip("age") }, async (t) => {
  const { recipient, identity, file } = keyPair(t);
  const other = keyPair(t);
  assert.ok(isRecipient(recipient));
  for (const length of [0, 1, CHUNK, 2 * CHUNK + 5]) {
    const plain = patterned(length);
    const sealed = await through(plain, encryptAge({ recipients: [other.recipient, recipient] }));
    assert.deepEqual(execFileSync("age", ["-d", "-i", file], { input: sealed, maxBuffer: 1 << 24 }), plain);
    assert.deepEqual(await through(sealed, decryptAge({ identity: other.identity })), plain);
    const theirs = execFileSync("age", ["-r", recipient], { input: plain, maxBuffer: 1 << 24 });
    assert.deepEqual(await through(theirs, decryptAge({ identity })), plain);
    await assert.rejects(through(theirs, decryptAge({ identity: other.identity })), /the identity does not decrypt/);
  }
});

test("the age program decrypts our files with the passphrase", { skip: toolOrSkip("age") || toolOrSkip("script") }, async (t) => {
  const { file } = keyPair(t);
  const sealed = `${file}.age`;
  writeFileSync(sealed, await through(patterned(100_000), encryptAge(PASSPHRASE)));
  // It reads passphrases from a terminal alone.
  execFileSync("script", ["-qec", `age -d -o ${file}.out ${sealed}`, "/dev/null"], {
    input: `${PASSPHRASE.passphrase}\n`,
    timeout: 60_000,
  });
  assert.deepEqual(readFileSync(`${file}.out`), patterned(100_000));
});

test("a wrong passphrase, a wrong kind of key, and other files give specific errors", async () => {
  const sealed = await through(patterned(10), encryptAge(PASSPHRASE));
  const fails = (bytes: Buffer, key: AgeKey, message: RegExp) => assert.rejects(through(bytes, decryptAge(key)), message);
  await fails(sealed, { passphrase: "something else" }, /the passphrase does not decrypt/);
  await fails(Buffer.alloc(0), PASSPHRASE, /the file is empty/);
  await fails(Buffer.from("hello\n"), PASSPHRASE, /not encrypted with age/);
  await fails(sealed.subarray(0, 30), PASSPHRASE, /damaged or incomplete/);
  await fails(Buffer.concat([sealed.subarray(0, 22), Buffer.alloc(100_000, 65)]), PASSPHRASE, /too long|damaged/);
  const costly = Buffer.from(sealed.toString("latin1").replace(/^(-> scrypt \S+) 17$/m, "$1 30"), "latin1");
  await fails(costly, PASSPHRASE, /work factor/);
  for (const lock of [{ recipients: ["age1x"] }, { recipients: [RECIPIENT.replace("q", "p")] }] as readonly AgeLock[])
    assert.throws(() => encryptAge(lock), /not a recipient/);
  await fails(sealed, { identity: "AGE-SECRET-KEY-1X" }, /the identity is not|not an identity/);
});

test("a file that is truncated or changed anywhere is never accepted as complete", async () => {
  const plain = patterned(2 * CHUNK);
  const whole = await through(plain, encryptAge({ recipients: [RECIPIENT] }));
  const start = whole.length - 2 * (CHUNK + 16);
  for (const cut of [start + 1, start + CHUNK + 16, whole.length - 1]) {
    await assert.rejects(through(whole.subarray(0, cut), decryptAge(IDENTITY)), /damaged or incomplete/, String(cut));
  }
  for (const at of [start - 1, start, start + CHUNK + 16, whole.length - 1]) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1;
    await assert.rejects(through(changed, decryptAge(IDENTITY)), /damaged or incomplete/, String(at));
  }
  await assert.rejects(through(Buffer.concat([whole, whole.subarray(-10)]), decryptAge(IDENTITY)), /damaged or incomplete/);
});

test("property: a recipient with any changed letter is refused", () => {
  assert.ok(isRecipient(RECIPIENT) && isRecipient(RECIPIENT.toUpperCase()));
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: RECIPIENT.length - 1 }),
      fc.constantFrom(..."qpzry9x8gf2tvdw0s3jn54khce6mua7lbio1A "),
      (at, letter) => {
        const text = RECIPIENT.slice(0, at) + letter + RECIPIENT.slice(at + 1);
        assert.equal(isRecipient(text), text === RECIPIENT);
      },
    ),
    { numRuns: 300 },
  );
});
