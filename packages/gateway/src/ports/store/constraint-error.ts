/** Integrity constraint violations: class 23 of PostgreSQL, and what SQLite says. */
const POSTGRES = /^23\d{3}$/;
const SQLITE_CONSTRAINT = 19;

/** Whether the database refused a row because of a constraint: a key that is taken, a value that must not be missing. */
export function violatesConstraint(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof code === 'string' && POSTGRES.test(code)) return true;
  // Extended codes keep the primary one in their lowest byte.
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_CONSTRAINT;
}
