import assert from "node:assert/strict";
import { test } from "node:test";
import { slotEntries } from "#control/previous-waf/entries.ts";
import type { FirewallKind } from "#control/previous-waf/state.ts";
import { firewallOf } from "#control/previous-waf/state.ts";
import { purgeTest } from "#edge/cache/purge/purge-matcher.ts";
import { allowedAt } from "#edge/detection/allowed.ts";
import type { LegacyPhase } from "#rules/previous-waf/slots.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { normalizedPath, type UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { createRedirectList } from "#rules/lists/redirect-list.ts";
import { urlPatternProblem } from "#rules/previous-waf/url-pattern.ts";
import type { Phase } from "#rules/phases.ts";
import { testRequest } from "#rules/testing/views.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import { fc } from "../support/property.ts";

// Paths have many spellings. Whatever is stored to be compared with them must not depend on the one that its author chose (ADR 0290).

type Type = UrlNormalization["type"];

const HOST = "www.example.com";
const escapeOf = (text: string, lower: boolean): string => {
  const escape = `%${text.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return lower ? escape.toLowerCase() : escape;
};
/** A normal path, as pieces: plain characters, escapes of reserved ones, and slashes. */
const pieces = fc.array(fc.constantFrom("a", "Z", "7", "-", "~", "%2F", "%5C", "%C3", "|", "@", "/"), { maxLength: 10 });
/** How to spell one piece. */
const spelling = fc.tuple(fc.boolean(), fc.boolean(), fc.constantFrom("", "", "./", "x/../", "/"));

/** The path with some characters escaped, escapes in lower case, dot segments, and several slashes where they count as one. */
function spelled(normal: readonly string[], how: readonly (readonly [boolean, boolean, string])[], type: Type): string {
  const text = normal.map((piece, i) => {
    const [escapes, lower, between] = how[i] ?? [false, false, ""];
    if (piece === "/") return between === "/" && type === "rfc3986" ? "/" : `/${between}`;
    if (piece.startsWith("%")) return lower ? piece.toLowerCase() : piece;
    return (escapes && /[a-z0-9~-]/i.test(piece)) || (escapes && piece === "|") ? escapeOf(piece, lower) : piece;
  });
  return `/${text.join("")}`;
}

/** Two spellings with the same normal form. */
const twoSpellings = fc
  .tuple(
    pieces,
    fc.array(spelling, { maxLength: 10 }),
    fc.array(spelling, { maxLength: 10 }),
    fc.constantFrom<Type>("cloudflare", "rfc3986"),
  )
  .map(([normal, one, other, type]) => ({ stored: spelled(normal, one, type), asked: spelled(normal, other, type), type }))
  .filter(({ stored, asked, type }) => normalizedPath(stored, type) === normalizedPath(asked, type));

const row = (kind: FirewallKind, id: string, value: object) => ({
  zone_id: "zone",
  kind,
  id,
  value: JSON.stringify(value),
  created_on: "2026-01-01T00:00:00Z",
  modified_on: "2026-01-01T00:00:00Z",
});

const KINDS: Readonly<Record<string, { readonly slot: LegacyPhase; objects(url: string): readonly ReturnType<typeof row>[] }>> = {
  lockdown: {
    slot: "zone_lockdown",
    objects: (url) => [row("lockdown", "l", { urls: [url], configurations: [{ target: "ip", value: "203.0.113.9" }] })],
  },
  "page rule": {
    slot: "previous_waf",
    objects: (url) => [
      row("page_rule", "p", {
        targets: [{ target: "url", constraint: { operator: "matches", value: url } }],
        actions: [{ id: "waf", value: "on" }],
        status: "active",
        priority: 1,
      }),
    ],
  },
  override: {
    slot: "previous_waf",
    objects: (url) => [row("waf_override", "o", { urls: [url], priority: 1, groups: {}, rules: {}, rewrite_action: {} })],
  },
  "rate limit": {
    slot: "rate_limits",
    objects: (url) => [row("rate_limit", "r", { match: { request: { url } }, threshold: 1, period: 10, action: { mode: "simulate" } })],
  },
};

const zoneOf = (type: Type) => ({
  id: "zone",
  account_id: "account",
  waf_migration: "none",
  edge_settings: JSON.stringify({
    url_normalization: { value: { scope: "incoming", type }, modified_on: null },
    waf: { value: "on", modified_on: null },
  }),
});

for (const [kind, { slot, objects }] of Object.entries(KINDS))
  test(`the URL of each ${kind} matches each spelling of its path`, () => {
    fc.assert(
      fc.property(twoSpellings, fc.constantFrom("", "*"), ({ stored, asked, type }, star) => {
        const url = `${HOST}${stored}${star}`;
        fc.pre(urlPatternProblem(url) === null);
        const entry = slotEntries(zoneOf(type) as never, firewallOf(objects(url) as never))[slot];
        const rule = entry?.rules[0];
        assert.ok(entry && rule);
        const request = testRequest({ host: HOST, path: normalizedPath(asked, type), query: "", received_path: asked });
        assert.ok(compileExpression(rule.expression, entry.phase as Phase["name"])(request, null), `${url} ${asked}`);
      }),
    );
  });

test("a purge by URL or prefix reaches the responses to each spelling of its path", () => {
  fc.assert(
    fc.property(twoSpellings, ({ stored, asked, type }) => {
      const settings = { ...EDGE_SETTINGS_DEFAULTS, url_normalization: { scope: "incoming", type } as const };
      const normal = normalizedPath(asked, type);
      const key = {
        zoneId: "zone",
        key: "",
        apart: "",
        scheme: "https" as const,
        host: HOST,
        port: null,
        path: asked,
        query: "",
        purges: 0,
      };
      const response = { asked: { ...key, ...(normal === asked ? {} : { received: [normal] }) }, tags: [] };
      for (const [by, value] of [
        ["files", `https://${HOST}${stored}`],
        ["prefixes", `${HOST}${stored}`],
      ] as const)
        assert.ok(purgeTest({ count: 1, recent: [{ by, values: [value] }] }, settings)(response), `${by} ${value} ${asked}`);
    }),
  );
});

test("the source of a listed redirect matches each spelling of its path", () => {
  fc.assert(
    fc.property(twoSpellings, ({ stored, asked, type }) => {
      const list = createRedirectList([{ source_url: `${HOST}${stored}`, target_url: "https://example.net/", status_code: 301 }]);
      assert.ok(list.redirect(`https://${HOST}${normalizedPath(asked, type)}`), `${stored} ${asked}`);
    }),
  );
});

test("an allowed place of data is at each spelling of its path", () => {
  fc.assert(
    fc.property(twoSpellings, fc.constantFrom("", "*"), ({ stored, asked, type }, star) => {
      const entries = [{ id: "a", path: stored + star }];
      assert.equal(allowedAt(entries, normalizedPath(asked, type)).length, 1, `${stored} ${asked}`);
    }),
  );
});

test("a listed redirect to the normal form of its source does not send visitors in a circle", () => {
  const redirect = (source: string, target: string, more: object = {}) =>
    createRedirectList([{ source_url: `${HOST}${source}`, target_url: `https://${HOST}${target}`, status_code: 301, ...more }]);
  assert.equal(redirect("/a//b", "/a/b").redirect(`https://${HOST}/a/b`), undefined);
  assert.equal(redirect("/a//b", "/%61/b/c", { subpath_matching: true }).redirect(`https://${HOST}/a/b/d`), undefined);
  assert.equal(redirect("/a//b", "/a/c").redirect(`https://${HOST}/a/b`)?.location, `https://${HOST}/a/c`);
});
