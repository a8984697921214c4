import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runPhase } from "#rules/engine/engine.ts";
import { createRun } from "#rules/engine/run.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";
import type { Benchmark } from "./benchmark.ts";
import { bothRulesets } from "./rules-managed.ts";

/** Less than the inspected 1 MiB by the further bytes of characters beyond ASCII. */
const BODY_BYTES = 1_040_000;
const DOCUMENTS = join(import.meta.dirname, "../../docs");

/** Texts of this project that people wrote, in one text of 1 MiB. */
function documents(): string {
  const names = readdirSync(DOCUMENTS, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
  const all = names.sort().map((name) => readFileSync(join(DOCUMENTS, name), "utf8"));
  return all.join("\n").slice(0, BODY_BYTES);
}

const sending = (type: string, raw: string): RequestView =>
  testRequest({
    method: "POST",
    headers: { Host: ["www.example.com"], "content-type": [type] },
    body: { raw: bytesOf(raw), size: bytesOf(raw).length, truncated: false },
  });

/** One character for each byte, as the edge keeps bodies. */
const bytesOf = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const marked = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The same text in each kind of body, a paragraph a value where it has values. */
function bodies(text: string): Readonly<Record<string, RequestView>> {
  const paragraphs = text.split("\n\n");
  const json = paragraphs.map((paragraph) => JSON.stringify({ title: paragraph.split(" ").slice(0, 6).join(" "), text: paragraph }));
  const upTo = (parts: readonly string[], between: string): string => {
    let bytes = 0;
    const end = parts.findIndex((part) => (bytes += part.length + between.length) > BODY_BYTES - 64);
    return parts.slice(0, end === -1 ? undefined : end).join(between);
  };
  const items = upTo(
    paragraphs.map((paragraph) => `<p>${marked(paragraph)}</p>`),
    "\n",
  );
  const parts = upTo(
    paragraphs.map((paragraph, i) => `--X\r\nContent-Disposition: form-data; name="p${i}"\r\n\r\n${paragraph}\r\n`),
    "",
  );
  const fields = upTo(
    paragraphs.map((paragraph, i) => `p${i}=${encodeURIComponent(paragraph).replaceAll("%20", "+")}`),
    "&",
  );
  const batch = upTo(
    json.map((one) => JSON.stringify({ message: one })),
    ",",
  );
  return {
    text: sending("text/plain", text),
    xml: sending("application/xml", `<doc>${items}</doc>`),
    json: sending("application/json", `[${upTo(json, ",")}]`),
    batch: sending("application/json", `[${batch}]`),
    parts: sending("multipart/form-data; boundary=X", `${parts}--X--\r\n`),
    form: sending("application/x-www-form-urlencoded", fields),
  };
}

/**
 * Steps that both managed rulesets take for 1 MiB of this project's documents, which are full of commands, queries and markup, in each kind of
 * body. Steps count the work, so a busy machine does not change them.
 */
export const rulesDocuments: Benchmark = {
  name: "rules-documents",
  unit: "million steps for 1 MiB of documents as text",
  better: "lower",
  target: 20,
  tools: [],
  roundsMax: 2,
  prepare: () => {
    const entry = bothRulesets();
    const text = documents();
    return Promise.resolve({
      ours: {
        name: "selvedge",
        run: () => {
          const also: Record<string, number> = {};
          let value = 0;
          for (const [kind, request] of Object.entries(bodies(text))) {
            const run = createRun();
            const before = process.cpuUsage();
            runPhase(entry, run, request, null);
            const { user, system } = process.cpuUsage(before);
            const million = Math.round(run.steps / 1e5) / 10;
            if (kind === "text") value = million;
            else also[`${kind}_million`] = million;
            also[`${kind}_cpu_ms`] = Math.round((user + system) / 1000);
          }
          return Promise.resolve({ value, also });
        },
      },
      close: () => Promise.resolve(),
    });
  },
};
