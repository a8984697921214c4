import { rm } from "node:fs/promises";

/** Removes a directory into which something may still write that ends only afterwards: hooks run in the order of their making. */
export const removeDirectory = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 20 });
