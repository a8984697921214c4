import { Button } from "@mantine/core";
import { useState } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { Card, PageHead } from "../../../parts/page.tsx";
import { AccessRuleForm } from "../../account/access-rules/access-rule-form.tsx";
import { AccessRuleList } from "../../account/access-rules/access-rule-list.tsx";
import { ZoneGate } from "../../start/zone-gate.tsx";
import { Agents } from "./agents.tsx";
import { Lockdowns } from "./lockdowns.tsx";

export const VisitorsPage = () => (
  <ZoneGate>
    {(zone) => (
      <>
        <PageHead
          title="Addresses and agents"
          lead="Short rules by address and by program, before your own rules. A rule with an expression can do all of it too."
        />
        <Addresses zone={zone} />
        <Lockdowns zone={zone} />
        <Agents zone={zone} />
      </>
    )}
  </ZoneGate>
);

function Addresses({ zone }: { readonly zone: Zone }) {
  const base = `/zones/${zone.id}/firewall/access_rules/rules`;
  const [isAdding, setAdding] = useState(false);
  return (
    <Card
      title="Addresses"
      aside={
        <Button size="xs" variant="default" onClick={() => setAdding(true)}>
          Add addresses
        </Button>
      }
    >
      <AccessRuleList
        base={base}
        hint={`Admit or stop addresses, networks and countries in ${zone.name}. The account has its own list for all zones.`}
        after="Its visitors meet the rules of the zone like everybody else."
      />
      {isAdding && <AccessRuleForm base={base} where={zone.name} onClose={() => setAdding(false)} />}
    </Card>
  );
}
