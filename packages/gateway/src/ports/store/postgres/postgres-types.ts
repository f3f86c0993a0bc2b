import { types } from 'pg';

/**
 * Parses int8 as a number. Times and counts are integers far below 2^53, but PostgreSQL's driver returns int8 as text
 * by default.
 */
const INT8 = 20;

/** How a value of this type is read from the text that the server sends. */
export function parserOf(typeId: number): (text: string) => unknown {
  return typeId === INT8 ? Number : types.getTypeParser(typeId, 'text');
}
