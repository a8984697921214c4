import "uplot/dist/uPlot.min.css";
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { isoOf, sumOf, type TimeRange } from "../api/time-range.ts";
import css from "./time-chart.module.css";

export interface Series {
  readonly name: string;
  /** A token of tokens.css: `--c1`. */
  readonly colour: string;
  readonly values: readonly number[];
}

export interface TimeChartProps {
  readonly label: string;
  readonly range: TimeRange;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  /** Bars stand on each other; lines do not. */
  readonly kind?: "bars" | "lines";
  /** RFC 3339. A drag chooses a time, and so does a click on one step. */
  readonly onBrush?: (since: string, until: string) => void;
  readonly onPick?: (name: string) => void;
  readonly height?: number;
  /** Said of a chart that has nothing but zeros. */
  readonly empty?: string;
}

const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
/** Seconds between two labels that name a day. */
const DAYS = [1, 2, 5, 10].map((days) => days * 86_400);
/** Of one sign of a label. */
const LABEL_PX = 6.5;
/** A shorter drag is a click. */
const DRAG_PX_MIN = 6;

/** Values over time. The legend has the sums, and what stands under the pointer while it is over the chart. */
export function TimeChart(props: TimeChartProps) {
  const { label, range, series, format, kind = "bars", onBrush, onPick, height = 200, empty = "Nothing in this time" } = props;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [at, setAt] = useState<number | null>(null);
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  useEffect(() => {
    const element = box.current!;
    const plot = createPlot(element, props, height, setAt, (sinceMs, untilMs) => latest.current.onBrush?.(isoOf(sinceMs), isoOf(untilMs)));
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [range.sinceMs, range.untilMs, range.stepMs, series, kind, scheme, height]);
  const from = at === null ? undefined : new Date(range.sinceMs + at * range.stepMs);
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));
  return (
    <figure className={css["figure"]}>
      <div
        ref={box}
        className={css["plot"]}
        style={{ minHeight: height }}
        data-brush={onBrush !== undefined || undefined}
        role="img"
        aria-label={`${label} over time. The legend below has the numbers.`}
      />
      {isEmpty && <p className={css["empty"]}>{empty}</p>}
      <figcaption className={css["legend"]}>
        <span className={css["when"]}>
          {from ? moment.formatRange(from, new Date(from.getTime() + range.stepMs)) : kind === "bars" ? "Total" : "At most"}
        </span>
        {series.map(({ name, colour, values }) => {
          const value = at === null ? (kind === "bars" ? sumOf(values) : Math.max(0, ...values)) : (values[at] ?? 0);
          const entry = (
            <>
              <i style={{ background: `var(${colour})` }} /> {name} <b className="num">{format(value)}</b>
            </>
          );
          return onPick ? (
            <button key={name} type="button" onClick={() => onPick(name)}>
              {entry}
            </button>
          ) : (
            <span key={name}>{entry}</span>
          );
        })}
      </figcaption>
    </figure>
  );
}

function createPlot(
  element: HTMLElement,
  { range, series, format, kind = "bars", onBrush }: TimeChartProps,
  height: number,
  onMove: (at: number | null) => void,
  onChoose: (sinceMs: number, untilMs: number) => void,
): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name);
  const stepSeconds = range.stepMs / 1000;
  const times = Array.from({ length: (range.untilMs - range.sinceMs) / range.stepMs }, (_, i) => range.sinceMs / 1000 + i * stepSeconds);
  // The first series is drawn at the back, so the tallest stack is the first.
  const drawn = kind === "lines" ? series : series.toReversed();
  const data = drawn.map(({ values }, i) =>
    times.map((_, at) => (kind === "lines" ? values[at] : sumOf(drawn.slice(i).map((one) => one.values[at] ?? 0))) || null),
  );
  const axis: uPlot.Axis = {
    stroke: colour("--ink-3"),
    font: `11px ${colour("--font")}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const isLong = range.untilMs - range.sinceMs > 2 * 86_400_000;
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      // Half of the last time of the axis stands to the right of the chart.
      padding: [8, 18, 0, 0],
      cursor: {
        drag: { x: onBrush !== undefined, y: false, setScale: false },
        points: { show: kind === "lines", size: 6 },
        y: false,
      },
      scales: {
        x: { range: () => [range.sinceMs / 1000, range.untilMs / 1000] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 26,
          space: 64,
          ...(isLong ? { incrs: DAYS } : {}),
          values: (_, splits) => splits.map((seconds) => (isLong ? day : hour).format(seconds * 1000)),
        },
        {
          ...axis,
          // Small amounts of money have long labels.
          size: (_, labels) => Math.max(56, ...(labels ?? []).map(({ length }) => length * LABEL_PX + 16)),
          space: 44,
          values: (_, splits) => splits.map((value) => format(value)),
        },
      ],
      series: [
        {},
        ...drawn.map(({ colour: name }): uPlot.Series =>
          kind === "lines"
            ? { stroke: colour(name), width: 1.5, spanGaps: true, points: { show: true, size: 4 } }
            : { fill: colour(name), width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.82, 48], align: 1 }) },
        ),
      ],
      hooks: {
        setCursor: [({ cursor: { left = -1 }, posToVal }) => onMove(left < 0 ? null : stepAt(posToVal(left, "x")))],
        setSelect: [
          ({ select, posToVal, setSelect }) => {
            if (select.width < DRAG_PX_MIN) return;
            const [first, last] = [stepAt(posToVal(select.left, "x")), stepAt(posToVal(select.left + select.width, "x"))];
            setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            onChoose(range.sinceMs + first * range.stepMs, range.sinceMs + (last + 1) * range.stepMs);
          },
        ],
      },
    },
    [times, ...data],
    element,
  );
  function stepAt(seconds: number): number {
    return Math.min(Math.max(Math.floor((seconds - range.sinceMs / 1000) / stepSeconds), 0), times.length - 1);
  }
  let downAt = 0;
  plot.over.addEventListener("mousedown", ({ clientX }) => (downAt = clientX));
  plot.over.addEventListener("mouseup", ({ clientX }) => {
    if (onBrush === undefined || Math.abs(clientX - downAt) >= DRAG_PX_MIN || times.length < 2) return;
    const at = stepAt(plot.posToVal(clientX - plot.over.getBoundingClientRect().left, "x"));
    onChoose(range.sinceMs + at * range.stepMs, range.sinceMs + (at + 1) * range.stepMs);
  });
  return plot;
}
