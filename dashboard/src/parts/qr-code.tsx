import { encode } from "uqr";
import css from "./qr-code.module.css";

/** Modules of quiet zone around the code (ISO/IEC 18004 §9.1 asks for four). */
const BORDER = 4;

/** Dark on light in both colour schemes, since not every reader takes the inverse. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { border: BORDER, ecc: "M" });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <svg className={css["code"]} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} fill="#000" />
    </svg>
  );
}
