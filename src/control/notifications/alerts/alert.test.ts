import assert from "node:assert/strict";
import { test } from "node:test";
import { alertService, isAlertService } from "#model/events/notification.ts";
import { EVENT_SOURCES } from "#rules/services.ts";
import { spikeAlert } from "./alert.ts";

test("the data of a spike alert has the vendor's names beside ours", () => {
  const { data } = spikeAlert({
    ...{ kind: "security_events", zone: { id: "z1", name: "shop.example" }, service: "Custom Rules" },
    ...{ count: 412, mean: 3.25, startMs: Date.UTC(2026, 0, 2), endMs: Date.UTC(2026, 0, 2, 0, 5) },
  });
  assert.deepEqual(data, {
    ...{ zone_id: "z1", zone_name: "shop.example", service: "Custom Rules", events: 412, usual_events: 3.3 },
    ...{ start: "2026-01-02T00:00:00.000Z", end: "2026-01-02T00:05:00.000Z" },
    ...{ severity: "WARN", zone_tag: "z1", events_count: 412 },
    ...{ alert_start_time: "2026-01-02T00:00:00.000Z", alert_end_time: "2026-01-02T00:05:00.000Z" },
  });
});

test("policies accept every vendor name of a service", () => {
  for (const name of [...Object.keys(EVENT_SOURCES), "firewallManaged", "IPRange", "Data Loss Protection"])
    assert.ok(isAlertService(name), name);
  assert.deepEqual(
    ["firewallrules", "WAF", "dlp", "l7ddos"].map((name) => alertService(name)?.id),
    ["firewallcustom", "firewallmanaged", "dlp", undefined],
  );
  for (const name of ["teapots", "constructor", "toString"]) assert.ok(!isAlertService(name), name);
});
