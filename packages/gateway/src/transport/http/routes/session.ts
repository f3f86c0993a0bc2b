import { z } from 'zod';
import { ApiError } from '../../../domain/api-error.ts';
import { findKey } from '../../../domain/keys/api-key.ts';
import type { Attempts } from '../../../domain/keys/attempts.ts';
import { assertPerson, type Grant } from '../../../domain/keys/grant.ts';
import { viewOfLimits } from '../../../domain/keys/key-limits.ts';
import { hasScope, type Scope } from '../../../domain/keys/scope.ts';
import {
  changePerson,
  createSession,
  endSession,
  findSession,
  listSessions,
  type Session,
} from '../../../domain/keys/session.ts';
import {
  createSignInCode,
  listLinks,
  MAX_LINK_SECONDS,
  type NewLink,
  revokeLink,
  takeSignInCode,
} from '../../../domain/keys/sign-in-link.ts';
import type { Tx } from '../../../ports/store/store.ts';
import { type Caller, type SessionCaller, scopesOf, viewOf } from '../../caller.ts';
import { type AuditedChange, type AuditedInput, type Endpoint, endpoint } from '../endpoint.ts';
import { idField, pageFields, pageOf } from '../fields.ts';
import { assertOwnPage } from '../own-page.ts';
import { linkSchema, scopesSchema, sessionSchema } from '../schemas/session.ts';
import { clearedCookie, sessionCookie } from '../session-cookie.ts';
import { statusOf } from '../statuses.ts';

export interface SessionOptions {
  /** The URL under which browsers reach the gateway, if it differs from the address in their requests. */
  readonly publicUrl: string | undefined;
  /** Counts attempts with wrong codes and keys. */
  readonly attempts: Attempts;
}

const secretField = z.string().min(1).max(4_096);

const signInSchema = z
  .union(
    [
      z.strictObject({ code: secretField }),
      z.strictObject({
        key: secretField,
        entityId: idField.optional().meta({ description: 'The person to act for. Needs scope `write`.' }),
      }),
    ],
    { error: 'must be { code } or { key, entityId? }.' },
  )
  .meta({ description: 'The code of a sign-in link, or a secret key.' });

/** Endpoints for signing in to the page that the gateway serves. */
export function sessionEndpoints({ publicUrl, attempts }: SessionOptions): readonly Endpoint[] {
  return [
    endpoint({
      method: 'post',
      path: '/api/links',
      summary: 'Create a sign-in link',
      description:
        'It signs one browser in, once, within 15 minutes by default. Its code is in the fragment of the URL, which is never sent to a server or logged.',
      access: 'key',
      body: z.strictObject({
        entityId: idField.optional().meta({ description: 'The person that the browser acts for.' }),
        scopes: scopesSchema.optional().meta({
          description: 'At most your own scopes. Default: none for a link with `entityId`, otherwise your own.',
        }),
        expiresInSeconds: z.int().min(1).max(MAX_LINK_SECONDS).optional().meta({ description: 'Default 900.' }),
      }),
      status: 201,
      answer: z.strictObject({ id: z.string(), url: z.string(), expiresAt: z.int() }),
      handle: ({ caller, body }, tx) => createSignInCode(tx, { ...body, maker: makerOf(caller) }),
      respond: ({ id, code, expiresAt }, { request }) =>
        Response.json({ id, url: linkUrl(publicUrl ?? request.url, code), expiresAt }, { status: 201 }),
    }),
    endpoint({
      method: 'get',
      path: '/api/links',
      summary: 'List sign-in links',
      description: 'Links that still work, without their codes.',
      access: 'admin',
      query: z.strictObject({ ...pageFields }),
      answer: pageOf(linkSchema),
      handle: ({ caller, query }, tx) => listLinks(tx, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'delete',
      path: '/api/links/{id}',
      summary: 'Revoke a sign-in link',
      description: 'It stops working at once. To end the session of a link that was used, revoke the session.',
      access: 'admin',
      answer: linkSchema,
      handle: ({ caller, params }, tx) => revokeLink(tx, params.id, viewOf(caller)),
    }),
    endpoint({
      method: 'post',
      path: '/api/session',
      summary: 'Create a session',
      description:
        'Signs the browser in. It sets a cookie that is only accepted from the page that the gateway itself serves.',
      access: 'anyone',
      body: signInSchema,
      status: 201,
      answer: sessionSchema,
      refusals: [401, 403, 429],
      audit: auditSignIn,
      async handle({ body, request, address }, tx) {
        assertOwnPage(request, publicUrl);
        const taken = 'code' in body ? takeSignInCode(tx, body.code) : grantOfKey(tx, body);
        const grant = await taken.catch((error: unknown) => {
          throw isWrongSecret(error) ? attempts.refuse(address, error) : error;
        });
        const { id, secret } = await createSession(tx, grant);
        return { session: await requireSession(tx, id), secret };
      },
      respond: ({ session, secret }, { request }) =>
        Response.json(session, {
          status: 201,
          headers: { 'set-cookie': sessionCookie(request, secret, session.expiresAt) },
        }),
    }),
    endpoint({
      method: 'get',
      path: '/api/session',
      summary: 'Get your session',
      access: 'session',
      answer: sessionSchema,
      handle: ({ caller }, tx) => requireSession(tx, sessionOf(caller).sessionId),
    }),
    endpoint({
      method: 'patch',
      path: '/api/session',
      summary: 'Update your session',
      description: 'Changes the person that you act for. Needs scope `write`. `null` removes the person.',
      access: 'entity',
      body: z.strictObject({ entityId: idField.nullable() }),
      answer: sessionSchema,
      audit: auditOwn,
      async handle({ caller, body }, tx) {
        const { sessionId, scopes } = sessionOf(caller);
        assertMayActFor(scopes);
        await changePerson(tx, sessionId, { entityId: body.entityId, view: viewOf(caller) });
        return await requireSession(tx, sessionId);
      },
    }),
    endpoint({
      method: 'delete',
      path: '/api/session',
      summary: 'Delete your session',
      description:
        'Signs the browser out. Streams and waiting requests of the session end, and so do the links and sessions that it made.',
      access: 'session',
      answer: sessionSchema,
      audit: auditOwn,
      handle: ({ caller }, tx) => endSession(tx, sessionOf(caller).sessionId),
      respond: (session, { request }) => Response.json(session, { headers: { 'set-cookie': clearedCookie(request) } }),
    }),
    endpoint({
      method: 'get',
      path: '/api/sessions',
      summary: 'List sessions',
      description: 'The signed-in browsers of all users.',
      access: 'admin',
      query: z.strictObject({ ...pageFields }),
      answer: pageOf(sessionSchema),
      handle: ({ caller, query }, tx) => listSessions(tx, { ...query, view: viewOf(caller) }),
    }),
    endpoint({
      method: 'delete',
      path: '/api/sessions/{id}',
      summary: 'Revoke a session',
      description:
        'Its cookie stops working at once. Its streams and waiting requests end, and so do the links and sessions that it made.',
      access: 'admin',
      answer: sessionSchema,
      handle: ({ caller, params }, tx) => endSession(tx, params.id, viewOf(caller)),
    }),
  ];
}

/** The fragment of a URL is not sent to any server: the page reads it and removes it. */
export function linkUrl(base: string, code: string): string {
  return `${new URL('/', base).href}#in=${code}`;
}

/** The caller has no credentials yet: the session says whose they were. */
function auditSignIn({ session: { id, keyId, entity } }: { readonly session: Session }): AuditedChange {
  const owner = entity !== undefined ? ({ kind: 'entity', id: entity.id } as const) : undefined;
  const key = keyId === undefined ? undefined : ({ kind: 'key', id: keyId } as const);
  return {
    subject: { kind: 'session', id },
    projectOf: owner ?? key,
    actor: { keyId, sessionId: id, entityId: entity?.id },
  };
}

function auditOwn(_value: unknown, { caller }: AuditedInput): AuditedChange {
  return { subject: caller.kind === 'session' ? { kind: 'session', id: caller.sessionId } : undefined };
}

function makerOf(caller: Caller): NewLink['maker'] {
  const keyId = caller.kind === 'key' || caller.kind === 'session' ? caller.keyId : undefined;
  const sessionId = caller.kind === 'session' ? caller.sessionId : undefined;
  const choseProject = 'view' in caller && caller.choseProject === true;
  return { scopes: scopesOf(caller), keyId, sessionId, view: viewOf(caller), choseProject };
}

async function grantOfKey(tx: Tx, { key, entityId }: { key: string; entityId?: string | undefined }): Promise<Grant> {
  const found = await findKey(tx.db, key);
  if (found === undefined) throw new ApiError('unauthorized', 'The key is not valid.');
  if (entityId !== undefined) {
    assertMayActFor(found.scopes);
    await assertPerson(tx, entityId, { ...viewOfLimits(found), project: found.project });
  }
  return { scopes: found.scopes, entityId, keyId: found.id, makerSessionId: undefined };
}

function isWrongSecret(error: unknown): error is ApiError {
  return error instanceof ApiError && statusOf(error) === 401;
}

/** A session that may only read must not post in a person's name. */
function assertMayActFor(scopes: readonly Scope[]): void {
  if (!hasScope(scopes, 'write')) throw new ApiError('forbidden', 'Acting for a person needs scope "write".');
}

function sessionOf(caller: Caller): SessionCaller {
  if (caller.kind === 'session') return caller;
  throw new ApiError('no_session', 'This request has no session: it was sent with a key or a token.');
}

async function requireSession(tx: Tx, id: string) {
  const session = await findSession(tx.db, { id }, tx.now());
  if (session === undefined) throw new ApiError('unauthorized', 'The session has ended. Sign in again.');
  return session;
}
