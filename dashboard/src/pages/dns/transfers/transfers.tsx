import type { Zone } from "#model/zones/zone.ts";
import { PageHead } from "../../../parts/page.tsx";
import { ZoneGate } from "../../start/zone-gate.tsx";
import { Incoming } from "./incoming.tsx";
import { Outgoing } from "./outgoing.tsx";
import { Peers } from "./peers.tsx";

export const TransfersPage = () => <ZoneGate>{(zone) => <Transfers zone={zone} />}</ZoneGate>;

/** Where the zone comes from, or which servers get copies of it. */
const Transfers = ({ zone }: { readonly zone: Zone }) => (
  <>
    <PageHead title="Zone transfers" lead="Copies of the zone between nameservers, by AXFR and IXFR." />
    {zone.type === "secondary" ? <Incoming zone={zone} /> : <Outgoing zone={zone} />}
    <Peers accountId={zone.account.id} />
  </>
);
