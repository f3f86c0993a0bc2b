import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { ApiError, notFound } from '../../domain/api-error.ts';
import { keepLate, type LateAnswer } from '../../domain/calls/keep-late.ts';
import { isId } from '../../domain/entities/column-text.ts';
import type { Attempts } from '../../domain/keys/attempts.ts';
import type { KnownKeys } from '../../domain/keys/known-keys.ts';
import type { Services } from '../../ports/services.ts';
import type { Tx } from '../../ports/store/store.ts';
import type { Caller } from '../caller.ts';
import { insteadOf } from '../openai/not-offered.ts';
import { isOpenAiPath } from '../openai/openai-error.ts';
import type { Place } from '../places.ts';
import { auditRequest, writeChange } from './audit-request.ts';
import { admit, admitEarly, authenticate, credentialsOf, type Identity } from './authenticate.ts';
import type { BodyPlaces } from './body-places.ts';
import type { AddressOf } from './client-address.ts';
import { markEventStream } from './connections.ts';
import type { AuditedInput, Endpoint, Exchange, FileUpload } from './endpoint.ts';
import { afterCommit, errorAnswer, toTextAnswer } from './error-answer.ts';
import { toShownPage } from './fields.ts';
import { headerEventId } from './open-stream.ts';
import { assertVisible, inProject, PROJECT_HEADER } from './project-rules.ts';
import { isJson, parseBody, readBody, textOf } from './read-body.ts';
import { RequestRate, UncountedRequest } from './request-rate.ts';
import { statusOf } from './statuses.ts';
import { readQuery, validate } from './validate.ts';

export interface MountOptions {
  readonly services: Services;
  readonly tokenSecret: Uint8Array;
  readonly knownKeys: KnownKeys;
  /** Counts attempts with wrong keys and tokens. */
  readonly attempts: Attempts;
  readonly bodyPlaces: BodyPlaces;
  readonly addressOf: AddressOf;
  /** The URL under which browsers reach the gateway, if it differs from the address in their requests. */
  readonly publicUrl: string | undefined;
}

/** What the server passes along with the request. Empty if the app is called in memory. */
export interface AppEnv {
  Bindings: Partial<HttpBindings>;
  Variables: { requestId: string; route: string; json?: string };
}

/** Serves the endpoints, and responds with 405 if a path exists but not with this method. */
export function mount(app: Hono<AppEnv>, endpoints: readonly Endpoint[], options: MountOptions): void {
  for (const one of endpoints) {
    app.on(one.method.toUpperCase(), routePaths(one), async (c) => {
      c.set('route', one.path);
      if (!one.hasTextErrors) return await perform(one, c, options);
      const logger = options.services.logger;
      return await perform(one, c, options).catch((error: unknown) =>
        toTextAnswer(errorAnswer(error, { requestId: c.get('requestId'), logger })),
      );
    });
  }
  const served = endpoints.flatMap((one) => routePaths(one).map((path) => ({ path, method: one.method })));
  for (const [path, own] of Map.groupBy(served, (one) => one.path)) {
    const allow = own.map(({ method }) => method.toUpperCase()).join(', ');
    app.all(path, (c) => {
      const { method } = c.req.raw;
      throw methodNotAllowed(method, allow, isOpenAiPath(c.req.path) ? ` ${insteadOf(method, c.req.path)}` : '');
    });
  }
}

function routePaths({ path, alias, hasRestPath }: Endpoint): string[] {
  const routes = [path, ...(alias === undefined ? [] : [alias])].map((one) => one.replaceAll(/\{(\w+)\}/g, ':$1'));
  return hasRestPath ? routes.map((route) => `${route}{.+}`) : routes;
}

/** Parses the request, authorizes it, runs one transaction and responds. */
async function perform(one: Endpoint, c: Context<AppEnv>, options: MountOptions): Promise<Response> {
  const { services } = options;
  const request = c.req.raw;
  // A stream has no final size or status that HEAD could report.
  if (request.method === 'HEAD' && one.answer === 'text/event-stream') throw methodNotAllowed('HEAD', 'GET');
  const connection = connectionOf(c, options);
  const { address } = connection;
  const { handle } = one;
  if (handle === undefined) {
    const json = (value: unknown): Response => answerJson(c, value, one.status);
    const answered = await one.respond?.(undefined, { request, caller: ANONYMOUS, json, ...connection });
    return answered ?? Response.json(undefined, { status: one.status });
  }
  const refuse = (refusal: ApiError): ApiError => options.attempts.refuse(address, refusal);
  const credentials =
    one.signed === undefined && !one.hasSignedAddress ? credentialsOf(request, one, options.publicUrl) : undefined;
  const identity = await authenticate({ ...options, refuse }, credentials);
  const rate = new RequestRate(services.store);
  await rate.count(identity.presumed);
  const { bytes, opened } = await receive(one, c, { identity, address, options });
  const readInput = inputReader(one, request, bytes);
  let place: Place | undefined;
  let audited: AuditedInput | undefined;
  const handleOnce = () =>
    services.store.transaction(
      async (tx) => {
        const confirmed = admit(await identity.confirm(tx), one);
        rate.assertCounted(confirmed);
        const caller = await inProject(tx, confirmed, request.headers.get(PROJECT_HEADER));
        const params = paramsOf(c, one);
        const requestId = c.get('requestId');
        const { headers } = request;
        const input = { caller, request, requestId, headers, params, opened, ...connection, ...readInput() };
        // Checked before anything is done: the stream reads it only after the commit.
        if (one.isStreamable) headerEventId(request);
        audited = input;
        await assertVisible(tx, one, input);
        // The place is taken once, although a transaction may run more than once.
        place ??= one.reserve?.({ caller, address });
        // What is deleted has to be there for its project to be found.
        if (one.method === 'delete') auditRequest(tx, one, input, undefined);
        const value = await handle(input, tx, services);
        if (one.method !== 'delete') auditRequest(tx, one, input, value);
        return { caller, value };
      },
      { isUrgent: true, group: one.group?.(c.req.param()) },
    );
  try {
    const { value, caller } = await handleOnce()
      .catch(async (error: unknown) => {
        if (!(error instanceof UncountedRequest)) throw error;
        await rate.count(error.caller);
        return await handleOnce();
      })
      .catch((error: unknown) => keepLate(services, error, (tx, late) => auditLate(tx, one, audited, late)))
      .catch(async (error: unknown) => {
        await one.upload?.drop(opened);
        throw error;
      });
    return await answerWith(one, c, value, { request, caller, place, ...connection });
  } finally {
    place?.release();
  }
}

interface Receiving {
  readonly identity: Identity;
  readonly address: string;
  readonly options: MountOptions;
}

/** Reads the body. A signature is checked here, because a forged request must not cost a transaction. */
async function receive(
  one: Endpoint,
  c: Context<AppEnv>,
  receiving: Receiving,
): Promise<{ readonly bytes?: Uint8Array | undefined; readonly opened?: unknown }> {
  if (one.method === 'get') return {};
  const { signed, upload } = one;
  if (upload !== undefined) return { opened: await receiveFile(upload, one, c, receiving) };
  if (signed === undefined) return { bytes: await receiveBody(one, c, receiving) };
  const request = { params: paramsOf(c, one), headers: c.req.raw.headers };
  signed.admit(request);
  const bytes = await receiveBody(one, c, receiving);
  return { opened: await signed.open(request, bytes ?? new Uint8Array()) };
}

/** A file is in memory until it is stored, so its place is held for as long. */
async function receiveFile(upload: FileUpload, one: Endpoint, c: Context<AppEnv>, receiving: Receiving) {
  const { identity, address, options } = receiving;
  const { limits, store } = options.services;
  const caller = await admitEarly(identity, one, store);
  const most = upload.mostBytes(limits);
  const announced = Number(c.req.raw.headers.get('content-length')) || most;
  const place = options.bodyPlaces.take({ caller, address }, Math.min(announced, most));
  try {
    const bytes = await receiveBody(one, c, receiving, () => ({ release() {} }));
    return await upload.store(bytes ?? new Uint8Array(), c.req.raw.headers);
  } finally {
    place.release();
  }
}

/** A late answer is stored although the request is refused. */
function auditLate(tx: Tx, one: Endpoint, input: AuditedInput | undefined, late: LateAnswer): void {
  const subject = { kind: 'call', id: late.answered.callId } as const;
  if (input !== undefined) writeChange(tx, one, input, { subject, status: statusOf(late) });
}

/** A body that the caller may not send is not read, because it costs memory until its last byte has arrived. */
async function receiveBody(
  one: Endpoint,
  c: Context<AppEnv>,
  { identity, address, options }: Receiving,
  takePlace?: () => Place,
): Promise<Uint8Array | undefined> {
  const { services, bodyPlaces } = options;
  const { bodyTimeoutMs } = services.limits;
  const bodyBytes = one.upload?.mostBytes(services.limits) ?? services.limits.bodyBytes;
  const caller = await admitEarly(identity, one, services.store);
  const isSmall = caller.kind === 'anonymous' && one.signed === undefined;
  return await readBody(c.req.raw, {
    mostBytes: isSmall ? Math.min(ANONYMOUS_BODY_BYTES, bodyBytes) : bodyBytes,
    timeoutMs: bodyTimeoutMs,
    incoming: c.env?.incoming,
    takePlace: takePlace ?? (() => bodyPlaces.take({ caller, address })),
  });
}

/** Besides signed bodies, only a sign-in sends a body without credentials, and it contains just a code or a key. */
const ANONYMOUS_BODY_BYTES = 16_384;

async function answerWith(
  one: Endpoint,
  c: Context<AppEnv>,
  value: unknown,
  exchange: Omit<Exchange, 'json'>,
): Promise<Response> {
  const json = (answer: unknown): Response => answerJson(c, toShownPage(one.query, answer), one.status);
  try {
    const answered = (await one.respond?.(value, { ...exchange, json })) ?? json(value);
    // The body of HEAD is not sent, so nothing else would close the file or the connection behind it.
    if (exchange.request.method === 'HEAD') await answered.body?.cancel();
    return answered;
  } catch (error) {
    throw one.method === 'get' ? error : afterCommit(error);
  }
}

const ANONYMOUS: Caller = { kind: 'anonymous' };

/** Behind a server only the text is needed: see json-answer.ts. */
function answerJson(c: Context<AppEnv>, value: unknown, status: number): Response {
  if (c.env?.outgoing === undefined) return Response.json(value, { status });
  c.set('json', JSON.stringify(value));
  return new Response(null, { status, headers: { 'content-type': 'application/json' } });
}

/** An id that no database can store is not found. A path is checked where it is used, with an error that says what is wrong. */
function paramsOf(c: Context<AppEnv>, { hasRestPath }: Endpoint): Readonly<Record<string, string>> {
  const params = c.req.param() as Record<string, string>;
  const ids = Object.entries(params);
  for (const [name, id] of hasRestPath ? ids.slice(0, -1) : ids) if (!isId(id)) throw notFound(name, id.slice(0, 100));
  return params;
}

/**
 * Parses bytes that were read before, since a transaction must not wait for the network. Problems with them are reported only
 * after the caller was checked.
 */
function inputReader(
  { query, body, hasTextForm, signed, upload }: Endpoint,
  request: Request,
  bytes: Uint8Array | undefined,
): () => { query: unknown; body: unknown } {
  const contentType = request.headers.get('content-type');
  const parse = (): unknown => {
    if (hasTextForm && body !== undefined && !isJson(contentType)) return { content: textOf(bytes) };
    return bytes === undefined ? undefined : parseBody(bytes, contentType);
  };
  return () => ({
    query: validate(query ?? NOTHING, readQuery(request.url), 'The query'),
    body: signed === undefined && upload === undefined ? validate(body ?? NOTHING, parse()) : undefined,
  });
}

/** The body of endpoints that take none. */
const NOTHING = z.strictObject({}).optional();

type Connection = Pick<Exchange, 'address' | 'disconnect' | 'markEventStream'>;

function connectionOf(c: Context<AppEnv>, { addressOf }: MountOptions): Connection {
  const { incoming, outgoing } = c.env ?? {};
  const address = addressOf(c.req.raw, incoming?.socket.remoteAddress);
  if (outgoing === undefined) return { address, disconnect: undefined, markEventStream: undefined };
  return { address, disconnect: () => void outgoing.destroy(), markEventStream: () => markEventStream(outgoing) };
}

function methodNotAllowed(method: string, allow: string, instead = ''): ApiError {
  return new ApiError('method_not_allowed', `${method} is not supported here. Use ${allow}.${instead}`, {
    details: { allow },
  });
}
