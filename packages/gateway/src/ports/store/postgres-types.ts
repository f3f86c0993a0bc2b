import { types } from 'pg';

/** Times and counts are whole numbers far below 2^53; PostgreSQL's driver gives int8 as text unless it is told. */
const INT8 = 20;

/** How a value of this type is read from the text that the server sends. */
export function parserOf(typeId: number): (text: string) => unknown {
  return typeId === INT8 ? Number : types.getTypeParser(typeId, 'text');
}
