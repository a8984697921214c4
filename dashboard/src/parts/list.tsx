import type { ReactNode } from "react";
import css from "./list.module.css";

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** Of the grid: `1fr`, `80px`. */
  readonly width: string;
  /** Left out on a phone. */
  readonly isMinor?: boolean;
  readonly isFigure?: boolean;
}

interface ListProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T, index: number) => string;
}

/** A table of less than some hundred rows; longer ones are virtual. */
export const List = <T,>({ label, columns, rows, keyOf }: ListProps<T>) => (
  <div className={css["box"]} tabIndex={0} role="region" aria-label={label}>
    <table className={css["table"]} aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ head, isMinor, isFigure, width }) => (
            <th key={head} scope="col" data-minor={isMinor} data-figure={isFigure} style={{ width }}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)}>
            {columns.map(({ head, cell, isMinor, isFigure }) => (
              <td key={head} data-minor={isMinor} data-figure={isFigure}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
