import { useEffect, useState } from "react";

const REST_MS = 150;

/** The text of a search field: it is drawn at once, and asked for when the typing rests. */
export function useTyped(asked: string | undefined, ask: (text: string | undefined) => void): readonly [string, (text: string) => void] {
  const [typed, setTyped] = useState(asked ?? "");
  // Back, or a chip's cross, changes what is asked for.
  useEffect(() => void setTyped((old) => (old.trim() === (asked ?? "") ? old : (asked ?? ""))), [asked]);
  useEffect(() => {
    const timer = setTimeout(() => typed.trim() !== (asked ?? "") && ask(typed.trim() || undefined), REST_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped];
}
