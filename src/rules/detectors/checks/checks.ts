import { withoutSpelled } from "./separators.ts";

/** The decimal digits of a text, without separators. */
export const digitsOf = (text: string): string => withoutSpelled(text).replace(/\D/g, "");

/** ISO/IEC 7812-1 Annex B. */
export function luhn(digits: string): boolean {
  let sum = 0;
  let double = false;
  for (let i = digits.length - 1; i >= 0; i--) {
    let digit = digits.charCodeAt(i) - 48;
    if (double) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
    double = !double;
  }
  return sum % 10 === 0;
}

/** ISO/IEC 7064 MOD 97-10 as ISO 13616 uses it: upper-case letters and digits, check digits in places 3 and 4. */
export function mod97(iban: string): boolean {
  const turned = iban.slice(4) + iban.slice(0, 4);
  let rest = 0;
  for (let i = 0; i < turned.length; i++) {
    const code = turned.charCodeAt(i);
    rest = code < 58 ? (rest * 10 + code - 48) % 97 : (rest * 100 + code - 55) % 97;
  }
  return rest === 1;
}

/** Repeated or counting digits, which people type as examples. The last digit may be a check digit. */
export function isPlaceholder(digits: string): boolean {
  const body = digits.slice(0, -1);
  const step = (body.charCodeAt(1) - body.charCodeAt(0) + 10) % 10;
  if (step !== 0 && step !== 1 && step !== 9) return false;
  for (let i = 1; i < body.length; i++) if ((body.charCodeAt(i) - body.charCodeAt(i - 1) + 10) % 10 !== step) return false;
  return true;
}
