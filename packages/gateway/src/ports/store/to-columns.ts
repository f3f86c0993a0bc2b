/** One array for each column, as `unnest` takes them. */
export type Columns<Row> = { readonly [Name in keyof Row]: readonly Row[Name][] };

/** All rows must have the fields of the first. */
export function toColumns<Row extends object>(rows: readonly Row[]): Columns<Row> {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])) as object as Columns<Row>;
}
