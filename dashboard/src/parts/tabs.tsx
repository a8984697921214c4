import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import tools from "./tools.module.css";

/** Links to the pages of one subject. On a narrow screen the row scrolls, and the tab of this page is always in view. */
export function Tabs({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const row = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => void row.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" }), [pathname]);
  return (
    <nav ref={row} className={tools["tabs"]} aria-label={label}>
      {children}
    </nav>
  );
}
