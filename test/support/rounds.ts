/**
 * Rounds of a test that repeats a start and a kill: each takes seconds, and the moments of the first ones differ most.
 * SELVEDGE_ROUNDS=3 makes it three times as many, as before a release.
 */
export const roundsOf = (count: number): number => count * Math.max(1, Number(process.env["SELVEDGE_ROUNDS"] ?? 1));
