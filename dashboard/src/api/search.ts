import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Search } from "../router.tsx";

/** Filters, tabs and times of a page live in its address, so that they can be linked and survive reload and Back. */
export function useAddress(): readonly [Search, (next: Search, options?: { readonly replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return [
    search,
    (next, { replace = false } = {}) => void navigate({ to: ".", search: ((old: Search) => ({ ...old, ...next })) as never, replace }),
  ];
}
