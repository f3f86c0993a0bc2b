/** Integrity constraint violations: class 23 on PostgreSQL, and the code of SQLite. */
const POSTGRES = /^23\d{3}$/;
const SQLITE_CONSTRAINT = 19;

/** True if the database refused a row because of a constraint, such as a duplicate key or a missing value. */
export function violatesConstraint(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof code === 'string' && POSTGRES.test(code)) return true;
  // Extended codes contain the primary code in their lowest byte.
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_CONSTRAINT;
}
