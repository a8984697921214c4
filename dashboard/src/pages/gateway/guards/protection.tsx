import { GatewayFrame } from "../gateway.tsx";
import { DataPolicies } from "./data-policies.tsx";
import { GuardHits } from "./guard-hits.tsx";
import { Hazards } from "./hazards.tsx";

export const ProtectionPage = () => (
  <GatewayFrame>
    {(base, gateway, accountId) => (
      <>
        <DataPolicies base={base} gateway={gateway} accountId={accountId} />
        <Hazards base={base} gateway={gateway} />
        <GuardHits base={base} gateway={gateway.id} />
      </>
    )}
  </GatewayFrame>
);
