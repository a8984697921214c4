import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { readTar } from "./tar-reader.ts";
import { type TarEntry, writeTar } from "./tar-writer.ts";

type Files = readonly (readonly [name: string, content: Uint8Array])[];

const entry = (name: string, content: Uint8Array): TarEntry => ({
  name,
  size: content.length,
  modified: 0,
  content: [Buffer.from(content)],
});

async function* entries(files: Files): AsyncGenerator<TarEntry> {
  for (const [name, content] of files) yield entry(name, content);
}

async function read(bytes: Buffer, cut: number): Promise<Files> {
  const files: [string, Uint8Array][] = [];
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += cut) yield bytes.subarray(at, at + cut);
  }
  await readTar(pieces(), {
    begin: (name) => void files.push([name, new Uint8Array()]),
    bytes: (more) => {
      const last = files.at(-1) ?? assert.fail();
      last[1] = Buffer.concat([last[1], more]);
    },
    end: () => undefined,
  });
  return files.map(([name, content]) => [name, new Uint8Array(content)] as const);
}

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,40}(?:\/[a-z]{1,40})?$/), { maxLength: 4 });
const contents = fc.uint8Array({ maxLength: 1_200 });

test("the reader reads what the writer wrote in any chunks, and refuses a truncated archive", async () => {
  await fc.assert(
    fc.asyncProperty(
      names,
      fc.array(contents, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 2_000 }),
      async (paths, data, cut) => {
        const files: Files = paths.map((name, at) => [name, data[at] ?? new Uint8Array()] as const);
        const bytes = await buffer(writeTar(entries(files)));
        assert.deepEqual(await read(bytes, cut), files);
        await assert.rejects(read(bytes.subarray(0, Math.max(0, bytes.length - 1_024 - (cut % 3) * 512)), cut), /incomplete/);
      },
    ),
    { numRuns: 50 },
  );
});

test("GNU tar lists the archive, including a file too large for eleven octal digits", async () => {
  const bytes = await buffer(writeTar(entries([["a/b", Buffer.from("hello")]])));
  assert.match(execFileSync("tar", ["-tvf", "-"], { input: bytes, encoding: "utf8" }), /^-rw------- \S+ +5 1970-01-01 \d\d:\d\d a\/b\n$/);
  const size = 9 * 1024 ** 3;
  const large = writeTar(
    (async function* () {
      yield { ...entry("large", Buffer.alloc(0)), size };
    })(),
  );
  const { value: header } = await large.next();
  assert.ok(header instanceof Buffer);
  // It ends with the header: tar says so after the line.
  const listed = execFileSync("sh", ["-c", "tar -tvf - 2>/dev/null || true"], { input: header, encoding: "utf8" });
  assert.match(listed, new RegExp(` ${size} .* large$`, "m"));
  const sizes: number[] = [];
  await assert.rejects(
    readTar([header] as unknown as AsyncIterable<Buffer>, {
      begin: (_name, bytesOf) => void sizes.push(bytesOf),
      bytes: () => undefined,
      end: () => undefined,
    }),
    /incomplete/,
  );
  assert.deepEqual(sizes, [size]);
});

test("a file that grows or shrinks while it is read fails the archive", async () => {
  for (const [size, message] of [
    [4, /grew while/],
    [6, /shrank while/],
  ] as const)
    await assert.rejects(
      buffer(
        writeTar(
          (async function* () {
            yield { ...entry("f", Buffer.from("hello")), size };
          })(),
        ),
      ),
      message,
    );
});
