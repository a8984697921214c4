import type { GatewayEntry } from "#snapshot/entries.ts";
import { type Refusal, RefusalError } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { LogRecord } from "#gateway/logs/log.ts";
import type { MakeTransform, ReadyBody } from "#gateway/request/plan.ts";
import { type Classifier } from "./classifier.ts";
import { createDataLossPrevention } from "./dlp.ts";
import type { DlpProfiles } from "./dlp-profiles.ts";
import { createGuardrails } from "./guardrails.ts";

/** All inspections of one request and its answer. */
export interface RequestGuards {
  /** The refusal of the request, before any part of it is sent. */
  check(body: ReadyBody): Promise<Refusal | undefined>;
  readonly transforms: readonly MakeTransform[];
  /** Header fields of the answer that name the findings so far. */
  fields(): FlatHeaders;
}

export interface Guards {
  of(gateway: GatewayEntry, record: LogRecord): RequestGuards | undefined;
}

/** Whether the gateway's requests and answers must be inspected whole. */
export const isInspected = ({ dlp, guardrails }: GatewayEntry): boolean => dlp !== undefined || guardrails !== undefined;

export function createGuards({
  vendorPrefix,
  classifier,
  profiles,
}: {
  readonly vendorPrefix: string;
  readonly classifier: Classifier | undefined;
  readonly profiles: DlpProfiles;
}): Guards {
  const dlp = createDataLossPrevention({ vendorPrefix, profiles });
  const guardrails = createGuardrails(classifier, vendorPrefix);
  return {
    of: (gateway, record) => {
      if (!isInspected(gateway)) return undefined;
      const inspection = dlp.inspect(gateway, (action) => record.note({ dlp_action: action }));
      const guarding = guardrails.guard(gateway, (guardrail_action, guardrail_findings) =>
        record.note({ guardrail_action, guardrail_findings }),
      );
      return {
        // The cheaper inspection first.
        check: async (body) => (await refusalOf(inspection?.checkRequest(body))) ?? guarding?.checkPrompt(body),
        transforms: [...(inspection?.transforms ?? []), ...(guarding?.transforms ?? [])],
        fields: () => [...(inspection?.fields() ?? []), ...(guarding?.fields() ?? [])],
      };
    },
  };
}

async function refusalOf(checked: Promise<void> | undefined): Promise<Refusal | undefined> {
  try {
    await checked;
    return undefined;
  } catch (error) {
    return error instanceof RefusalError ? error.refusal : { name: "aig_internal" };
  }
}
