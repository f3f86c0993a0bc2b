import { StoreRefused, StoreUnavailable } from '../store-error.ts';
import { codeOf, StandbyServer } from './postgres-error.ts';

/** Explains why a PostgreSQL store cannot be opened, and what to do. The message never contains the password. */
export function toOpenError(cause: unknown, databaseUrl: string): unknown {
  const message = refusalOf(cause, new URL(databaseUrl));
  return message === undefined ? cause : new StoreRefused(message, { cause });
}

function refusalOf(error: unknown, url: URL): string | undefined {
  const server = `PostgreSQL at ${url.hostname}:${url.port || 5432}`;
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1)) || user;
  switch (codeOf(error)) {
    case '28P01':
    case '28000':
      return `${server} refuses the user "${user}". Check the user and the password in DATABASE_URL.`;
    case '3D000':
      return `${server} has no database "${database}". Create it (createdb ${database}), or correct DATABASE_URL.`;
    case '42501':
      return `${server} does not let the user "${user}" create tables in "${database}". Run: grant create on schema public to "${user}".`;
    default:
  }
  if (!(error instanceof StoreUnavailable)) return undefined;
  if (error.cause instanceof StandbyServer)
    return `${server} is a standby, which only reads. Promote it, or set DATABASE_URL to the primary.`;
  return `${server} does not answer (${reasonOf(error.cause)}). Start it, or correct DATABASE_URL.`;
}

function reasonOf(cause: unknown): string {
  return codeOf(cause) || (cause instanceof Error ? cause.message : String(cause));
}
