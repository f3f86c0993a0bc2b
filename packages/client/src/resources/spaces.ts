import type { Connection, RequestOptions } from '../connection.ts';
import { followStream, type StreamOptions } from '../event-stream.ts';
import { newId } from '../new-id.ts';
import type { Erasure, Operations, SpaceEvent } from '../wire.generated.ts';

type Ops = Operations;
type Query<O extends keyof Ops> = Ops[O]['query'];

/** Spaces, their members and messages. */
export interface Spaces {
  list(query?: Query<'GET /api/spaces'>, options?: RequestOptions): Promise<Ops['GET /api/spaces']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/spaces/{id}']['answer']>;
  create(space: Ops['POST /api/spaces']['body'], options?: RequestOptions): Promise<Ops['POST /api/spaces']['answer']>;
  /** Renames a space, or archives it. What is absent stays as it is. */
  update(
    id: string,
    changes: Ops['PATCH /api/spaces/{id}']['body'],
    options?: RequestOptions,
  ): Promise<Ops['PATCH /api/spaces/{id}']['answer']>;
  /** Deletes a space, and orders the erasure of its messages. `erasures.get` shows its progress. This cannot be undone. */
  delete(id: string, options?: RequestOptions): Promise<Erasure>;
  members(
    id: string,
    query?: Query<'GET /api/spaces/{id}/members'>,
    options?: RequestOptions,
  ): Promise<Ops['GET /api/spaces/{id}/members']['answer']>;
  addMember(
    id: string,
    member: Ops['POST /api/spaces/{id}/members']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/spaces/{id}/members']['answer']>;
  removeMember(id: string, entityId: string, options?: RequestOptions): Promise<void>;
  messages(
    id: string,
    query?: Query<'GET /api/spaces/{id}/messages'>,
    options?: RequestOptions,
  ): Promise<Ops['GET /api/spaces/{id}/messages']['answer']>;
  /** Posts a message, once, however often it has to be sent. */
  say(
    id: string,
    message: Ops['POST /api/spaces/{id}/messages']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/spaces/{id}/messages']['answer']>;
  /** Marks messages up to `seq` as seen. */
  seen(
    id: string,
    seen: Ops['POST /api/spaces/{id}/seen']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/spaces/{id}/seen']['answer']>;
  /** Each event of the space once, in order, until the signal is aborted. */
  stream(id: string, options?: StreamOptions): AsyncIterable<SpaceEvent>;
}

export function spaces(connection: Connection): Spaces {
  const { call } = connection;
  return {
    list: (query, options) => call('GET /api/spaces', { query, ...options }),
    get: (id, options) => call('GET /api/spaces/{id}', { params: { id }, ...options }),
    create: (body, options) => call('POST /api/spaces', { body, ...options }),
    update: (id, body, options) => call('PATCH /api/spaces/{id}', { params: { id }, body, ...options }),
    delete: (id, options) => call('DELETE /api/spaces/{id}', { params: { id }, ...options }),
    members: (id, query, options) => call('GET /api/spaces/{id}/members', { params: { id }, query, ...options }),
    addMember: (id, body, options) => call('POST /api/spaces/{id}/members', { params: { id }, body, ...options }),
    async removeMember(id, entityId, options) {
      await call('DELETE /api/spaces/{id}/members', { params: { id }, query: { entityId }, ...options });
    },
    messages: (id, query, options) => call('GET /api/spaces/{id}/messages', { params: { id }, query, ...options }),
    say: (id, message, options) =>
      call('POST /api/spaces/{id}/messages', {
        params: { id },
        body: { clientMessageId: newId(), ...message },
        isRepeatable: true,
        ...options,
      }),
    seen: (id, body, options) =>
      call('POST /api/spaces/{id}/seen', { params: { id }, body, isRepeatable: true, ...options }),
    stream: (id, options) =>
      followStream(connection, { path: `/api/spaces/${encodeURIComponent(id)}/stream` }, options),
  };
}
