import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { formatOf, type ImageFacts } from "./image-facts.ts";
import { createImageProcessor } from "./image-processor.ts";

const folder = mkdtempSync(join(tmpdir(), "selvedge-images-"));
const processor = createImageProcessor(systemClock);
after(() => {
  processor.close();
  rmSync(folder, { recursive: true, force: true });
});

const noise = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#888", noise: { type: "gaussian", mean: 128, sigma: 30 } } });
const flat = (width: number, height: number, background = "#0a0f") => sharp({ create: { width, height, channels: 4, background } });
const animation = (frames: number, side = 8) => {
  const colour = (i: number) => ({ r: (i * 40) % 256, g: 9, b: 9 });
  const all = Array.from({ length: frames }, (_, i) => ({ create: { width: side, height: side, channels: 3, background: colour(i) } }));
  // The library's types know this form of a frame alone, and not in a list.
  return sharp(all as unknown as Buffer[], { join: { animated: true } });
};
const part = (bytes: Buffer, share: number): Buffer => bytes.subarray(0, Math.floor(bytes.length * share));
const text = (value: string): Buffer => Buffer.from(value, "latin1");

/** PNG, "Chunk layout". */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([text(type), data]);
  const all = Buffer.alloc(body.length + 8);
  all.writeUInt32BE(data.length, 0);
  body.copy(all, 4);
  all.writeUInt32BE(crc32(body), body.length + 4);
  return all;
}

/** A PNG whose head claims a size, with the rows of a smaller one. */
function pngOf(width: number, height: number, rows: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([text("\x89PNG\r\n\x1a\n"), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

/** A GIF whose frames of one pixel stand on a screen of this size. */
function gifOf(width: number, height: number, frames: number): Buffer {
  const head = Buffer.from("47494638396100000000800000000000ffffff", "hex");
  head.writeUInt16LE(width, 6);
  head.writeUInt16LE(height, 8);
  const frame = Buffer.from("21f90400010000002c00000000010001000002024c0100", "hex");
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), text(";")]);
}

const SCRIPT = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>";
const jpeg = await noise(60, 40).jpeg().toBuffer();
const png = await noise(60, 40).png().toBuffer();
const webp = await noise(60, 40).webp().toBuffer();
const avif = await noise(60, 40).avif().toBuffer();
const gif = await animation(3).gif().toBuffer();

type Outcome = ImageFacts | "image_format" | "image_unreadable" | "image_dimensions";
const still = (format: ImageFacts["format"]): ImageFacts => ({ format, frames: 1 });

/** Files, and what becomes of them. */
const FILES: Readonly<Record<string, readonly [bytes: Buffer, outcome: Outcome]>> = {
  "a JPEG": [jpeg, still("jpeg")],
  "a progressive JPEG": [await noise(60, 40).jpeg({ progressive: true }).toBuffer(), still("jpeg")],
  "a grey JPEG": [await noise(60, 40).grayscale().jpeg().toBuffer(), still("jpeg")],
  "a JPEG in CMYK": [await noise(60, 40).toColourspace("cmyk").jpeg().toBuffer(), still("jpeg")],
  "a JPEG that a camera turned": [await noise(60, 40).withMetadata({ orientation: 6 }).jpeg().toBuffer(), still("jpeg")],
  "a PNG": [png, still("png")],
  "a PNG with alpha": [await flat(20, 20, "#0a08").png().toBuffer(), still("png")],
  "a PNG with a palette": [await noise(60, 40).png({ palette: true }).toBuffer(), still("png")],
  "a PNG in 16 bits": [await noise(60, 40).toColourspace("rgb16").png().toBuffer(), still("png")],
  "a GIF": [await flat(9, 9).gif().toBuffer(), still("gif")],
  "an animated GIF": [gif, { format: "gif", frames: 3 }],
  "a WebP": [webp, still("webp")],
  "a WebP without loss": [await noise(60, 40).webp({ lossless: true }).toBuffer(), still("webp")],
  "an animated WebP": [await animation(4).webp().toBuffer(), { format: "webp", frames: 4 }],
  "an AVIF": [avif, still("avif")],
  "one pixel": [await flat(1, 1).png().toBuffer(), still("png")],
  "a side of 12,000 pixels": [await flat(12_000, 2).png().toBuffer(), still("png")],
  "a JPEG with a script behind it": [Buffer.concat([jpeg, text(SCRIPT)]), still("jpeg")],
  "a side of 12,001 pixels": [await flat(12_001, 2).png().toBuffer(), "image_dimensions"],
  "a head that claims four gigapixels": [pngOf(65_535, 65_535, Buffer.alloc(10)), "image_dimensions"],
  "a head that claims 100 megapixels, without their rows": [pngOf(10_000, 10_000, Buffer.alloc(100)), "image_unreadable"],
  "an animation of 60 megapixels in 60 KB": [gifOf(1_000, 1_000, 60), "image_dimensions"],
  "an animation of 1,001 frames": [gifOf(2, 2, 1_001), "image_dimensions"],
  "half a JPEG": [part(jpeg, 0.5), "image_unreadable"],
  "half a PNG": [part(png, 0.5), "image_unreadable"],
  "half a WebP": [part(webp, 0.5), "image_unreadable"],
  "half an AVIF": [part(avif, 0.5), "image_unreadable"],
  "a GIF without its end": [gif.subarray(0, -12), "image_unreadable"],
  "the first bytes of a JPEG": [jpeg.subarray(0, 4), "image_unreadable"],
  "a PNG with a damaged head": [Buffer.concat([png.subarray(0, 20), Buffer.alloc(40, 255), png.subarray(60)]), "image_unreadable"],
  "an SVG with a script": [text(SCRIPT), "image_format"],
  "an SVG behind the marks of UTF-8": [text(`\xef\xbb\xbf<?xml version="1.0"?>${SCRIPT}`), "image_format"],
  "a page": [text("<!doctype html><script>alert(1)</script>"), "image_format"],
  "a PDF": [text("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n"), "image_format"],
  "a TIFF": [await noise(8, 8).tiff().toBuffer(), "image_format"],
  "a BMP": [text(`BM${"\0".repeat(80)}`), "image_format"],
  "a video": [text("\0\0\0\x18ftypisom\0\0\0\0isomavc1"), "image_format"],
  nothing: [Buffer.alloc(0), "image_format"],
};

describe("files are known by their content, and decoded within limits", () => {
  for (const [name, [bytes, outcome]] of Object.entries(FILES))
    test(`${name}: ${typeof outcome === "string" ? outcome : `${outcome.format}, ${outcome.frames}`}`, async () => {
      // A misleading name changes nothing.
      const path = join(folder, `${name.replaceAll(/\W/g, "-")}.svg`);
      writeFileSync(path, bytes);
      const seen = await processor.inspect(path).catch((error: unknown) => (error as PlatformError).errorName);
      assert.deepEqual(seen, outcome);
      // The first bytes alone refuse what the decoder does not know either.
      if (outcome === "image_format") assert.equal(formatOf(bytes), null);
      else if (typeof outcome !== "string") assert.equal(formatOf(bytes), outcome.format);
    });
});

test("an image that takes too long or too much memory ends the program, and the next one is read", async () => {
  const path = join(folder, "large.webp");
  writeFileSync(path, await flat(10_000, 10_000).webp().toBuffer());
  const small = join(folder, "small.jpg");
  writeFileSync(small, jpeg);
  for (const limits of [{ workMs: 20 }, { memoryKib: 700_000 }]) {
    const limited = createImageProcessor(systemClock, limits);
    try {
      const [first, second] = await Promise.allSettled([limited.inspect(path), limited.inspect(small)]);
      assert.ok(first.status === "rejected" && first.reason instanceof PlatformError, JSON.stringify(first));
      assert.equal(first.reason.errorName, "image_unreadable");
      if ("memoryKib" in limits) assert.deepEqual(second, { status: "fulfilled", value: still("jpeg") });
    } finally {
      limited.close();
    }
  }
});

test("the program has nothing of the server's environment", async () => {
  process.env["SELVEDGE_TEST_SECRET"] = "secret";
  const { execFileSync } = await import("node:child_process");
  const path = join(folder, "one.jpg");
  writeFileSync(path, jpeg);
  await processor.inspect(path);
  const programs = execFileSync("pgrep", ["-P", String(process.pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  const { readFileSync } = await import("node:fs");
  const environments = programs.flatMap((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("image-program") ? [readFileSync(`/proc/${pid}/environ`, "utf8")] : [];
    } catch {
      return [];
    }
  });
  assert.ok(environments.length > 0);
  for (const environment of environments) assert.doesNotMatch(environment, /SELVEDGE/);
});
