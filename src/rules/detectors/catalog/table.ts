import { BUSINESS_DETECTORS } from "#rules/detectors/personal/business.ts";
import { CARD_DETECTORS } from "#rules/detectors/personal/cards.ts";
import { CONTACT_DETECTORS } from "#rules/detectors/personal/contact.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { FINANCIAL_DETECTORS } from "#rules/detectors/personal/financial.ts";
import { IBAN_DETECTOR } from "#rules/detectors/personal/iban.ts";
import { EUROPEAN_DETECTORS } from "#rules/detectors/personal/personal-europe.ts";
import { NAMED_DETECTORS } from "#rules/detectors/personal/personal-named.ts";
import { OTHER_PERSONAL_DETECTORS } from "#rules/detectors/personal/personal-other.ts";
import { WORLD_DETECTORS } from "#rules/detectors/personal/personal-world.ts";
import { PERSONAL_DETECTORS } from "#rules/detectors/personal/personal.ts";
import { MACHINE_READABLE_ZONE } from "#rules/detectors/personal/travel-documents.ts";
import { VAT_DETECTORS } from "#rules/detectors/personal/vat.ts";
import { withPublished } from "#rules/detectors/secrets/published.ts";
import { AI_SECRETS } from "#rules/detectors/secrets/secrets-ai.ts";
import { CLOUD_SECRETS } from "#rules/detectors/secrets/secrets-cloud.ts";
import { COMMUNICATION_SECRETS } from "#rules/detectors/secrets/secrets-communication.ts";
import { DATA_SECRETS } from "#rules/detectors/secrets/secrets-data.ts";
import { DEVELOPMENT_SECRETS } from "#rules/detectors/secrets/secrets-development.ts";
import { FURTHER_SECRETS } from "#rules/detectors/secrets/secrets-further.ts";
import { KEPT_SECRETS } from "#rules/detectors/secrets/secrets-kept.ts";
import { NAMED_SECRETS } from "#rules/detectors/secrets/secrets-named.ts";
import { OBSERVABILITY_SECRETS } from "#rules/detectors/secrets/secrets-observability.ts";
import { PAYMENT_SECRETS } from "#rules/detectors/secrets/secrets-payment.ts";
import { GENERAL_SECRETS } from "#rules/detectors/secrets/secrets.ts";

/** Every detector, in the order of the rules in the managed ruleset. If two match the same text, the first one counts. */
export const DETECTORS: readonly Detector[] = [
  ...CARD_DETECTORS,
  IBAN_DETECTOR,
  ...FINANCIAL_DETECTORS,
  ...VAT_DETECTORS,
  ...PERSONAL_DETECTORS,
  ...EUROPEAN_DETECTORS,
  ...WORLD_DETECTORS,
  ...OTHER_PERSONAL_DETECTORS,
  MACHINE_READABLE_ZONE,
  ...BUSINESS_DETECTORS,
  ...CONTACT_DETECTORS,
  ...NAMED_DETECTORS,
  ...withPublished([
    ...AI_SECRETS,
    ...CLOUD_SECRETS,
    ...COMMUNICATION_SECRETS,
    ...NAMED_SECRETS,
    ...DATA_SECRETS,
    ...DEVELOPMENT_SECRETS,
    ...OBSERVABILITY_SECRETS,
    ...PAYMENT_SECRETS,
    ...FURTHER_SECRETS,
    ...KEPT_SECRETS,
    ...GENERAL_SECRETS,
  ]),
];

/** Detectors that are on by default, restricted to findings without doubt. */
export const UNDOUBTED_DETECTORS: readonly Detector[] = DETECTORS.flatMap((detector) => {
  const { accepts, undoubted, category, enabled, confidence, context } = detector;
  if (!enabled) return [];
  if (undoubted !== undefined) return [{ ...detector, accepts: (text: string) => undoubted(text) && accepts(text) }];
  return category === "secrets" && confidence === "high" && context === undefined ? [detector] : [];
});

export const DETECTORS_BY_ID: ReadonlyMap<string, Detector> = new Map(DETECTORS.map((detector) => [detector.id, detector]));
