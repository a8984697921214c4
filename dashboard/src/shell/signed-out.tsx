import { useQuery } from "@tanstack/react-query";
import { api } from "../api/client.ts";
import { Boot } from "./boot.tsx";
import { SetUpForm } from "./set-up-form.tsx";
import { AGAIN_MS } from "./session.ts";
import { SignInForm } from "./sign-in-form.tsx";
import { Unreachable } from "./unreachable.tsx";
import css from "./signed-out.module.css";

/** The first page of all: set-up where nobody has a password yet, sign-in otherwise. */
export function SignedOut() {
  const setup = useQuery({
    queryKey: ["setup"],
    refetchInterval: ({ state }) => state.status === "error" && AGAIN_MS,
    queryFn: async () => (await api<{ open: boolean }>("GET", "/setup", undefined, { isShown: false })).result,
  });
  if (setup.isError) return <Unreachable error={setup.error} onAgain={() => void setup.refetch()} />;
  if (setup.isPending) return <Boot />;
  return (
    <main className={css["page"]}>
      <div className={css["card"]}>
        <p className="wordmark">Selvedge</p>
        {setup.data?.open ? <SetUpForm /> : <SignInForm />}
      </div>
    </main>
  );
}
