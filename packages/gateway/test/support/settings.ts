import { type Params, type Statement, statement } from '../../src/ports/store/statement.ts';

/** The smallest table, for tests of the store itself. */
interface Setting {
  readonly key: string;
  readonly value: string;
}

export const insertSetting: Statement<Setting, unknown> = statement((db, { key, value }: Params<Setting>) =>
  db.insertInto('settings').values({ key, value }),
);
