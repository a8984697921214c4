import { PlatformError } from "#kernel/errors.ts";
import type { SensitiveDataFindings, SensitiveDataScan } from "#model/sensitive-data.ts";
import { ruleProblems, type RuleSurroundings } from "#rules/check.ts";
import { compileDetectors, type CompiledDetectors } from "#rules/detectors/compiled.ts";
import { BodyScanner } from "#rules/detectors/scan.ts";
import { DETECTORS } from "#rules/detectors/table.ts";
import { executeManaged, MANAGED_RULESETS, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";

export interface SensitiveData {
  /**
   * What detection would find in a text, by every detector, off or on. Throws `invalid_input` for overrides that no rule
   * could have.
   */
  scan(request: SensitiveDataScan): SensitiveDataFindings;
}

export function createSensitiveData(): SensitiveData {
  let compiled: CompiledDetectors | undefined;
  return {
    scan: ({ text, overrides }) => {
      const enabled = enabledRules(overrides);
      const scanner = new BodyScanner((compiled ??= compileDetectors(DETECTORS)));
      scanner.push(Buffer.from(text));
      const { bytes, limited, findings } = scanner.end();
      return {
        bytes,
        scan_limited: limited,
        findings: findings.map(({ detector, count, offset }) => ({
          rule_id: detector.rule_id,
          detector: detector.id,
          description: detector.name,
          categories: CATEGORIES.get(detector.rule_id) ?? [],
          confidence: detector.confidence,
          enabled: enabled.has(detector.rule_id),
          count,
          offset,
        })),
      };
    },
  };
}

const RULESET = MANAGED_RULESETS.get(SENSITIVE_DATA_RULESET_ID);
const CATEGORIES: ReadonlyMap<string, string[]> = new Map(RULESET?.rules.map(({ id, categories }) => [id, [...categories]]));

function enabledRules(overrides: SensitiveDataScan["overrides"]): ReadonlySet<string> {
  const parameters = { id: SENSITIVE_DATA_RULESET_ID, ...(overrides === undefined ? {} : { overrides }) };
  const rule = { action: "execute", action_parameters: parameters, expression: "true" };
  const [problem] = ruleProblems(rule, "http_response_firewall_managed", IN_A_ZONE);
  if (problem !== undefined) {
    throw new PlatformError("invalid_input", { message: problem.message, source: problem.pointer.replace(/^\/action_parameters/, "") });
  }
  return new Set(executeManaged(parameters)?.rules.map(({ id }) => id));
}

const IN_A_ZONE: RuleSurroundings = { kind: "zone", customRulesets: new Map(), lists: { find: () => undefined } };
