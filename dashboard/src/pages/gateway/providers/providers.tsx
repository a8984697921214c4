import { GatewayFrame } from "../gateway.tsx";
import { CustomProviders } from "./custom-providers.tsx";
import { StoredKeys } from "./stored-keys.tsx";

export const ProvidersPage = () => (
  <GatewayFrame>
    {(base, { id }, accountId) => (
      <>
        <StoredKeys base={base} accountId={accountId} />
        <CustomProviders base={`/accounts/${accountId}/ai-gateway/custom-providers`} gateway={id} />
      </>
    )}
  </GatewayFrame>
);
