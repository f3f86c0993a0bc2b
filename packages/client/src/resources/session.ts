import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type Ops = Operations;

/** The session of a browser, for pages that the gateway serves itself. */
export interface SessionResource {
  /** Rejects with status 401 if the browser is not signed in. */
  get(options?: RequestOptions): Promise<Ops['GET /api/session']['answer']>;
  /** Signs in, with the code of a link or with a secret key. It is never repeated: a code counts once, and attempts are limited. */
  signIn(
    credentials: Ops['POST /api/session']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/session']['answer']>;
  /** Sets the person that an operator acts for. Null: none. */
  actFor(entityId: string | null, options?: RequestOptions): Promise<Ops['PATCH /api/session']['answer']>;
  signOut(options?: RequestOptions): Promise<Ops['DELETE /api/session']['answer']>;
  /** The browsers that are signed in, of everybody. */
  list(
    query?: Ops['GET /api/sessions']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/sessions']['answer']>;
  end(id: string, options?: RequestOptions): Promise<Ops['DELETE /api/sessions/{id}']['answer']>;
}

export function session({ call }: Connection): SessionResource {
  return {
    get: (options) => call('GET /api/session', options),
    signIn: (body, options) => call('POST /api/session', { body, isSentOnce: true, ...options }),
    actFor: (entityId, options) => call('PATCH /api/session', { body: { entityId }, isRepeatable: true, ...options }),
    signOut: (options) => call('DELETE /api/session', options),
    list: (query, options) => call('GET /api/sessions', { query, ...options }),
    end: (id, options) => call('DELETE /api/sessions/{id}', { params: { id }, ...options }),
  };
}
