import fc from "fast-check";

/** One seed for all property tests, so that each run gives the same result. */
const SEED = 20_261_122;

/** SELVEDGE_SEED=7 uses other examples, SELVEDGE_SEED=random new ones each time. A failure prints its seed. */
export const propertySeed = process.env["SELVEDGE_SEED"] ?? String(SEED);
if (propertySeed !== "random") {
  if (!/^-?\d{1,10}$/.test(propertySeed)) throw new Error(`SELVEDGE_SEED is a whole number or "random", not "${propertySeed}"`);
  fc.configureGlobal({ seed: Number(propertySeed) });
}

export { fc };
