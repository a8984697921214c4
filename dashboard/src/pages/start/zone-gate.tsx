import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useZone } from "../../api/hooks.ts";
import { Empty, Failed, Loading } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

interface GateProps {
  readonly children: (zone: Zone) => ReactNode;
}

/** A zone's identifier, as in the addresses of the API; no name of a zone is like it, since names have a dot. */
const ID = /^[0-9a-f]{32}$/i;

/** A page of the zone that the address names, once it is known. */
export function ZoneGate({ children }: GateProps) {
  const { zone = "" } = useParams({ strict: false }) as { zone?: string };
  return ID.test(zone) ? <ZoneById id={zone.toLowerCase()} /> : <ZoneByName>{children}</ZoneByName>;
}

/** Leads to the same page under the zone's name. */
function ZoneById({ id }: { readonly id: string }) {
  const read = useRead<Zone>(`/zones/${id}`);
  const navigate = useNavigate();
  const name = read.data?.result.name;
  useEffect(() => {
    if (name !== undefined) void navigate({ to: ".", params: { zone: name } as never, search: true as never, replace: true });
  }, [name, navigate]);
  return read.error ? <Failed isPage error={read.error} onAgain={() => void read.refetch()} /> : <Loading isPage />;
}

function ZoneByName({ children }: GateProps) {
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
