import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createGeoip, type GeoipDatabases } from "#edge/geoip.ts";
import { buildMmdb } from "../../../test/support/mmdb.ts";
import { createGeoipFiles } from "./geoip-files.ts";
import { eventually } from "../../../test/support/eventually.ts";

const database = (country: string): Buffer => buildMmdb({ "192.0.2.0/24": { country: { iso_code: country } } });

test("GeoIP databases are reloaded when replaced, and an unreadable file is reported once and changes nothing", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-places-"));
  const path = join(directory, "places.mmdb");
  const warnings: string[] = [];
  let newest: GeoipDatabases = [];
  let changes = 0;
  const country = (): string | undefined => createGeoip(newest, { value: 0 }).of("192.0.2.1")?.country;
  const files = createGeoipFiles({
    paths: [path, join(directory, "missing.mmdb")],
    intervalMs: 10,
    log: { warn: (_fields: unknown, message?: string) => void warnings.push(message ?? ""), info: () => undefined },
    onChanged: (databases) => {
      newest = databases;
      changes++;
    },
  });
  t.after(() => {
    files.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  assert.deepEqual([files.databases(), warnings.length], [[], 2]);
  const put = (bytes: Buffer): void => {
    writeFileSync(`${path}.new`, bytes);
    renameSync(`${path}.new`, path);
  };
  put(database("DE"));
  await eventually(() => changes === 1);
  assert.equal(country(), "DE");
  put(database("FR"));
  await eventually(() => changes === 2);
  assert.equal(country(), "FR");
  put(database("IT").subarray(0, 100));
  await eventually(() => warnings.length === 3);
  rmSync(path);
  await eventually(() => warnings.length === 4);
  await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual([changes, warnings.length, files.databases().length], [2, 4, 1]);
  assert.match(warnings.at(-1) ?? "", /stays in use/);
});
