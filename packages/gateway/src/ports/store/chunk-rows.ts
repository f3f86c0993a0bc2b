/**
 * Rows in as many inserts as they need: a statement has room for so many values, fewer on SQLite (32,766) than on PostgreSQL
 * (65,535), and what a model or a tool can ask for has no bound of its own.
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
