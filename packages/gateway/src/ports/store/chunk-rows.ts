/**
 * Splits rows into as many inserts as needed. The number of values in a statement is limited (32,766 on SQLite, 65,535
 * on PostgreSQL), and the number of rows that a model or a tool can cause is not.
 */
export function chunkRows<Row extends object>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const columns = Math.max(1, Object.keys(rows[0] ?? {}).length);
  const most = Math.floor(MOST_VALUES / columns);
  if (rows.length <= most) return rows.length === 0 ? [] : [rows];
  const parts: Row[][] = [];
  for (let at = 0; at < rows.length; at += most) parts.push(rows.slice(at, at + most));
  return parts;
}

const MOST_VALUES = 30_000;
