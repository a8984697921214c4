import assert from "node:assert/strict";
import { test } from "node:test";
import { INERT_SETTINGS } from "#model/zones/inert-settings.ts";
import { EDITABLE_SETTINGS } from "#model/zones/zone-settings.ts";
import { edgeSettings } from "./chosen-settings.ts";

const MODIFIED = "2026-01-01T00:00:00.000000Z";
const column = (values: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(values).map(([id, value]) => [id, { value, modified_on: MODIFIED }])));

test("the API's defaults equal the edge's", () => {
  assert.equal(edgeSettings("{}"), null);
  const defaults = Object.fromEntries(Object.entries(EDITABLE_SETTINGS).map(([id, row]) => [id, row.default]));
  assert.equal(edgeSettings(column(defaults)), null);
});

test("each editable setting changes the edge's settings", () => {
  const chosen = {
    always_use_https: "on",
    brotli: "off",
    browser_cache_ttl: 60,
    cache_level: "basic",
    development_mode: "on",
    http2: "off",
    ip_geolocation: "off",
    log_masking: "off",
    min_tls_version: "1.3",
    minify: { css: "off", html: "off", js: "on" },
    mobile_redirect: { status: "on", mobile_subdomain: "m", strip_uri: true },
    page_shield: { enabled: true, use_cloudflare_reporting_endpoint: false, use_connection_url_path: true },
    privacy_pass: "on",
    security_header: { strict_transport_security: { enabled: true } },
    server_side_exclude: "on",
    sort_query_string_for_cache: "on",
    ssl: "strict",
    tls_1_3: "off",
    url_normalization: { scope: "none", type: "rfc3986" },
    waf: "on",
    websockets: "off",
  };
  assert.deepEqual(Object.keys(chosen), Object.keys(EDITABLE_SETTINGS).toSorted());
  for (const [id, value] of Object.entries(chosen)) {
    // It turns on rules, which are separate from the edge's settings.
    assert.equal(Object.keys(edgeSettings(column({ [id]: value })) ?? {}).length, id === "waf" ? 0 : 1, id);
  }
  assert.deepEqual(edgeSettings(column({ development_mode: "on" })), { development_mode_until_ms: Date.UTC(2026, 0, 1, 3) });
});

test("each setting is in only one table", () => {
  const ids = [EDITABLE_SETTINGS, INERT_SETTINGS].flatMap((table) => Object.keys(table));
  assert.equal(new Set(ids).size, ids.length);
});
