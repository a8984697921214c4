import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { formFileOf, readForm } from "./form-body.ts";

const TYPE = { "content-type": "multipart/form-data; boundary=x" };
const read = async (text: string, type = TYPE["content-type"], max = 1000): Promise<ReturnType<typeof readForm>> =>
  readForm(Buffer.from(text), { "content-type": type }, max);
const part = (head: string, value: string): string => `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const refused = (name: string) => (error: unknown) => error instanceof PlatformError && error.errorName === name;

test("fields are read with and without a file name, and the last of a name counts", async () => {
  const plain = `${part('name="file"', "a\r\nb\n")}${part('name="proxied"', "true")}--x--\r\n`;
  assert.deepEqual({ ...(await read(plain)) }, { file: "a\r\nb\n", proxied: "true" });
  const file = `--x\r\nContent-Disposition: form-data; name="file"; filename="zone.txt"\r\nContent-Type: text/plain\r\n\r\nü\r\n--x--`;
  assert.deepEqual(await read(file, 'Multipart/Form-Data; charset=utf-8; boundary="x"'), { file: "ü" });
  assert.deepEqual(await read(`preamble\r\n${part('filename="f"; name=a', "x--x\r\n--")}--x--\r\nepilogue --x\r\n`), { a: "x--x\r\n--" });
  assert.deepEqual(await read(`${part('name="a"', "")}--x  \r\nx-other: y\r\nContent-Disposition: form-data; name=b\r\n\r\n\r\n--x--`), {
    a: "",
    b: "",
  });
  assert.deepEqual(await read("--x--"), {});
  assert.deepEqual(await read(`${part('name="a"', "1")}${part('name="a"', "2")}--x--\r\n`), { a: "2" });
});

test("a file of any bytes is kept as it is, with its name without folders, and other fields stay text", () => {
  const bytes = Buffer.from([0xff, 0xd8, 0x0d, 0x0a, 0x2d, 0x2d, 0x00]);
  const form = (name: string): Buffer =>
    Buffer.concat([
      Buffer.from(`--x\r\ncontent-disposition: form-data; name="${name}"; filename="C:\\a/b.jpg"\r\n\r\n`),
      bytes,
      Buffer.from("\r\n--x--"),
    ]);
  const fields = readForm(form("file"), TYPE, 1000, "file");
  assert.deepEqual({ ...fields }, { file: "b.jpg" });
  assert.deepEqual(formFileOf(fields), { name: "b.jpg", bytes });
  assert.throws(() => readForm(form("other"), TYPE, 1000, "file"), refused("invalid_input"));
  assert.equal(formFileOf({}), undefined);
});

test("a body that is not a form, not UTF-8, or too large is refused", async () => {
  const good = `${part('name="file"', "x")}--x--\r\n`;
  await assert.rejects(read("", TYPE["content-type"]), refused("invalid_input"));
  await assert.rejects(read("file=x"), refused("invalid_input"));
  await assert.rejects(read("x--x\r\n"), refused("invalid_input"));
  await assert.rejects(read("--x\r\n\r\nno name\r\n--x--"), refused("invalid_input"));
  await assert.rejects(read("--xy\r\n\r\n\r\n--x--"), refused("invalid_input"));
  await assert.rejects(read(good.slice(0, -6)), refused("invalid_input"));
  await assert.rejects(read(good, "multipart/form-data"), refused("invalid_input"));
  await assert.rejects(read(good, "multipart/form-data; boundary=y"), refused("invalid_input"));
  await assert.rejects(
    async () => readForm(Buffer.from(good.replace("\r\nx", "\r\n\xff"), "latin1"), TYPE, 1000),
    refused("invalid_input"),
  );
  await assert.rejects(read(`${part('name="a"', "x").repeat(20)}--x--\r\n`), refused("invalid_input"));
  await assert.rejects(read(`${part('name="file"', "x".repeat(1001))}--x--\r\n`), refused("body_too_large"));
  assert.equal((await read(`${part('name="file"', "x".repeat(1000))}--x--\r\n`))["file"]?.length, 1000);
});

test("property: any input is parsed or refused", async () => {
  const piece = fc.oneof(
    fc.constantFrom("--x", "--x--", "\r\n", "\r\n\r\n", "content-disposition: form-data", '; name="file"', "a"),
    fc.string({ maxLength: 6 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
      try {
        for (const value of Object.values(await read(pieces.join("")))) assert.equal(typeof value, "string");
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
      }
    }),
    { numRuns: 500 },
  );
});

test("a zone file need not be UTF-8, but other fields must be", () => {
  const form = (head: string): Buffer =>
    Buffer.from(`--x\r\ncontent-disposition: form-data; ${head}\r\n\r\na A 192.0.2.1 ; B\xfcro\r\n--x--`, "latin1");
  assert.deepEqual(readForm(form('name="file"; filename="zone.db"'), TYPE, 1000), { file: "a A 192.0.2.1 ; B\xfcro" });
  assert.throws(() => readForm(form('name="proxied"'), TYPE, 1000), refused("invalid_input"));
});
