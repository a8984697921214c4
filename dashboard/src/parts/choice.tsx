import { type ReactNode, useId } from "react";
import css from "./choice.module.css";

interface ChoiceProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly options: readonly (readonly [V, string])[];
  readonly onChange: (value: V) => void;
  /** Beside the control instead of above it, for those who hear it alone. */
  readonly isQuiet?: boolean;
  readonly description?: ReactNode;
  /** The option with an empty value is not a choice. */
  readonly isRequired?: boolean;
  /** Takes the focus when it appears. */
  readonly isFocused?: boolean;
}

/** The browser's own list: it works by keyboard and on a phone, and injects nothing. */
export function Choice<V extends string>({
  label,
  value,
  options,
  onChange,
  isQuiet = false,
  description,
  isRequired = false,
  isFocused = false,
}: ChoiceProps<V>) {
  const id = useId();
  return (
    <div className={css["choice"]} data-quiet={isQuiet}>
      <label htmlFor={id} className={isQuiet ? "unseen" : "field-label"}>
        {label}
      </label>
      {description !== undefined && <p>{description}</p>}
      <select
        id={id}
        value={value}
        required={isRequired}
        autoFocus={isFocused}
        onChange={({ currentTarget }) => onChange(currentTarget.value as V)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
