import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeConfig } from "#edge/config.ts";
import type { GatewayConfig } from "#gateway/config.ts";
import type { Config } from "#app/config/config.ts";
import type { PlaneFiles } from "./plane-files.ts";

const GATEWAY_CACHE = "gateway";

/** Threads share nothing on disk, so that none waits for another. */
export const edgeCacheDisk = ({ edge }: Config, files: PlaneFiles, name: string): EdgeConfig["cacheDisk"] =>
  edge.cache_disk_bytes_max === 0
    ? null
    : { directory: join(files.cache, name), bytesMax: Math.floor(edge.cache_disk_bytes_max / edge.workers) };

export const gatewayCacheDisk = ({ gateway }: Config, files: PlaneFiles): Pick<GatewayConfig, "cacheDisk"> =>
  gateway.cache_disk_bytes_max === 0
    ? {}
    : { cacheDisk: { directory: join(files.cache, GATEWAY_CACHE), bytesMax: gateway.cache_disk_bytes_max } };

/** Caches of threads that no longer exist would not count toward any limit. */
export async function removeUnusedCaches(config: Config, files: PlaneFiles): Promise<void> {
  const used = new Set(Array.from({ length: config.edge.cache_disk_bytes_max === 0 ? 0 : config.edge.workers }, (_, i) => `edge-${i + 1}`));
  if (config.gateway.cache_disk_bytes_max > 0) used.add(GATEWAY_CACHE);
  const names = await readdir(files.cache).catch((): string[] => []);
  for (const name of names) if (!used.has(name)) await rm(join(files.cache, name), { recursive: true, force: true });
}
