/*
 * A list continues after a text, such as an id or a path. Any text could be one, because callers choose ids. So the cursors of clients have a
 * mark: without it, a wrong cursor would be answered with an empty page, or with the first one again.
 */

const MARK = 'c.';

/** What clients get as `next`. */
export function toCursor(text: string): string {
  return `${MARK}${Buffer.from(text).toString('base64url')}`;
}

/** The text that a cursor was made of, or undefined if the gateway did not make it. */
export function fromCursor(cursor: string): string | undefined {
  // An id that the gateway made is a position too: the studio asks for the run before one, and an older gateway sent such cursors.
  if (NEW_ID.test(cursor)) return cursor;
  const text = Buffer.from(cursor.slice(MARK.length), 'base64url').toString();
  return cursor === toCursor(text) ? text : undefined;
}

/** The form of `newId`. */
const NEW_ID = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
