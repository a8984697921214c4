import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import sharp, { type Sharp } from "sharp";
import { systemClock } from "#kernel/clock.ts";
import { exifCopyright } from "./exif-copyright.ts";
import type { RenderTask } from "./image-facts.ts";
import { createImageProcessor } from "./image-processor.ts";

const folder = mkdtempSync(join(tmpdir(), "selvedge-render-"));
const processor = createImageProcessor(systemClock);
after(() => {
  processor.close();
  rmSync(folder, { recursive: true, force: true });
});

const WHITE = "#fff";
const source = await sharp({
  create: { width: 120, height: 80, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 40 } },
})
  .withExif({ IFD0: { Copyright: "(c) Ada", Artist: "Ada" } })
  .jpeg({ quality: 100 })
  .toBuffer();
const path = join(folder, "source.jpg");
writeFileSync(path, source);

const CODED = {
  png: (image: Sharp) => image.png(),
  jpeg: (image: Sharp) => image.jpeg({ quality: 85 }),
  webp: (image: Sharp) => image.webp({ quality: 85 }),
  avif: (image: Sharp) => image.avif({ quality: 60, effort: 2 }),
} as const;

const task = (more: Partial<RenderTask>): RenderTask => ({
  ...{ path, fit: "scale-down", width: 60, height: 60, metadata: "none", format: "png" },
  ...more,
});
const pixels = (bytes: Buffer): Promise<Buffer> => sharp(bytes).raw().toBuffer();

describe("SPEC 9, 2022-07-01: variants have the pixels of the library's own output", () => {
  const own = (): Sharp => sharp(source);
  const ROWS: readonly (readonly [Partial<RenderTask>, Sharp, size: readonly [number, number]])[] = [
    [{ fit: "scale-down" }, own().resize({ width: 60, height: 60, fit: "inside", withoutEnlargement: true }), [60, 40]],
    [{ fit: "scale-down", width: 500, height: 500 }, own(), [120, 80]],
    [{ fit: "contain", width: 240, height: 500 }, own().resize({ width: 240, height: 500, fit: "inside" }), [240, 160]],
    [{ fit: "cover" }, own().resize({ width: 60, height: 60, fit: "cover" }), [60, 60]],
    [{ fit: "cover", width: 300, height: 100 }, own().resize({ width: 300, height: 100, fit: "cover" }), [300, 100]],
    [{ fit: "crop" }, own().resize({ width: 60, height: 60, fit: "cover" }), [60, 60]],
    [{ fit: "crop", width: 300, height: 50 }, own().resize({ width: 120, height: 50, fit: "cover" }), [120, 50]],
    [{ fit: "pad" }, own().resize({ width: 60, height: 60, fit: "contain", background: WHITE }), [60, 60]],
  ];
  for (const [more, expected, size] of ROWS)
    for (const format of ["png", "jpeg", "webp", "avif"] as const)
      test(`${more.fit} in ${more.width ?? 60}×${more.height ?? 60} as ${format}`, async () => {
        const bytes = await processor.render(task({ ...more, format }));
        const reference = await CODED[format](expected.clone()).toBuffer();
        const facts = await sharp(bytes).metadata();
        assert.deepEqual([facts.format, facts.width, facts.height], [format === "avif" ? "heif" : format, ...size]);
        assert.equal(Buffer.compare(await pixels(bytes), await pixels(reference)), 0);
      });
});

test("an account's image does not wait for all those of another account", async () => {
  const done: string[] = [];
  const asked = (owner: string): Promise<unknown> => processor.render(task({}), owner).then(() => done.push(owner));
  await Promise.all([...Array.from({ length: 6 }, () => asked("one")), asked("other")]);
  assert.deepEqual(done.slice(0, 3), ["one", "other", "one"]);
});

test("an image that a camera turned stands upright in each variant", async () => {
  const turned = join(folder, "turned.jpg");
  writeFileSync(turned, await sharp(source).withMetadata({ orientation: 6 }).jpeg().toBuffer());
  for (const metadata of ["keep", "none"] as const) {
    const facts = await sharp(await processor.render(task({ path: turned, metadata, format: "jpeg" }))).metadata();
    assert.deepEqual([facts.width, facts.height, facts.orientation ?? 1], [40, 60, 1]);
  }
});

test("EXIF data stay as the variant says", async () => {
  const exifOf = async (metadata: RenderTask["metadata"]): Promise<Buffer | undefined> =>
    (await sharp(await processor.render(task({ metadata, format: "jpeg" }))).metadata()).exif;
  const [kept, copyright, none] = [await exifOf("keep"), await exifOf("copyright"), await exifOf("none")];
  assert.ok(kept?.includes("Ada") && kept.includes("(c) Ada"));
  assert.equal(exifCopyright(kept ?? Buffer.alloc(0)), "(c) Ada");
  assert.equal(exifCopyright(copyright ?? Buffer.alloc(0)), "(c) Ada");
  assert.equal(copyright?.toString("latin1").replace("(c) Ada", "").includes("Ada"), false, "the artist is gone");
  assert.equal(none, undefined);
});

test("damaged EXIF data have no copyright, and end no reader", () => {
  const exif = Buffer.from("Exif\0\0II*\0\x08\0\0\0\x01\0\x98\x82\x02\0\x08\0\0\0\x1a\0\0\0\0\0\0\0(c) Ada\0", "latin1");
  assert.equal(exifCopyright(exif), "(c) Ada");
  for (let length = 0; length < exif.length; length++) assert.equal(exifCopyright(exif.subarray(0, length)), null);
  for (let at = 6; at < exif.length; at++) {
    const changed = Buffer.from(exif);
    changed[at] = 255;
    assert.doesNotThrow(() => exifCopyright(changed));
  }
});

test("an animation stays one as GIF and WebP, and is its first frame in other formats", async () => {
  const moving = join(folder, "moving.gif");
  const frames = [0, 90, 180].map((r) => ({ create: { width: 20, height: 10, channels: 3, background: { r, g: 0, b: 0 } } }));
  writeFileSync(
    moving,
    await sharp(frames as unknown as Buffer[], { join: { animated: true } })
      .gif()
      .toBuffer(),
  );
  for (const [format, pages, size] of [
    ["gif", 3, [10, 5]],
    ["webp", 3, [10, 5]],
    ["png", 1, [10, 5]],
  ] as const) {
    const facts = await sharp(await processor.render(task({ path: moving, width: 10, height: 10, format })), { animated: true }).metadata();
    assert.deepEqual([facts.pages ?? 1, facts.width, facts.pageHeight ?? facts.height], [pages, ...size], format);
  }
});
