import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Search } from "../router.tsx";

/** Whether the form of something new is open: in the address too, so that the palette and links lead to it, and Back closes it. */
export function useAdding(): readonly [boolean, (isAdding: boolean) => void] {
  const [{ add }, go] = useAddress();
  return [add !== undefined, (isAdding) => go({ add: isAdding ? "1" : undefined }, { replace: !isAdding })];
}

/** Filters, tabs and times of a page live in its address, so that they can be linked and survive reload and Back. */
export function useAddress(): readonly [Search, (next: Search, options?: { readonly replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return [
    search,
    (next, { replace = false } = {}) => void navigate({ to: ".", search: ((old: Search) => ({ ...old, ...next })) as never, replace }),
  ];
}
