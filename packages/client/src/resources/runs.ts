import type { Connection, RequestOptions } from '../connection.ts';
import { followStream, type StreamOptions } from '../event-stream.ts';
import type { Operations, RunEvent } from '../wire.generated.ts';

type Ops = Operations;

/** The runs of agents. */
export interface Runs {
  list(query?: Ops['GET /api/runs']['query'], options?: RequestOptions): Promise<Ops['GET /api/runs']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/runs/{id}']['answer']>;
  /** The task of the run: all its runs, and how long it waited for answers. */
  story(id: string, options?: RequestOptions): Promise<Ops['GET /api/runs/{id}/story']['answer']>;
  transcript(
    id: string,
    query?: Ops['GET /api/runs/{id}/transcript']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/runs/{id}/transcript']['answer']>;
  /** What the model was sent in a step, as it was sent. */
  request(
    id: string,
    step: number,
    options?: RequestOptions,
  ): Promise<Ops['GET /api/runs/{id}/steps/{step}/request']['answer']>;
  /** A call by its id, whichever run it belongs to. */
  call(callId: string, options?: RequestOptions): Promise<Ops['GET /api/calls/{id}']['answer']>;
  cancel(id: string, options?: RequestOptions): Promise<Ops['POST /api/runs/{id}/cancel']['answer']>;
  /** Continues the run from a step, in a new conversation. */
  fork(
    id: string,
    body: Ops['POST /api/runs/{id}/forks']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /api/runs/{id}/forks']['answer']>;
  /** The forks of the run, newest first. */
  forks(
    id: string,
    query?: Ops['GET /api/runs/{id}/forks']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/runs/{id}/forks']['answer']>;
  /** Each event of the run once, in order, until the signal is aborted. */
  stream(id: string, options?: StreamOptions): AsyncIterable<RunEvent>;
}

export function runs(connection: Connection): Runs {
  const { call } = connection;
  return {
    list: (query, options) => call('GET /api/runs', { query, ...options }),
    get: (id, options) => call('GET /api/runs/{id}', { params: { id }, ...options }),
    story: (id, options) => call('GET /api/runs/{id}/story', { params: { id }, ...options }),
    transcript: (id, query, options) => call('GET /api/runs/{id}/transcript', { params: { id }, query, ...options }),
    request: (id, step, options) =>
      call('GET /api/runs/{id}/steps/{step}/request', { params: { id, step: String(step) }, ...options }),
    call: (id, options) => call('GET /api/calls/{id}', { params: { id }, ...options }),
    cancel: (id, options) => call('POST /api/runs/{id}/cancel', { params: { id }, ...options }),
    fork: (id, body, options) => call('POST /api/runs/{id}/forks', { params: { id }, body, ...options }),
    forks: (id, query, options) => call('GET /api/runs/{id}/forks', { params: { id }, query, ...options }),
    stream: (id, options) => followStream(connection, { path: `/api/runs/${encodeURIComponent(id)}/stream` }, options),
  };
}
