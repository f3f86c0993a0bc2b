import type { z } from 'zod';
import type { GatewayLimits } from '../../config/limits.ts';
import type { AuditActor, AuditSubject } from '../../domain/audit/audit-entry.ts';
import type { Services } from '../../ports/services.ts';
import type { GroupOptions, Tx } from '../../ports/store/store.ts';
import type { Caller } from '../caller.ts';
import type { Holder, Place } from '../places.ts';
import type { RefusalStatus } from './statuses.ts';

/**
 * One operation of the API: who may use it, its parameters and its response. Routes and `/openapi.json` are both made from these.
 */
export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  /** The same operation at another path. The OpenAPI document shows only the first path. */
  readonly alias: string | undefined;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  readonly status: 200 | 201 | 202;
  /** The response: JSON of a schema, or another media type. */
  readonly answer: z.ZodType | MediaType;
  /** For a stream: the schema of the data of each event. */
  readonly events: z.ZodType | undefined;
  /** True if it responds with a stream of events to `Accept: text/event-stream`. */
  readonly isStreamable: boolean;
  /** True if it responds with 204 when there is nothing to return. */
  readonly mayBeEmpty: boolean;
  /** True if the last parameter of the path may have slashes. */
  readonly hasRestPath: boolean;
  /**
   * True for a text that may also be sent and returned as plain text: a body that is not JSON becomes `{ content }`, and `respond` returns
   * text if it is asked for.
   */
  readonly hasTextForm: boolean;
  /** True if its clients show the body of an error to people: then the body is only the error's message. */
  readonly hasTextErrors: boolean;
  /** Set if the caller's right is a signature of the body. Credentials are ignored then. */
  readonly signed: SignedBody | undefined;
  /** True if the caller's right is a signature of the address. Credentials are ignored then: those of a page may have expired. */
  readonly hasSignedAddress: boolean;
  /** Set if its body is a file. */
  readonly upload: FileUpload | undefined;
  /** True if it can also respond with JSON lines: see json-lines.ts. */
  readonly hasLines: boolean;
  /** What the audit says of it. Default: what its path names was changed. Reads have no entries. */
  readonly audit: AuditRule | undefined;
  /** Error statuses besides those that every operation has. */
  readonly refusals: readonly RefusalStatus[];
  /** Reserves the place for a response that comes later, or throws, before anything is stored. */
  readonly reserve: ((holder: Holder) => Place) | undefined;
  /** Set if its transaction may run together with others: see TransactionOptions. */
  readonly group: ((params: Readonly<Record<string, string>>) => GroupOptions) | undefined;
  /** If it is missing, the store is not used and no credentials are needed. */
  readonly handle:
    | ((input: Input<unknown, unknown, unknown>, tx: Tx, services: HandleServices) => Promise<unknown>)
    | undefined;
  readonly respond: ((value: unknown, exchange: Exchange) => Promise<Response> | Response) | undefined;
}

/** How a signed body is received, before the transaction begins. */
interface SignedBody {
  /** Throws if the request cannot be genuine. Called before its body is read. */
  readonly admit: (request: SignedRequest) => void;
  /** Checks the signature of the bytes. What it returns is `opened` of the input. */
  readonly open: (request: SignedRequest, bytes: Uint8Array) => Promise<unknown>;
}

/** How a file is received, before the transaction begins: a transaction must not wait for a disk or a network. */
export interface FileUpload {
  readonly mostBytes: (limits: GatewayLimits) => number;
  /** Stores the bytes. What it returns is `opened` of the input. `handle` refuses, because only then the caller was checked. */
  readonly store: (bytes: Uint8Array, headers: Headers) => Promise<unknown>;
  /** Deletes them again, if the transaction fails. */
  readonly drop: (opened: unknown) => Promise<void>;
}

interface SignedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Headers;
}

/** What a handler may use besides its transaction. */
type HandleServices = Pick<Services, 'logger' | 'prices' | 'currency'>;

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type MediaType = 'text/event-stream' | 'text/plain' | 'application/octet-stream' | 'application/x-ndjson';

/**
 * - `anyone`: also without credentials
 * - `session`: everyone who is signed in, with any scopes
 * - `entity`: entity tokens, and keys that may read or write, as the method needs
 * - `key`: keys that may read or write, as the method needs
 * - `admin`: keys that may do everything
 */
export type Access = 'anyone' | 'session' | 'entity' | 'key' | 'admin';

interface Input<P, Q, B> {
  readonly caller: Caller;
  readonly request: Request;
  /** Where the request comes from: see client-address.ts. Empty if there is no socket. */
  readonly address: string;
  readonly requestId: string;
  readonly headers: Headers;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** What a signed body or a file is: see `signed` and `upload`. `body` is undefined then. */
  readonly opened?: unknown;
}

/** What a request changed. */
export interface AuditedChange {
  readonly subject?: AuditSubject | undefined;
  /** The thing whose project the entry belongs to, for callers that see all projects. Default: the subject. */
  readonly projectOf?: AuditSubject | undefined;
  /** Default: the caller. */
  readonly actor?: AuditActor | undefined;
  /** Default: that of the operation. */
  readonly status?: number | undefined;
  /** Default: the operation. */
  readonly action?: string;
}

export type AuditedInput = Input<Readonly<Record<string, string>>, unknown, unknown>;

/**
 * What the audit says of an operation, in one entry or several. It returns undefined if the request changed nothing, e.g. because it was
 * sent twice.
 * `none`: the operation has no entries.
 */
type AuditRule<A = never> = 'none' | ((value: A, input: AuditedInput) => AuditedChange | AuditedChange[] | undefined);

/** What endpoints with their own response format need. */
export interface Exchange {
  readonly request: Request;
  readonly caller: Caller;
  /** Where the request comes from: see client-address.ts. */
  readonly address: string;
  /** The reserved place. It is released when the response begins. */
  readonly place?: Place | undefined;
  /** Responds with JSON, like an endpoint without `respond`. Much cheaper than `Response.json`: see json-answer.ts. */
  readonly json: (value: unknown) => Response;
  /** Cuts the connection, if there is one. */
  readonly disconnect: (() => void) | undefined;
  /** Marks the response as a stream, which ends when the gateway stops. */
  readonly markEventStream: (() => void) | undefined;
}

interface Definition<Path extends string, Q, B, A> {
  readonly method: Method;
  readonly path: Path;
  readonly alias?: string;
  /** A few words in the imperative, without a full stop: "Get a space". */
  readonly summary: string;
  /** Details that the summary leaves out. */
  readonly description?: string;
  readonly access: Access;
  readonly query?: z.ZodType<Q>;
  readonly body?: z.ZodType<B>;
  /** Default 200. */
  readonly status?: 200 | 201 | 202;
  readonly answer: z.ZodType | MediaType;
  readonly events?: z.ZodType;
  readonly isStreamable?: boolean;
  readonly mayBeEmpty?: boolean;
  readonly hasTextErrors?: boolean;
  readonly hasRestPath?: boolean;
  readonly hasTextForm?: boolean;
  readonly signed?: SignedBody;
  readonly upload?: FileUpload;
  readonly hasSignedAddress?: boolean;
  readonly hasLines?: boolean;
  readonly audit?: AuditRule<A>;
  readonly refusals?: readonly RefusalStatus[];
  readonly reserve?: (holder: Holder) => Place;
  readonly group?: (params: PathParams<Path>) => GroupOptions;
  /** Runs in one transaction, perhaps more than once, so all effects must be part of the transaction. */
  readonly handle?: (input: Input<PathParams<Path>, Q, B>, tx: Tx, services: HandleServices) => Promise<A>;
  /** Creates the response from the result of `handle`, once that is durable. Default: JSON. */
  readonly respond?: (value: A, exchange: Exchange) => Promise<Response> | Response;
}

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [K in Name]: string } & PathParams<Rest>
  : unknown;

/** Checks that the types of a definition fit together, and erases them so that all endpoints fit in one list. */
export function endpoint<const Path extends string, Q = undefined, B = undefined, A = unknown>(
  definition: Definition<Path, Q, B, A>,
): Endpoint {
  const { alias, query, body, status = 200, events, refusals = [], reserve, group, handle, respond } = definition;
  const { isStreamable = false, mayBeEmpty = false, hasTextErrors = false } = definition;
  const { hasRestPath = false, hasTextForm = false, hasLines = false, hasSignedAddress = false } = definition;
  const { signed, upload, audit } = definition;
  const flags = { isStreamable, mayBeEmpty, hasTextErrors, hasRestPath, hasTextForm, hasLines, hasSignedAddress };
  return {
    ...definition,
    ...flags,
    audit,
    alias,
    query,
    body,
    status,
    events,
    signed,
    upload,
    refusals,
    reserve,
    group,
    handle,
    respond,
  } as Endpoint;
}
