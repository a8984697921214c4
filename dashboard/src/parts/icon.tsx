const PATHS = {
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4ZM12.700 12.700 17 17",
  menu: "M3 6h14M3 10h14M3 14h14",
  moon: "M16 11.500A6.500 6.500 0 0 1 8.500 4a6.500 6.500 0 1 0 7.500 7.500Z",
  plus: "M10 4.500v11M4.500 10h11",
  close: "M6 6l8 8M14 6l-8 8",
  edge: "M6 14.500h8.500a3 3 0 0 0 .4-6 4.500 4.500 0 0 0-8.600-.8A3.500 3.500 0 0 0 6 14.500Z",
  check: "M4.500 10.500l3.500 3.500 7.500-8",
  alert: "M10 3.500 17.500 16h-15L10 3.500ZM10 8.500v3.200M10 13.900v.1",
  code: "M7 6 3 10l4 4M13 6l4 4-4 4",
  user: "M10 10.500a3.200 3.200 0 1 0 0-6.400 3.200 3.200 0 0 0 0 6.400ZM4 16.500a6 6 0 0 1 12 0",
  copy: "M7.500 7.500h8v8h-8zM4.500 12.500v-8h8",
  home: "M3.500 9.500 10 4l6.500 5.500M5.500 8.500V16h9V8.500",
  globe:
    "M10 3.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13ZM3.500 10h13M10 3.500c2 2 2.700 4 2.700 6.500s-.7 4.500-2.700 6.500c-2-2-2.700-4-2.700-6.500S8 5.500 10 3.500Z",
  spark: "M10 3.500l1.600 4.900 4.900 1.600-4.900 1.600L10 16.500l-1.600-4.900L3.500 10l4.900-1.600z",
  clock: "M10 3.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13ZM10 6.500V10l2.500 1.700",
  key: "M12.500 3.500a4 4 0 1 1-3.400 6.100L3.500 15v1.500h3v-2h2v-2h1.600",
  up: "M10 15.500v-11M5.500 9 10 4.500 14.500 9",
  down: "M10 4.500v11M5.500 11l4.500 4.500 4.500-4.500",
  right: "M7.500 5l5 5-5 5",
  trash: "M4.500 6h11M8 6V4.500h4V6M6 6l.6 9.500h6.800L14 6",
  edit: "M4.500 15.500l.7-3 7.600-7.600 2.300 2.300-7.600 7.600z",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
);
