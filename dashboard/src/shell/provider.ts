import { useQuery } from "@tanstack/react-query";
import { api, BASE } from "../api/client.ts";
import { browserLabel } from "./session.ts";

interface Ways {
  readonly provider: { readonly name: string } | null;
}

/** The company's provider of sign-in; undefined if there is none. */
export function useProvider(): { readonly name: string; readonly href: string } | undefined {
  const { data } = useQuery({
    queryKey: ["sign_in"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await api<Ways>("GET", "/sign_in", undefined, { isShown: false })).result,
  });
  const query = new URLSearchParams({ label: browserLabel() }).toString();
  return data?.provider ? { name: data.provider.name, href: `${BASE}/sign_in/provider?${query}` } : undefined;
}

const PREFIX = "#sign_in=";
const FAULTS: Readonly<Record<string, string>> = {
  "10462": "The provider has not signed you in. Try again.",
  "10463": "The provider has signed you in, but you are not a member here. Have a member invite your e-mail address.",
  "10464": "The provider cannot be reached. Try again in a moment, or sign in in another way.",
  "10465": "The provider does not confirm your e-mail address, or addresses of its domain may not sign in here.",
  "10466": "This sign-in has ended: it began in another browser or took too long. Start again.",
  "971": "Too many sign-ins. Please wait.",
};

/** The error of a sign-in by the provider, which ends with its code in the address. */
export function providerFault(hash: string): { readonly code: string; readonly text: string } | undefined {
  if (!hash.startsWith(PREFIX)) return undefined;
  const code = hash.slice(PREFIX.length);
  return /^\d{1,6}$/.test(code) ? { code, text: FAULTS[code] ?? "The sign-in has failed." } : undefined;
}

const PLACE_KEY = "selvedge.place";

/** The provider sends the browser back to the first page. */
export const rememberPlace = (): void => sessionStorage.setItem(PLACE_KEY, location.pathname + location.search);

/** Before the first page is shown: back to the page from which the provider was asked. */
export function backToPlace(): void {
  const place = sessionStorage.getItem(PLACE_KEY);
  sessionStorage.removeItem(PLACE_KEY);
  if (place !== null && location.pathname === "/") history.replaceState(null, "", place + location.hash);
}
