import type { ReactNode } from "react";
import { Badge } from "../../../parts/page.tsx";
import css from "./route-tree.module.css";
import type { RouteElement } from "./route-templates.ts";

interface TreeProps {
  readonly elements: readonly RouteElement[];
}

/** A route as a tree from its start. An element that several others lead to is drawn once, and named afterwards. */
export function RouteTree({ elements }: TreeProps) {
  const byId = new Map(elements.map((element) => [element.id, element]));
  const drawn = new Set<string>();
  /** A model is where a route ends, unless another follows it. */
  const outputsOf = ({ type, outputs = {} }: RouteElement): readonly (readonly [string, string])[] =>
    Object.entries(outputs).flatMap(([name, { elementId }]) =>
      type === "model" && byId.get(elementId)?.type === "end" ? [] : [[name, elementId] as const],
    );
  const branch = (id: string, label?: string): ReactNode => {
    const element = byId.get(id);
    const isAgain = drawn.has(id);
    drawn.add(id);
    return (
      <li key={`${label} ${id}`}>
        {label !== undefined && <span className={css["label"]}>{LABELS[label] ?? label}</span>}
        {element === undefined ? <Badge tone="bad">{id} is missing</Badge> : <Node element={element} isAgain={isAgain} />}
        {element !== undefined && !isAgain && outputsOf(element).length > 0 && (
          <ul>{outputsOf(element).map(([name, to]) => branch(to, name === "next" ? undefined : name))}</ul>
        )}
      </li>
    );
  };
  const first = elements.find(({ type }) => type === "start");
  return <ul className={css["tree"]}>{first && branch(first.id)}</ul>;
}

const LABELS: Readonly<Record<string, string>> = {
  true: "yes",
  false: "no",
  success: "then",
  fallback: "else",
};

function Node({ element: { id, type, properties = {} }, isAgain }: { readonly element: RouteElement; readonly isAgain: boolean }) {
  if (type === "start" || type === "end") return <Badge>{type === "start" ? "Request" : "End"}</Badge>;
  const text = textOf(type, properties);
  return (
    <span className={css["node"]} data-type={type}>
      <b>{isAgain ? `as above: ${id}` : text.title}</b>
      {!isAgain && text.detail !== "" && <small>{text.detail}</small>}
    </span>
  );
}

type Properties = Readonly<Record<string, unknown>>;

function textOf(type: RouteElement["type"], properties: Properties): { readonly title: string; readonly detail: string } {
  if (type === "model") {
    const { provider, model, retries, timeout } = properties;
    const parts = [
      ...(retries ? [`${String(retries)} ${retries === 1 ? "retry" : "retries"}`] : []),
      ...(timeout ? [`within ${Number(timeout) / 1000} s`] : []),
    ];
    return { title: `${provider}/${model}`, detail: parts.join(", ") };
  }
  if (type === "conditional") return { title: "If", detail: conditionText(properties["conditions"] ?? properties["condition"]) };
  if (type === "percentage") return { title: "Shares", detail: "" };
  const { limit, limitType, window, interval, key } = properties;
  const unit = limitType === "cost" ? `$${limit}` : `${limit} requests`;
  return { title: "Limit", detail: `${unit} in ${window ?? interval} s${key === undefined ? "" : ` for each ${String(key)}`}` };
}

const SIGNS: Readonly<Record<string, string>> = { $eq: "=", $ne: "≠", $gt: ">", $gte: "≥", $lt: "<", $lte: "≤", $contains: "contains" };

/** One comparison as it is read aloud; anything else as JSON. */
function conditionText(condition: unknown): string {
  const [[field, wanted] = [], ...others] = Object.entries((condition ?? {}) as Properties);
  const [[sign, value] = [], ...more] = typeof wanted === "object" && wanted !== null ? Object.entries(wanted) : [["$eq", wanted]];
  const isPlain = others.length === 0 && more.length === 0 && SIGNS[String(sign)] !== undefined && typeof value !== "object";
  return isPlain ? `${String(field)} ${SIGNS[String(sign)]} ${String(value)}` : JSON.stringify(condition);
}
