import { type Config, ConfigError } from "#app/config/config.ts";
import { listenAdvice, LISTENERS } from "#app/config/listeners.ts";
import { tryListen } from "#app/config/try-listen.ts";
import type { InheritedSockets } from "./inherited-sockets.ts";

/**
 * A process that takes over asks before the one before it closes its API and database: can it listen where it has not
 * inherited a socket? Throws ConfigError otherwise.
 */
export async function requireFreePlaces(config: Config, inherited: Pick<InheritedSockets, "has">): Promise<void> {
  const problems: string[] = [];
  for (const listener of LISTENERS) {
    if (listener.role !== null && !config.roles.includes(listener.role)) continue;
    for (const place of listener.places(config)) {
      if (place.orAny === true || inherited.has(place)) continue;
      const error = await tryListen(place, listener.isUdpToo === true);
      if (error !== null) problems.push(listenAdvice(error, listener, place) ?? error.message);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
