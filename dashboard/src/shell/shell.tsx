import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { api, signedOut } from "../api/client.ts";
import { forget } from "../api/calls.ts";
import { Icon } from "../parts/icon.tsx";
import { Dialog, Edge } from "../parts/dialogs/modal.tsx";
import { shownName } from "../api/names.ts";
import { Loading } from "../parts/page.tsx";
import { Boot } from "./boot.tsx";
import { Nav } from "./nav.tsx";
import { InvitationForm, invitationSecret } from "./invitation-form.tsx";
import { OutdatedNotice } from "./outdated.tsx";
import { SignInForm } from "./sign-in-form.tsx";
import { SignedOut } from "./signed-out.tsx";
import { forgetSignIn, NOBODY, others, type Session, useSession, wasSignedIn } from "./session.ts";
import { Unreachable } from "./unreachable.tsx";
import css from "./shell.module.css";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));
const ApiCalls = lazy(async () => ({ default: (await import("./api-calls.tsx")).ApiCalls }));

export function Shell() {
  const secret = invitationSecret(location.hash);
  return secret === undefined ? <SignedInOrOut /> : <InvitationForm secret={secret} />;
}

function SignedInOrOut() {
  const session = useSession();
  if (session.data === null) return <SignedOut />;
  if (session.data === undefined && session.errorUpdateCount > 0)
    return <Unreachable error={session.error ?? session.failureReason} onAgain={() => void session.refetch()} />;
  if (session.data === undefined && !wasSignedIn()) return <Boot />;
  return <Signed session={session.data} />;
}

type Open = "navigation" | "palette" | "calls";

/** The whole page and its reads, also before the server has said who is signed in: `session` is undefined until then. */
function Signed({ session }: { readonly session: Session | undefined }) {
  const [open, setOpen] = useState<Open>();
  const { zone } = useParams({ strict: false }) as { zone?: string };
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const navigate = useNavigate();
  const close = (): void => setOpen(undefined);
  const [hasEnded, setEnded] = useState(false);
  const client = useQueryClient();
  const userId = session?.user?.id;
  useEffect(() => {
    const ended = (): void => setEnded(true);
    // Another tab has signed out or in: this page still shows what its user may see.
    const heard = ({ data }: MessageEvent<string>): void => {
      if (data === NOBODY) ended();
      else if (userId !== undefined && data !== userId) location.reload();
      else if (hasEnded) {
        setEnded(false);
        void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
      }
    };
    signedOut.addEventListener("signed-out", ended);
    others.addEventListener("message", heard);
    return () => {
      signedOut.removeEventListener("signed-out", ended);
      others.removeEventListener("message", heard);
    };
  }, [client, userId, hasEnded]);
  useEffect(() => {
    close();
    forget();
  }, [path]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, [contenteditable]") !== null;
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen("palette");
      } else if (!isTyping && event.key === "/" && !event.ctrlKey) {
        const search = document.querySelector<HTMLInputElement>("[data-search] input, input[data-search]");
        if (search) event.preventDefault();
        search?.focus();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const scheme = useScheme();
  const actions = useMemo(
    () => [
      { title: `Use the ${scheme.other} scheme`, run: scheme.turn },
      { title: "Show this page as API calls", run: () => setOpen("calls") },
      { title: "Documentation", run: () => location.assign("/docs") },
      { title: "Sign out", run: () => void signOut() },
    ],
    [scheme.other],
  );
  return (
    <div className={css["shell"]}>
      <a className={css["skip"]} href="#main">
        Skip to the page
      </a>
      <aside className={css["side"]}>
        <Nav zone={zone} />
      </aside>
      <header className={css["head"]}>
        <ActionIcon
          className={css["burger"]}
          variant="subtle"
          color="gray"
          aria-label="Open navigation"
          onClick={() => setOpen("navigation")}
        >
          <Icon name="menu" />
        </ActionIcon>
        {zone !== undefined && (
          <Link to="/zones/$zone" params={{ zone }} className={css["here"]}>
            {shownName(zone)}
          </Link>
        )}
        <button type="button" className={css["find"]} onClick={() => setOpen("palette")}>
          <Icon name="search" size={16} />
          <span>Go to a zone, a page or an action</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span className={css["end"]}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label="Show this page as API calls"
            title="Show this page as API calls"
            onClick={() => setOpen("calls")}
          >
            <Icon name="code" />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Use the ${scheme.other} scheme`}
            title={`Use the ${scheme.other} scheme`}
            onClick={scheme.turn}
          >
            <Icon name="moon" />
          </ActionIcon>
          <button type="button" className={css["user"]} onClick={() => void navigate({ to: "/account/sessions" })}>
            <Icon name="user" size={16} />
            <span>{session && (session.user?.email ?? "API token")}</span>
          </button>
          <button type="button" className={css["out"]} onClick={() => void signOut()}>
            Sign out
          </button>
        </span>
      </header>
      <main className={css["main"]} id="main" tabIndex={-1}>
        <OutdatedNotice />
        <Suspense fallback={<Loading isPage />}>
          <Outlet />
        </Suspense>
      </main>
      {open === "navigation" && (
        <Edge title="Navigation" onClose={close} size={264}>
          <Nav zone={zone} />
        </Edge>
      )}
      {hasEnded && session && (
        <Dialog title="Your session has ended" onClose={() => undefined} isFirm size={420}>
          <SignInForm hasEnded onSignedIn={() => setEnded(false)} />
        </Dialog>
      )}
      <Suspense fallback={null}>
        {open === "palette" && <Palette onClose={close} zone={zone} actions={actions} />}
        {open === "calls" && <ApiCalls onClose={close} />}
      </Suspense>
    </div>
  );
}

function useScheme(): { readonly other: "light" | "dark"; readonly turn: () => void } {
  // Without this the switch of schemes would add a style element, which the policy refuses.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const other = useComputedColorScheme("light", { getInitialValueInEffect: false }) === "dark" ? "light" : "dark";
  return { other, turn: () => setColorScheme(other) };
}

async function signOut(): Promise<void> {
  await api("DELETE", "/user/sessions/current", undefined, { isShown: false }).catch(() => undefined);
  others.postMessage(NOBODY);
  forgetSignIn();
  location.assign("/");
}
