import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { type TextMasker, textMaskerOf } from "./text-masker.ts";

/** Detectors of data that identifies a person; off by default, because pages are full of it. */
const PERSONAL: ReadonlySet<string> = new Set(["pii.email", "pii.phone_international"]);
const MAY_BE_PERSONAL = /@|%40|\+\d/;

let mask: TextMasker | undefined;

/** Whether a key of JSON identifies a person: an object with people's addresses as keys is common. */
export function isPersonalKey(key: string): boolean {
  if (!MAY_BE_PERSONAL.test(key)) return false;
  mask ??= textMaskerOf(compileDetectors(DETECTORS.filter(({ id }) => PERSONAL.has(id))));
  return mask([key], "")[0] !== key;
}
