import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { Invitation } from "#model/access/invitation.ts";
import { api, ApiError } from "../api/client.ts";
import { Fault, Loading, Notice } from "../parts/page.tsx";
import { basicCredentials, browserLabel } from "./session.ts";
import css from "./signed-out.module.css";

const PREFIX = "#invitation=";

/** The secret of an invitation's link; undefined at any other address. */
export const invitationSecret = (hash: string): string | undefined => (hash.startsWith(PREFIX) ? hash.slice(PREFIX.length) : undefined);

/** Where the link of an invitation leads: the invited person chooses a password, or declines. */
export function InvitationForm({ secret }: { readonly secret: string }) {
  const credential = { headers: { authorization: `Invitation ${secret}` }, isShown: false };
  const invitation = useQuery({
    queryKey: ["invitation", secret],
    retry: false,
    queryFn: async () => (await api<Invitation>("GET", "/invites/current", undefined, credential)).result,
  });
  const accept = useMutation({
    mutationFn: async ({ email, ...body }: { email: string; password: string; first_name: string; last_name: string }) => {
      await api("POST", "/invites/current/accept", body, credential);
      const authorization = basicCredentials(email, body.password);
      await api("POST", "/user/sessions", { label: browserLabel() }, { headers: { authorization }, isShown: false });
    },
    onSuccess: () => location.replace("/"),
  });
  const decline = useMutation({
    mutationFn: () => api("POST", "/invites/current/decline", undefined, credential),
    onSuccess: () => location.replace("/"),
  });
  const fault = invitation.error ?? accept.error ?? decline.error;
  const passwordFault = accept.error instanceof ApiError ? accept.error.byField()["password"]?.message : undefined;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const field = (name: string): string => String(new FormData(event.currentTarget).get(name) ?? "");
    accept.mutate({
      email: invitation.data?.email ?? "",
      password: field("password"),
      first_name: field("first_name").trim(),
      last_name: field("last_name").trim(),
    });
  };
  return (
    <main className={css["page"]}>
      <div className={css["card"]}>
        <p className="wordmark">Selvedge</p>
        {fault && passwordFault === undefined && (
          <Notice tone="bad">
            <Fault error={fault} />
          </Notice>
        )}
        {invitation.error && (
          <a className={css["other"]} href="/">
            Go to the dashboard
          </a>
        )}
        {invitation.isPending && <Loading />}
        {invitation.data && (
          <form className={css["form"]} onSubmit={submit}>
            <div>
              <h1>Join {invitation.data.account.name}</h1>
              <p className={css["lead"]}>
                {invitation.data.invited_by} invites {invitation.data.email} as {invitation.data.roles.join(", ")}.
              </p>
            </div>
            <TextInput label="First name" name="first_name" autoComplete="given-name" maxLength={60} />
            <TextInput label="Last name" name="last_name" autoComplete="family-name" maxLength={60} />
            <PasswordInput
              label="Password"
              description="At least 12 characters. A few words in a row are easier to remember."
              name="password"
              autoComplete="new-password"
              minLength={12}
              required
              error={passwordFault}
            />
            <Button type="submit" size="sm" loading={accept.isPending} loaderProps={{ type: "dots" }}>
              Accept
            </Button>
            <button type="button" className={css["other"]} onClick={() => decline.mutate()}>
              Decline
            </button>
          </form>
        )}
      </div>
    </main>
  );
}
