import type { AllowedData, SensitiveDataPattern } from "#model/detection/sensitive-data.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import type { SensitiveDataRow } from "#store/detection/sensitive-data.ts";

/** The detector's entry for a zone's or account's rows; null if it would be empty. */
export function detectionEntry(rows: readonly SensitiveDataRow[]): DetectionEntry | null {
  const allowed = rows
    .filter(({ kind }) => kind === "allowed")
    .map((row) => {
      const { value_hash, json_path, path, rule_id } = JSON.parse(row.value) as AllowedData;
      return {
        id: row.id,
        ...(value_hash === undefined ? {} : { value_hash }),
        ...(json_path === undefined ? {} : { json_path }),
        ...(path === undefined ? {} : { path }),
        ...(rule_id === undefined ? {} : { rule_id }),
      };
    });
  const patterns = rows
    .filter(({ kind }) => kind === "pattern")
    .map((row) => ({ ...(JSON.parse(row.value) as SensitiveDataPattern), id: row.id }))
    .map(({ id, name, pattern, context, validator, tags, enabled }) => ({
      ...{ id, name, pattern, context, validator, tags },
      // A disabled pattern is included because an override may enable it.
      ...(enabled ? {} : { enabled }),
    }));
  return allowed.length + patterns.length === 0 ? null : { allowed, patterns };
}
