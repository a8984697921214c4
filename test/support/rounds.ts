/**
 * Rounds of a test that repeats a start and a kill: each takes seconds, and the first ones differ most in timing.
 * SELVEDGE_ROUNDS=3 triples them, for example before a release.
 */
export const roundsOf = (count: number): number => count * Math.max(1, Number(process.env["SELVEDGE_ROUNDS"] ?? 1));
