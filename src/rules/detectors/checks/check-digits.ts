/** The value of each character: of a digit itself, of a letter its place in the alphabet, from A as 10; NaN for others. */
const VALUES = Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 36));

/**
 * The value of the character at a place, 0 after the end. Read by character code, because dozens of detectors read the
 * digits of one number.
 */
const valueAt = (text: string, place: number): number =>
  place >= 0 && place < text.length ? (VALUES[text.charCodeAt(place)] ?? Number.NaN) : 0;

const value = (char = "0"): number => valueAt(char, 0);

/** The sum of each digit times its weight; as many digits as weights. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let place = 0; place < weights.length; place++) sum += (weights[place] as number) * valueAt(digits, place);
  return sum;
}

const at = (digits: string, place: number): number => valueAt(digits, place < 0 ? digits.length + place : place);

/** ISO/IEC 7064 MOD 11,10: the last digit is the check digit. */
export function mod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (value(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === at(digits, -1);
}

/** ISO/IEC 7064 MOD 11-2: the last character is the check digit, or X for 10. */
export function mod11Minus2(code: string): boolean {
  let rest = 0;
  for (const digit of code.slice(0, -1)) rest = ((rest + value(digit)) * 2) % 11;
  return "10X98765432"[rest] === code.at(-1);
}

/** The remainder of a number of any length. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0;
  for (let place = 0; place < digits.length; place++) rest = (rest * 10 + valueAt(digits, place)) % divisor;
  return rest;
}

const DIHEDRAL = [
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
];
const PERMUTATIONS = ["0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258"];

/** Verhoeff's check digit, the last one. */
export function verhoeff(digits: string): boolean {
  let check = 0;
  for (let place = 0; place < digits.length; place++) {
    const permuted = value(PERMUTATIONS[place % 8]?.[at(digits, -1 - place)]);
    check = value(DIHEDRAL[check]?.[permuted]);
  }
  return check === 0;
}

/** EAN-13: weights 1 and 3 in turn. */
export const ean13 = (digits: string): boolean => weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0;

/** Whether month and day can be part of an identifier. */
export function isDay(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= (DAYS[month - 1] ?? 0);
}

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `yymmdd` at the position. */
export const hasYearFirst = (digits: string, place = 0): boolean =>
  isDay(Number(digits.slice(place + 2, place + 4)), Number(digits.slice(place + 4, place + 6)));

/** `ddmmyy` at the position. */
export const hasDayFirst = (digits: string, place = 0): boolean =>
  isDay(Number(digits.slice(place + 2, place + 4)), Number(digits.slice(place, place + 2)));

/**
 * A number of one repeated digit, which is never issued.
 * linear: pumped
 */
// linear: pumped
export const isUniform = (digits: string): boolean => /^(.)\1*$/.test(digits);

/** Whether the check digit makes the weighted sum a multiple of 11; numbers with a remainder that needs 10 are not issued. */
export const mod11 = (digits: string, weights: readonly number[]): boolean =>
  (11 - (weighted(digits, weights) % 11)) % 11 === valueAt(digits, weights.length);
