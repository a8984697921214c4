import type { Detector } from "#rules/detectors/engine/detector.ts";
import { DETECTORS } from "./table.ts";

/** Detectors under one name, for policies of data loss prevention. Ids never change: stored policies name them. */
export interface Profile {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly detectors: readonly Detector[];
}

const isContact = ({ tags = [] }: Detector): boolean => tags.includes("contact");
const chosen = (holds: (detector: Detector) => boolean): readonly Detector[] => DETECTORS.filter(holds);

export const PROFILES: readonly Profile[] = [
  {
    id: "8d9b1e34-5f0c-4c52-9a6e-2f5f7c1d0a01",
    name: "Financial Information",
    description: "Payment cards, bank accounts and other financial numbers",
    detectors: chosen(({ category, enabled }) => category === "financial" && enabled),
  },
  {
    id: "8d9b1e34-5f0c-4c52-9a6e-2f5f7c1d0a02",
    name: "Credentials and Secrets",
    description: "Keys, tokens, passwords in addresses and private keys",
    detectors: chosen(({ category, enabled }) => category === "secrets" && enabled),
  },
  {
    id: "8d9b1e34-5f0c-4c52-9a6e-2f5f7c1d0a03",
    name: "Personal Identifiers",
    description: "Passport, identity card, health, social security and tax numbers",
    detectors: chosen((detector) => detector.category === "pii" && detector.enabled && !isContact(detector)),
  },
  {
    id: "8d9b1e34-5f0c-4c52-9a6e-2f5f7c1d0a04",
    name: "Contact Details",
    description: "E-mail addresses, telephone numbers and network addresses; frequent in ordinary text",
    detectors: chosen(isContact),
  },
];

export const PROFILES_BY_ID: ReadonlyMap<string, Profile> = new Map(PROFILES.map((profile) => [profile.id, profile]));
