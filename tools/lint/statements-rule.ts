import { asNode, isTestFile, type Node, nameOf, type Rule, stringValue } from "./rule.ts";

const ADVICE =
  "changes or deletes however many rows match, in one go: use deleteInChunks or updateInChunks (store/queries/in-chunks.ts), or mark it // few: why it is few";

/** Of the tables whose rows have no `id`, or are written by another unique key. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  certificate_orders: ["owner_kind", "owner_id"],
  certificate_renewals: ["owner_kind", "owner_id"],
  counters: ["name"],
  custom_name_servers: ["account_id", "name"],
  dns_record_counts: ["zone_id", "facet"],
  dns_record_tags: ["record_id"],
  dns_version_parts: ["zone_id", "version", "part"],
  dns_versions: ["zone_id", "version"],
  fallback_origins: ["zone_id"],
  incoming_transfer_states: ["zone_id"],
  ruleset_versions: ["ruleset_id", "version"],
  zone_claims: ["zone_id"],
  zone_dnssec: ["zone_id"],
  zone_transfers: ["zone_id", "direction"],
};

/** A statement of the store that changes or deletes rows does so by a key, or is known to touch few: SQLite runs it in one go. */
export const statements: Rule = {
  create(context) {
    if (!/\/src\/store\//.test(context.filename) || isTestFile(context.filename)) return {};
    const { text } = context.sourceCode;
    return {
      CallExpression: (node: Node) => {
        const verb = nameOf(asNode(node["callee"])?.["property"]);
        if (verb !== "deleteFrom" && verb !== "updateTable") return;
        const at = node["start"] as number;
        const end = text.indexOf(".execute", at);
        const statement = text.slice(at, end === -1 ? undefined : end);
        const table = stringValue((node["arguments"] as readonly unknown[])[0]) ?? "";
        const names = (column: string): boolean => new RegExp(`\\.where\\(\\s*"${column}",\\s*"(?:=|in)"`).test(statement);
        const isByKey = names("id") || (KEYS[table]?.every(names) ?? false);
        if (!isByKey && !isMarked(text, at)) context.report({ node, message: ADVICE });
      },
    };
  },
};

/** Just above the statement. */
function isMarked(text: string, at: number): boolean {
  const [above = "", ...rest] = text.slice(0, at).split("\n").slice(-3);
  return [above, ...rest].some((line) => line.trim().startsWith("// few: "));
}
