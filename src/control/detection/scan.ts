import type { SensitiveDataFindings } from "#model/detection/sensitive-data.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { compileDetectors, type CompiledDetectors } from "#rules/detectors/engine/compiled.ts";
import { customDetectors, type CustomPattern } from "#rules/detectors/engine/custom.ts";
import { confidences } from "#rules/detectors/engine/proximity.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import type { ValueHash } from "#rules/detectors/engine/value-hash.ts";
import { jsonPaths } from "#rules/detectors/masking/json-path.ts";
import { MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";

export interface ScanTask {
  readonly zoneId: string;
  readonly text: string;
  /** Patterns of the zone and of its account. */
  readonly own: readonly CustomPattern[];
  /** Ids of the rules that count as enabled. */
  readonly enabled: ReadonlySet<string>;
}

/** The categories of each rule that detects sensitive data, by its id. */
export const CATEGORIES: ReadonlyMap<string, string[]> = new Map(
  MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID)?.rules.map(({ id, categories }) => [id, [...categories]]),
);

/** Findings of all detectors in a text, whether enabled or not. */
export function createScan(valueHash: ValueHash): (task: ScanTask) => SensitiveDataFindings {
  const compiledWith = createCompiled();
  return ({ zoneId, text, own, enabled }) => {
    const body = Buffer.from(text);
    const { bytes, limited, findings } = scanText(compiledWith(own), body);
    const confidenceOf = confidences(findings.filter(({ detector }) => enabled.has(detector.rule_id)));
    const first = findings.flatMap(({ hits }) => hits.slice(0, 1));
    const paths = first.length > 0 && isJsonText(text) ? jsonPaths(body, first, findings) : null;
    return {
      bytes,
      scan_limited: limited,
      findings: findings.map(({ detector, count, offset, isSure, hits }) => ({
        rule_id: detector.rule_id,
        detector: detector.id,
        description: detector.name,
        categories: CATEGORIES.get(detector.rule_id) ?? [detector.category, ...(detector.tags ?? [])],
        confidence: confidenceOf({ detector, isSure }),
        enabled: enabled.has(detector.rule_id),
        count,
        offset,
        ...(paths === null ? {} : { json_path: paths.get(offset) ?? "$" }),
        value_hash: valueHash(zoneId, detector, hits[0]?.text ?? ""),
      })),
    };
  };
}

const COMPILED_MAX = 16;

/** All detectors with these patterns, compiled on first use; evicts the oldest. */
function createCompiled(): (own: readonly CustomPattern[]) => CompiledDetectors {
  const known = new Map<string, CompiledDetectors>();
  return (own) => {
    const key = JSON.stringify(own);
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = compileDetectors([...customDetectors(own), ...DETECTORS]);
    const [oldest] = known.keys();
    if (known.size >= COMPILED_MAX && oldest !== undefined) known.delete(oldest);
    known.set(key, made);
    return made;
  };
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
