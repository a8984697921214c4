import { addressesOf } from "#app/config/listen-places.ts";
import { createAddressPolicy } from "#kernel/net/address-policy.ts";
import { createNotifySender, type NotifySender } from "#control/transfers/notify-sender.ts";
import { createNotifySocket } from "#control/transfers/notify-socket.ts";
import type { Clock } from "#kernel/clock.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Publisher } from "#snapshot/publisher.ts";
import type { Store } from "#store/database/store.ts";
import type { Config } from "#app/config/config.ts";
import type { Log } from "#app/log/log.ts";

export interface AnnouncementsDeps {
  readonly config: Config;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly operatorPorts: SharedArrayBuffer;
}

/** From now on, notifies other servers of changes in the zones that they transfer. */
export async function startAnnouncements({
  config,
  publisher,
  clock,
  log,
  operatorPorts,
  ...deps
}: AnnouncementsDeps): Promise<NotifySender> {
  const notifier = createNotifySender({
    ...deps,
    socket: createNotifySocket({ hosts: addressesOf(config.dns.host), clock }),
    isAllowed: createAddressPolicy(addressesOf(config.api.host), config.dns.primary_allow, operatorPorts),
    settled: publisher.settled,
    log: (level, message, fields) => log[level](fields, message),
  });
  publisher.onPublished(notifier.published);
  await notifier.start();
  return notifier;
}
