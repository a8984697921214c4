import { Button } from "@mantine/core";
import { useAccount } from "../../../api/hooks.ts";
import { useAdding } from "../../../api/search.ts";
import { Icon } from "../../../parts/icon.tsx";
import { Card, PageHead } from "../../../parts/page.tsx";
import { AccountTabs } from "../account-tabs.tsx";
import { AccessRuleForm } from "./access-rule-form.tsx";
import { AccessRuleList } from "./access-rule-list.tsx";

/** Addresses, networks and countries that every zone of the account admits or stops. */
export function AccessRulesPage() {
  const account = useAccount();
  const base = account && `/accounts/${account.id}/firewall/access_rules/rules`;
  const [isAdding, setAdding] = useAdding();
  return (
    <>
      <PageHead title="Account" lead="Addresses, networks and countries that all zones of this account admit or stop, before any rule.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Add addresses
        </Button>
      </PageHead>
      <AccountTabs />
      <Card>
        <AccessRuleList
          base={base}
          hint="Admit your office and your monitoring, or stop a network. Up to 1,000; rules with a list take more."
          after="Its visitors meet the rules of each zone like everybody else."
        />
      </Card>
      {isAdding && base !== undefined && <AccessRuleForm base={base} where="all zones" onClose={() => setAdding(false)} />}
    </>
  );
}
