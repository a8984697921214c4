import { ActionIcon, Switch } from "@mantine/core";
import { type DragEvent, useState } from "react";
import type { Rule } from "#model/rulesets/ruleset.ts";
import { Icon } from "../../parts/icon.tsx";
import { Badge } from "../../parts/page.tsx";
import { TONES } from "./events.tsx";
import css from "./rules.module.css";

interface ListProps {
  readonly rules: readonly Rule[];
  readonly onEdit: (rule: Rule) => void;
  /** `place` counts from 1. */
  readonly onMove: (rule: Rule, place: number) => void;
  readonly onSwitch: (rule: Rule, isOn: boolean) => void;
  readonly onRemove: (rule: Rule) => void;
}

interface Drag {
  readonly from: number;
  readonly over: number;
}

/** Not `disabled`, which would take the focus from a button that has just moved its rule to the end. */
const unless = (isAtEnd: boolean, move: () => void) => (isAtEnd ? { "aria-disabled": true } : { onClick: move });

/** The rules of a phase in their order, which dragging, the buttons, and Alt with an arrow key change. */
export function RuleList({ rules, onEdit, onMove, onSwitch, onRemove }: ListProps) {
  const [drag, setDrag] = useState<Drag>();
  const grab = (event: DragEvent<HTMLElement>, from: number): void => {
    event.dataTransfer.effectAllowed = "move";
    // Firefox begins no drag without data.
    event.dataTransfer.setData("text/plain", rules[from]?.id ?? "");
    const row = event.currentTarget.closest("li");
    if (row !== null) event.dataTransfer.setDragImage(row, 12, 12);
    setDrag({ from, over: from });
  };
  const hover = (event: DragEvent, over: number): void => {
    if (drag === undefined) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    if (drag.over !== over) setDrag({ ...drag, over });
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    const rule = drag === undefined ? undefined : rules[drag.from];
    if (drag !== undefined && rule !== undefined && drag.over !== drag.from) onMove(rule, drag.over + 1);
    setDrag(undefined);
  };
  return (
    <ol className={css["rules"]}>
      {rules.map((rule, at) => (
        <li
          key={rule.id}
          data-off={!rule.enabled || undefined}
          data-drop={drag === undefined || drag.over !== at || drag.from === at ? undefined : at < drag.from ? "above" : "below"}
          onDragOver={(event) => hover(event, at)}
          onDrop={drop}
          onKeyDown={(event) => {
            const to = { ArrowUp: at, ArrowDown: at + 2 }[event.key];
            if (!event.altKey || to === undefined || to < 1 || to > rules.length) return;
            event.preventDefault();
            onMove(rule, to);
          }}
        >
          <span
            className={css["number"]}
            title="Drag to change the order"
            draggable
            onDragStart={(event) => grab(event, at)}
            onDragEnd={() => setDrag(undefined)}
          >
            {at + 1}
          </span>
          <div className={css["what"]}>
            <button type="button" onClick={() => onEdit(rule)}>
              {rule.description || "A rule without a name"}
            </button>
            <code>{rule.expression}</code>
          </div>
          <Badge tone={TONES[rule.action] ?? "accent"}>{rule.action.replaceAll("_", " ")}</Badge>
          <Switch
            aria-label={`${rule.description || `Rule ${at + 1}`} runs`}
            checked={rule.enabled}
            onChange={({ currentTarget }) => onSwitch(rule, currentTarget.checked)}
          />
          <span className={css["acts"]}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Move rule ${at + 1} up`}
              title="Alt ↑"
              {...unless(at === 0, () => onMove(rule, at))}
            >
              <Icon name="up" size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Move rule ${at + 1} down`}
              title="Alt ↓"
              {...unless(at === rules.length - 1, () => onMove(rule, at + 2))}
            >
              <Icon name="down" size={16} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="gray" aria-label={`Delete rule ${at + 1}`} onClick={() => onRemove(rule)}>
              <Icon name="trash" size={16} />
            </ActionIcon>
          </span>
        </li>
      ))}
    </ol>
  );
}
