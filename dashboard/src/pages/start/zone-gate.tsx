import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useZone } from "../../api/hooks.ts";
import { Empty, Failed, Loading } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

/** A page of the zone that the address names, once it is known. */
export function ZoneGate({ children }: { readonly children: (zone: Zone) => ReactNode }) {
  const { zone, name, read } = useZone();
  if (zone) return <>{children(zone)}</>;
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (read.isPending) return <Loading isPage />;
  return (
    <Empty isPage title={`Zone ${name} not found`}>
      <p>It may have been deleted, or belong to an account that you cannot see.</p>
      <Link to="/zones" className={tools["link"]}>
        All zones
      </Link>
    </Empty>
  );
}
