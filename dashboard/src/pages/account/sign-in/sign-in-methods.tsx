import type { Password } from "#model/access/session.ts";
import { useRead } from "../../../api/hooks.ts";
import { PageHead } from "../../../parts/page.tsx";
import { AccountTabs } from "../account-tabs.tsx";
import { OneTimeCodes } from "./one-time-codes.tsx";
import { Passkeys } from "./passkeys.tsx";
import { PasswordCard } from "./password.tsx";

/** How the user signs in; who signs in with a passkey can do without a password. */
export function SignInMethodsPage() {
  const read = useRead<Password>("/user/password");
  const hasPassword = read.data?.result.enabled;
  return (
    <>
      <PageHead title="Account" lead="How you sign in here. API tokens are for programs, and do not change with these." />
      <AccountTabs />
      <Passkeys hasPassword={hasPassword} />
      <PasswordCard read={read} />
      {hasPassword === true && <OneTimeCodes />}
    </>
  );
}
