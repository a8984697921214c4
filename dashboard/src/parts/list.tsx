import type { ReactNode } from "react";
import { number } from "./time.tsx";
import css from "./list.module.css";
import tools from "./tools.module.css";

export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** Of the grid: `1fr`, `80px`. */
  readonly width: string;
  /** Left out on a phone. */
  readonly isMinor?: boolean;
  readonly isFigure?: boolean;
  /** One line, cut where it ends. */
  readonly isLine?: boolean;
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
    {/* A phone shows each row as a block, which takes the table's roles away unless they are named. */}
    <table className={css["table"]} aria-label={label} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, isMinor, isFigure, width }) => (
            <th key={head} scope="col" role="columnheader" data-minor={isMinor} data-figure={isFigure} style={{ width }}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => (
          <tr role="row" key={keyOf(row, index)}>
            {columns.map(({ head, cell, isMinor, isFigure, isLine, width }) => (
              <td
                key={head}
                role="cell"
                data-minor={isMinor}
                data-figure={isFigure}
                data-line={isLine}
                data-head={head}
                data-wide={!width.endsWith("px") || undefined}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** Beside a list that follows a stream: the rows that arrived too fast for it. */
export const LeftOut = ({ count, of }: { readonly count: number; readonly of: string }) =>
  count > 0 && <span className={tools["quiet"]}>{number(count, of)} arrived too fast to be shown. A filter shows fewer.</span>;
