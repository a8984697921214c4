import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Gateway } from "#model/gateways/gateway.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { Failed, Loading, PageHead } from "../../parts/page.tsx";
import { GatewayTabs } from "./gateway-tabs.tsx";
import { Spend } from "./spend.tsx";

/** The head of a gateway's pages. `children` get its path once account and gateway are known. */
export function GatewayFrame({
  actions,
  children,
}: {
  readonly actions?: ReactNode;
  readonly children: (base: string, gateway: Gateway, accountId: string) => ReactNode;
}) {
  const { gateway: id } = useParams({ strict: false }) as { gateway: string };
  const account = useAccount();
  const base = account && `/accounts/${account.id}/ai-gateway/gateways/${id}`;
  const read = useRead<Gateway>(base);
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  const gateway = read.data?.result;
  return (
    <>
      <PageHead
        title={id}
        lead={gateway && (gateway.authentication ? "Only requests with a token pass." : "Open to everybody who reaches it.")}
      >
        {actions}
      </PageHead>
      <GatewayTabs gateway={id} />
      {gateway && account && base !== undefined ? children(base, gateway, account.id) : <Loading isPage />}
    </>
  );
}

export const GatewayPage = () => (
  <GatewayFrame>{(_base, { id }, accountId) => <Spend scope={{ kind: "accounts", id: accountId }} gateway={id} />}</GatewayFrame>
);
