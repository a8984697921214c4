import type { DatabaseSync } from "node:sqlite";
import { inNetwork } from "#events/sql/in-network.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { columnsOf } from "#events/rows/schema.ts";
import {
  type Condition,
  type ConditionOperator,
  facetIds,
  facetsByColumn,
  isCondition,
  type Where,
  type WherePart,
} from "#events/sql/where-sql.ts";
import type { Block } from "./block.ts";
import { likeTest } from "./like.ts";

/** Whether all rows of a block match, none, or those for which the function is true. */
export type RowTest = boolean | ((row: number) => boolean);
export type BlockTest = (block: Block) => RowTest;

/** Conditions as in SQL: null matches none. Facets are looked up once, so the test is valid within one transaction. */
export function blockTest(db: DatabaseSync, table: EventTable, where: Where): BlockTest {
  return all(where.map((part) => partTest(db, table, part)));
}

function partTest(db: DatabaseSync, table: EventTable, part: WherePart): BlockTest {
  if (isCondition(part)) return conditionTest(db, table, part);
  if ("any" in part) return any(part.any.map((where) => blockTest(db, table, where)));
  return any(part.map((condition) => conditionTest(db, table, condition)));
}

const all =
  (tests: readonly BlockTest[]): BlockTest =>
  (block) => {
    const open: ((row: number) => boolean)[] = [];
    for (const test of tests) {
      const rows = test(block);
      if (rows === false) return false;
      if (rows !== true) open.push(rows);
    }
    if (open.length < 2) return open[0] ?? true;
    return (row) => open.every((rows) => rows(row));
  };

const any =
  (tests: readonly BlockTest[]): BlockTest =>
  (block) => {
    const open: ((row: number) => boolean)[] = [];
    for (const test of tests) {
      const rows = test(block);
      if (rows === true) return true;
      if (rows !== false) open.push(rows);
    }
    return open.length === 0 ? false : (row) => open.some((rows) => rows(row));
  };

function conditionTest(db: DatabaseSync, table: EventTable, condition: Condition): BlockTest {
  const facet = facetsByColumn(table).get(condition.column);
  if (facet !== undefined) return facetTest(facet, new Set(facetIds(db, facet, [condition])));
  const column = columnsOf(table).find(({ name }) => name === condition.column);
  if (column === undefined) throw new Error(`${table} has no ${condition.column}`);
  return column.sql === "TEXT" ? textTest(condition) : numberTest(condition, column.sql === "REAL", column.nullable);
}

const facetTest =
  (facet: string, wanted: ReadonlySet<number>): BlockTest =>
  (block) => {
    const { ids, codes } = block.facet(facet);
    const fits = Array.from(ids, (id) => wanted.has(id));
    if (fits.every(Boolean)) return true;
    if (codes === null || !fits.some(Boolean)) return false;
    return (row) => fits[codes[row]!]!;
  };

type Values = readonly (string | number | boolean)[];
const valuesOf = ({ value }: Condition): Values => (Array.isArray(value) ? value : [value]) as Values;

function textTest(condition: Condition): BlockTest {
  const { column, operator } = condition;
  const fits = TEXT_TESTS[operator](valuesOf(condition).map(String));
  return (block) => {
    if (!block.has(column)) return fits("");
    const texts = block.texts(column);
    return (row) => fits(texts.at(row));
  };
}

type Tests<V> = Readonly<Record<ConditionOperator, (values: readonly V[]) => (value: V) => boolean>>;

const TEXT_TESTS: Tests<string> = {
  eq:
    ([given]) =>
    (text) =>
      text === given,
  ne:
    ([given]) =>
    (text) =>
      text !== given,
  lt:
    ([given = ""]) =>
    (text) =>
      compareTexts(text, given) < 0,
  le:
    ([given = ""]) =>
    (text) =>
      compareTexts(text, given) <= 0,
  gt:
    ([given = ""]) =>
    (text) =>
      compareTexts(text, given) > 0,
  ge:
    ([given = ""]) =>
    (text) =>
      compareTexts(text, given) >= 0,
  in: (given) => (text) => given.includes(text),
  not_in: (given) => (text) => !given.includes(text),
  has:
    ([given = ""]) =>
    (text) =>
      text.includes(given),
  like: ([given = ""]) => likeTest(given),
  not_like: ([given = ""]) => {
    const isLike = likeTest(given);
    return (text) => !isLike(text);
  },
  within:
    ([given]) =>
    (text) =>
      inNetwork(text, given) === 1,
};

/** By code points, as the database compares bytes of UTF-8. */
const compareTexts = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function numberTest(condition: Condition, isReal: boolean, isNullable: boolean): BlockTest {
  const { column, operator } = condition;
  // Null does not match an empty list either.
  if (operator === "not_in" && valuesOf(condition).length === 0) return () => true;
  const fits = numberFits(operator, valuesOf(condition), isReal);
  return (block) => {
    if (!block.has(column)) return isNullable ? false : fits(0);
    const numbers = block.numbers(column);
    return (row) => {
      const number = numbers[row]!;
      return !Number.isNaN(number) && fits(number);
    };
  };
}

function numberFits(operator: ConditionOperator, values: Values, isReal: boolean): (number: number) => boolean {
  const compare = NUMBER_TESTS[operator];
  if (compare !== undefined) return compare(values.map(numberOf));
  const fits = TEXT_TESTS[operator](values.map(String));
  return (number) => fits(isReal && Number.isInteger(number) ? `${number}.0` : String(number));
}

/** A text that is not numeric is greater than every number. */
const numberOf = (value: string | number | boolean): number => {
  if (typeof value !== "string") return Number(value);
  const number = value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : Infinity;
};

const NUMBER_TESTS: Partial<Tests<number>> = {
  eq:
    ([given]) =>
    (number) =>
      number === given,
  ne:
    ([given]) =>
    (number) =>
      number !== given,
  lt:
    ([given = 0]) =>
    (number) =>
      number < given,
  le:
    ([given = 0]) =>
    (number) =>
      number <= given,
  gt:
    ([given = 0]) =>
    (number) =>
      number > given,
  ge:
    ([given = 0]) =>
    (number) =>
      number >= given,
  in: (given) => (number) => given.includes(number),
  not_in: (given) => (number) => !given.includes(number),
};
