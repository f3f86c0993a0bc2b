import { StoreRefused, StoreUnavailable } from '../store-error.ts';
import { codeOf, isCrowded, StandbyServer } from './postgres-error.ts';

/** Explains why a PostgreSQL store cannot be opened, and what to do. The message never contains the password. */
export function toOpenError(
  cause: unknown,
  databaseUrl: string,
  variable: 'DATABASE_URL' | 'DATABASE_DIRECT_URL' = 'DATABASE_URL',
): unknown {
  const url = new URL(databaseUrl);
  const message = refusalOf(cause, url, variable) ?? tlsRefusalOf(cause, url, variable);
  return message === undefined ? cause : new StoreRefused(message, { cause });
}

function refusalOf(error: unknown, url: URL, variable: string): string | undefined {
  const server = nameOf(url);
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1)) || user;
  switch (codeOf(error)) {
    case '28P01':
      return `${server} refuses the user "${user}". Check the user and the password in ${variable}.`;
    case '28000':
      return `${server} refuses the user "${user}". Check the user and the password in ${variable}.${tlsHint(url)}`;
    case '3D000':
      return `${server} has no database "${database}". Create it (createdb ${database}), or correct ${variable}.`;
    case '42501':
      return `${server} does not let the user "${user}" create tables in "${database}". Run: grant create on schema public to "${user}".`;
    default:
  }
  if (!(error instanceof StoreUnavailable)) return undefined;
  if (error.cause instanceof StandbyServer)
    return `${server} is a standby, which only reads. Promote it, or set ${variable} to the primary.`;
  if (isCrowded(error.cause))
    return `${server} accepts no more connections (${messageOf(error.cause)}). A gateway opens 12: raise the limit, which is max_connections or the CONNECTION LIMIT of the role or the database, end others, or put a pooler in between.`;
  // It is starting, stopping or recovering, and says which.
  if (codeOf(error.cause) === '57P03')
    return `${server} accepts no connections at the moment (${messageOf(error.cause)}). Wait until it runs, then try again.`;
  return `${server} does not answer (${reasonOf(error.cause)}). Start it, or correct ${variable}.`;
}

/** Codes of certificates whose authority is not known. */
const UNKNOWN_AUTHORITY: RegExp =
  /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED/;

function tlsRefusalOf(error: unknown, url: URL, variable: string): string | undefined {
  const server = nameOf(url);
  const code = codeOf(error);
  if (UNKNOWN_AUTHORITY.test(code))
    return `${server} has a certificate of an authority that is not known here (${code}). Add sslrootcert=<file> to ${variable}, with the certificate of the authority that signed it.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${server} has a certificate for another name than "${url.hostname}". Use the name in the certificate in ${variable}.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${server} is not valid today (${code}). Renew it.`;
  if (error instanceof Error && error.message.includes('does not support SSL'))
    return `${server} does not offer TLS. Set ssl = on there, or remove sslmode from ${variable}.`;
  if (code === 'ENOENT' || code === 'EACCES')
    return `The file "${(error as NodeJS.ErrnoException).path}" that ${variable} names cannot be read (${code}).`;
  return undefined;
}

/** Servers that accept only encrypted connections refuse all others like an unknown user. */
function tlsHint(url: URL): string {
  return url.searchParams.has('sslmode') ? '' : ' If the server accepts only TLS, add sslmode=verify-full.';
}

function nameOf(url: URL): string {
  return `PostgreSQL at ${url.hostname}:${url.port || 5432}`;
}

/** A pooler says in words why it refuses, and its code says nothing. */
function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  return code === '' || code === '08P01' ? messageOf(cause) : code;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
