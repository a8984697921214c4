import type { CheckReport } from "#control/secondary/outcomes.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Log } from "#app/log/log.ts";

/** Logs and counts the results of checks of secondary zones. */
export function createSecondaryReports(log: Log, metrics: MetricRegistry): (report: CheckReport) => void {
  const counted = (result: CheckReport["result"]) =>
    metrics.counter("selvedge_dns_secondary_checks_total", "Checks of secondary zones with their primaries", { result });
  return (report) => {
    counted(report.result).value += 1;
    if (report.result === "transferred") log.info(report, "transferred a zone from its primary");
    else if (report.result === "expired")
      log.error(report, "a secondary zone expired; the nameserver does not serve it until a primary confirms it");
    else if (report.result === "failed") log.warn(report, "checking a secondary zone with its primaries failed");
  };
}
