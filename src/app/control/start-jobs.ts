import type { Clock } from "#kernel/clock.ts";
import { newUlid } from "#kernel/crypto/ids.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Control } from "#control/control.ts";
import { type JobLeases, openJobLeases } from "#control/nodes/job-leases.ts";
import { deprecationTable } from "#deprecations/later-rows.ts";
import { alertDeprecations } from "#jobs/alert-deprecations.ts";
import { backUp, type ScheduledBackups } from "#jobs/back-up.ts";
import { checkCustomHostnames } from "#jobs/check-custom-hostnames.ts";
import { checkOwnership } from "#jobs/check-ownership.ts";
import { forgetEnded } from "#jobs/forget-ended.ts";
import { type Job, startJobs } from "#jobs/job.ts";
import { orderCertificates, workOnCertificateOrders } from "#jobs/order-certificates.ts";
import { pushLogs } from "#jobs/push-logs.ts";
import { refreshSecondaries } from "#jobs/refresh-secondaries.ts";
import { removeAbandonedImports } from "#jobs/remove-abandoned-imports.ts";
import { removeLeftovers } from "#jobs/remove-leftovers.ts";
import { renewCertificates } from "#jobs/renew-certificates.ts";
import { sealWebhooks } from "#jobs/seal-webhooks.ts";
import { sendNotifications } from "#jobs/send-notifications.ts";
import { watchDnssec } from "#jobs/watch-dnssec.ts";
import { fetchPageScripts, tellPageNews } from "#jobs/watch-pages.ts";
import { watchSecurityEvents } from "#jobs/watch-security-events.ts";
import type { Store } from "#store/database/store.ts";
import type { LiveConfig } from "#app/config/live-config.ts";
import { type Log, logOf } from "#app/log/log.ts";
import type { Closing } from "#app/operations/disposables.ts";

export interface ControlJobsDeps {
  readonly control: Control;
  readonly live: LiveConfig;
  readonly backups: ScheduledBackups;
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly log: Log;
  /** Distinguishes this machine from others on the same database. */
  readonly nodeId: string;
}

/** Jobs that run by the clock. */
export async function startControlJobs(deps: ControlJobsDeps, closing: Closing): Promise<void> {
  const { control, live, backups, metrics } = deps;
  const log = logOf(deps.log, "jobs");
  const own = startJobs(ownDuties(control, backups), { log, metrics });
  closing.add(() => own.stop());
  const shared = sharedDuties(control, live);
  const turns = await leasesOf(
    deps,
    shared.map(({ name }) => name),
  );
  if (turns !== undefined) closing.add(() => turns.close());
  const jobs = startJobs(shared, { log, metrics, turns });
  closing.add(() => jobs.stop());
}

/** Undefined for a file as the database, which has one process. */
async function leasesOf({ store, clock, log, nodeId }: ControlJobsDeps, jobs: readonly string[]): Promise<JobLeases | undefined> {
  if (store.dialect === "sqlite") return undefined;
  return openJobLeases({
    ...{ store, clock, jobs, holder: `${nodeId}/${newUlid(clock.nowMs())}` },
    failed: (error) => log.warn({ reason: String(error) }, "taking the leases of jobs failed; trying again"),
  });
}

/** Jobs of each process, with what is on its own disk. */
const ownDuties = (control: Control, backups: ScheduledBackups): readonly Job[] => [
  removeAbandonedImports(control.zoneFiles),
  watchSecurityEvents(control.notifications.watch),
  pushLogs(control.logpush.pusher),
  forgetEnded("image-files", { forget: control.imageSweep.removeFiles }),
  backUp(backups),
];

/** Jobs that one process of those on a database runs at a time. */
const sharedDuties = (control: Control, live: LiveConfig): readonly Job[] => [
  renewCertificates(control),
  workOnCertificateOrders(control),
  orderCertificates(control),
  watchDnssec(control.dnssecWatch),
  checkOwnership(control.ownership, control.zoneSettling),
  refreshSecondaries(control.secondaries),
  checkCustomHostnames(control.hostnameChecks),
  removeLeftovers(control.removals),
  forgetEnded("image-drafts", control.imageSweep),
  sendNotifications(control.notifications.deliveries),
  sealWebhooks(control.notifications.webhooks),
  forgetEnded("calls", control.recordedCalls, control.deprecationCalls),
  forgetEnded("deleted-zones", control.removals),
  forgetEnded("invitations", control.invitations),
  forgetEnded("page-resources", control.pageShield),
  fetchPageScripts(control.pageShield),
  tellPageNews(control.pageShield),
  forgetEnded("audit-log", control.access.auditLogs),
  alertDeprecations(control.deprecationNotices, deprecationTable(live.current().deprecations.later_rows), {
    get asOf() {
      return live.current().deprecations.as_of || null;
    },
  }),
];
