import type { Kysely } from 'kysely';
import type { Tables } from '../../ports/store/schema/tables.ts';
import { isId } from '../entities/column-text.ts';

/** The name of the answerer, for people to read. The names of keys are only for operators. */
export async function nameOfAnswerer(db: Kysely<Tables>, id: string | undefined): Promise<string> {
  if (id === undefined || !isId(id) || id === 'key' || id.startsWith('key:')) return OPERATOR;
  if (id.startsWith('hook:')) return `the hook ${id.slice('hook:'.length)}`;
  const entity = await db.selectFrom('entities').select('display_name').where('id', '=', id).executeTakeFirst();
  return entity?.display_name ?? id;
}

const OPERATOR = 'an operator';
