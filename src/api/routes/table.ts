import type { Route } from "#api/route.ts";

/** Every route, in the order in which the reference lists them. */
export const ROUTES: readonly Route[] = [];
