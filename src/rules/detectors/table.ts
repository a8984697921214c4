import { CARD_DETECTORS } from "./cards.ts";
import type { Detector } from "./detector.ts";
import { IBAN_DETECTOR } from "./iban.ts";
import { PERSONAL_DETECTORS } from "./personal.ts";
import { SECRET_DETECTORS } from "./secrets.ts";

/** Every detector, in the order in which the managed ruleset lists its rules. */
export const DETECTORS: readonly Detector[] = [...CARD_DETECTORS, IBAN_DETECTOR, ...PERSONAL_DETECTORS, ...SECRET_DETECTORS];

export const DETECTORS_BY_ID: ReadonlyMap<string, Detector> = new Map(DETECTORS.map((detector) => [detector.id, detector]));
