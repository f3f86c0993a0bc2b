import type { Tx } from './store.ts';

/** The same insert as two statements: for one row, and for all rows. */
export interface RowsInsert<Row> {
  readonly each: (row: Row, index: number) => void;
  readonly all: (rows: readonly Row[]) => void;
}

/**
 * Inserts several rows: as one statement with arrays on PostgreSQL, where sending a statement costs more than running
 * it, and row by row on SQLite, which has no arrays.
 */
export function sendRows<Row>(tx: Tx, rows: readonly Row[], { each, all }: RowsInsert<Row>): void {
  if (tx.dialect === 'postgres') all(rows);
  else for (const [index, row] of rows.entries()) each(row, index);
}
