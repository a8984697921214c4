import { systemCall } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import type { Log } from "#app/log/log.ts";
import type { PlaneReports } from "./planes-deps.ts";

/** Control's reactions to reports of planes, which run in the background. */
export function planeReports({ secondaries, apexAddresses, gateways, tunnels, pageShield }: Control, log: Log): PlaneReports {
  const onFailure =
    (fields: object, message: string) =>
    (error: unknown): void =>
      log.error({ err: error, ...fields }, message);
  return {
    onNotified: (zoneId, from) =>
      void secondaries.notified(zoneId, from).catch(onFailure({ zone_id: zoneId }, "checking a zone after a NOTIFY failed")),
    // Servers that transfer a flattened zone learn of new addresses at its apex through its serial.
    onReaddressed: (zoneId, addresses) =>
      void apexAddresses
        .changed(systemCall("flattening"), zoneId, addresses)
        .catch(onFailure({ zone_id: zoneId }, "raising a zone's serial after its apex addresses changed failed")),
    onDefaultGateway: (accountId, atMs) =>
      void gateways
        .ensureDefault(systemCall("gateway"), accountId, atMs)
        .catch(onFailure({ account_id: accountId }, "creating an account's default gateway failed")),
    onTunnels: (thread, links) =>
      void tunnels.report(thread, links).catch(onFailure({ plane: thread }, "storing the state of tunnels failed")),
    onSightings: (sightings) => void pageShield.note(sightings).catch(onFailure({}, "storing what pages load failed")),
  };
}
