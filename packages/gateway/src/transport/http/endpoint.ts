import type { z } from 'zod';
import type { ApiStatus } from '../../domain/api-error.ts';
import type { Services } from '../../ports/services.ts';
import type { GroupOptions, Tx } from '../../ports/store/store.ts';
import type { Caller } from '../caller.ts';
import type { Holder, Place } from '../places.ts';

/** One operation of the API: who may use it, what it takes, what it answers. Routes and `/openapi.json` both come from these. */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  /** The same operation at another path. The document shows the first alone. */
  readonly alias: string | undefined;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly status: 200 | 201;
  /** What it answers: JSON of a schema, or something else by its media type. */
  readonly answer: z.ZodType | MediaType;
  /** Of a stream: what the data of each event is. */
  readonly events: z.ZodType | undefined;
  /** With `Accept: text/event-stream` it answers with a stream of events. */
  readonly isStreamable: boolean;
  /** It answers 204 where there is nothing to give. */
  readonly mayBeEmpty: boolean;
  /** Its clients show the body of a refusal to people: it is the error's message alone. */
  readonly hasTextErrors: boolean;
  /** What it may refuse with beyond what every operation may. */
  readonly refusals: readonly ApiStatus[];
  /** Takes the place that a late answer needs, or throws, before anything is stored. */
  readonly reserve: ((holder: Holder) => Place) | undefined;
  /** Its transaction may be one of several: see TransactionOptions. */
  readonly group: ((params: Readonly<Record<string, string>>) => GroupOptions) | undefined;
  /** Without it nothing is asked of the store, and nobody has to say who they are. */
  readonly handle:
    | ((input: Input<unknown, unknown, unknown>, tx: Tx, services: Services) => Promise<unknown>)
    | undefined;
  readonly respond: ((value: unknown, exchange: Exchange) => Promise<Response> | Response) | undefined;
}

type Method = 'get' | 'post' | 'patch' | 'delete';
type MediaType = 'text/event-stream' | 'text/plain' | 'application/octet-stream';

/**
 * - `anyone`: also without credentials
 * - `session`: whoever is signed in, whatever they may do
 * - `entity`: entity tokens, and keys that may read or write, as the method needs
 * - `key`: keys that may read or write, as the method needs
 * - `admin`: keys that may do everything
 */
export type Access = 'anyone' | 'session' | 'entity' | 'key' | 'admin';

interface Input<P, Q, B> {
  readonly caller: Caller;
  readonly request: Request;
  /** Where the request comes from: see client-address.ts. Empty where there is no socket. */
  readonly address: string;
  readonly headers: Headers;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
}

/** What answers that are more than JSON need to know. */
export interface Exchange {
  readonly request: Request;
  readonly caller: Caller;
  /** Where the request comes from: see client-address.ts. */
  readonly address: string;
  /** The place that was reserved. It is given back when the answer begins. */
  readonly place?: Place | undefined;
  /** Answers with JSON, as an endpoint without `respond` does. Much cheaper than `Response.json`: see json-answer.ts. */
  readonly json: (value: unknown) => Response;
  /** Cuts the connection, where there is one. */
  readonly disconnect: (() => void) | undefined;
  /** Says that the answer is a stream, which ends when the gateway stops. */
  readonly markEventStream: (() => void) | undefined;
}

interface Definition<Path extends string, Q, B, A> {
  readonly method: Method;
  readonly path: Path;
  readonly alias?: string;
  /** A few words in the imperative, without a full stop: "Get a space". */
  readonly summary: string;
  /** What the summary leaves out. */
  readonly description?: string;
  readonly access: Access;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /** Default 200. */
  readonly status?: 200 | 201;
  readonly answer: z.ZodType | MediaType;
  readonly events?: z.ZodType;
  readonly isStreamable?: boolean;
  readonly mayBeEmpty?: boolean;
  readonly hasTextErrors?: boolean;
  readonly refusals?: readonly ApiStatus[];
  readonly reserve?: (holder: Holder) => Place;
  readonly group?: (params: PathParams<Path>) => GroupOptions;
  /** Runs in one transaction, perhaps more than once: no effects but through it. */
  readonly handle?: (input: Input<PathParams<Path>, Q, B>, tx: Tx, services: Services) => Promise<A>;
  /** Makes the answer of what was handled, once that is durable. Default: JSON. */
  readonly respond?: (value: A, exchange: Exchange) => Promise<Response> | Response;
}

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** Checks a definition against its own parts, and forgets them: endpoints of all kinds lie in one list. */
export function endpoint<const Path extends string, Q = undefined, B = undefined, A = unknown>(
  definition: Definition<Path, Q, B, A>,
): Endpoint {
  const { alias, query, body, status = 200, events, refusals = [], reserve, group, handle, respond } = definition;
  const { isStreamable = false, mayBeEmpty = false, hasTextErrors = false } = definition;
  const flags = { isStreamable, mayBeEmpty, hasTextErrors };
  return {
    ...definition,
    ...flags,
    alias,
    query,
    body,
    status,
    events,
    refusals,
    reserve,
    group,
    handle,
    respond,
  } as Endpoint;
}
