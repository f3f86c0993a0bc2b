import type { Connection, RequestOptions } from '../connection.ts';
import { newId } from '../new-id.ts';
import type { Erasure, Operations } from '../wire.generated.ts';

type Ops = Operations;
type Change = RequestOptions;

/** Agents, their inbox, and what they remember. */
export interface Agents {
  list(query?: Ops['GET /api/agents']['query'], options?: RequestOptions): Promise<Ops['GET /api/agents']['answer']>;
  get(id: string, options?: RequestOptions): Promise<Ops['GET /api/agents/{id}']['answer']>;
  create(agent: Ops['POST /api/agents']['body'], options?: Change): Promise<Ops['POST /api/agents']['answer']>;
  /** Changes fields of the configuration. With `ifVersion`, only if it was not changed in the meantime. */
  update(
    id: string,
    change: Ops['PATCH /api/agents/{id}']['body'],
    options?: Change,
  ): Promise<Ops['PATCH /api/agents/{id}']['answer']>;
  /** Every configuration that the agent has had, newest first. */
  versions(
    id: string,
    query?: Ops['GET /api/agents/{id}/versions']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/versions']['answer']>;
  delete(id: string, options?: Change): Promise<void>;
  /** Deletes an agent, and orders the erasure of its texts. `erasures.get` shows its progress. This cannot be undone. */
  erase(id: string, options?: Change): Promise<Erasure>;
  pause(id: string, options?: Change): Promise<Ops['POST /api/agents/{id}/pause']['answer']>;
  resume(id: string, options?: Change): Promise<Ops['POST /api/agents/{id}/resume']['answer']>;
  /** Sends an event, once, however often it has to be sent. */
  send(
    id: string,
    event: Ops['POST /api/agents/{id}/events']['body'],
    options?: Change,
  ): Promise<Ops['POST /api/agents/{id}/events']['answer']>;
  inbox(
    id: string,
    query?: Ops['GET /api/agents/{id}/inbox']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/inbox']['answer']>;
  /** Tries dead and withheld events again: those named, or all. */
  redrive(id: string, eventIds?: readonly string[], options?: Change): Promise<readonly string[]>;
  transcript(id: string, options?: RequestOptions): Promise<Ops['GET /api/agents/{id}/transcript']['answer']>;
  goals(id: string, options?: RequestOptions): Promise<Ops['GET /api/agents/{id}/goals']['answer']>;
  memories(id: string, options?: RequestOptions): Promise<Ops['GET /api/agents/{id}/memories']['answer']>;
  plans(id: string, options?: RequestOptions): Promise<Ops['GET /api/agents/{id}/plans']['answer']>;
  /** Talks to the agent with changes that are not saved. Nothing acts outside by itself, and nothing reaches spaces. */
  draft(
    id: string,
    body: Ops['POST /api/agents/{id}/drafts']['body'],
    options?: Change,
  ): Promise<Ops['POST /api/agents/{id}/drafts']['answer']>;
  /** Its last completed tasks, newest first: what was asked, answered and called. */
  tasks(
    id: string,
    query?: Ops['GET /api/agents/{id}/tasks']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/tasks']['answer']>;
  /** The state that the agent's tools and sections share, or with `contextId` that of one of its conversations. */
  session(
    id: string,
    query?: Ops['GET /api/agents/{id}/session']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/session']['answer']>;
  /** The machine of an agent that is one, or with `contextId` that of one of its conversations. */
  machine(
    id: string,
    query?: Ops['GET /api/agents/{id}/machine']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/machine']['answer']>;
  /**
   * Gives a command to an agent's machine, once, however often it has to be sent. Resolves when it has run, which is
   * after a run that is under way.
   */
  command(
    id: string,
    command: { readonly name: string } & Ops['POST /api/agents/{id}/machine/commands/{name}']['body'],
    query?: Ops['POST /api/agents/{id}/machine/commands/{name}']['query'],
    options?: Change,
  ): Promise<Ops['POST /api/agents/{id}/machine/commands/{name}']['answer']>;
  /** The agent's files, or with `contextId` those of one of its conversations. */
  files(
    id: string,
    query?: Ops['GET /api/agents/{id}/files']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/files']['answer']>;
  /** A file with its content. */
  file(
    id: string,
    path: string,
    query?: Ops['GET /api/agents/{id}/files/{path}']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /api/agents/{id}/files/{path}']['answer']>;
  /** Creates or replaces a file. */
  putFile(
    id: string,
    file: { readonly path: string; readonly content: string },
    query?: Ops['PUT /api/agents/{id}/files/{path}']['query'],
    options?: Change,
  ): Promise<Ops['PUT /api/agents/{id}/files/{path}']['answer']>;
  deleteFile(
    id: string,
    path: string,
    query?: Ops['DELETE /api/agents/{id}/files/{path}']['query'],
    options?: Change,
  ): Promise<void>;
}

export function agents({ call }: Connection): Agents {
  return {
    list: (query, options) => call('GET /api/agents', { query, ...options }),
    get: (id, options) => call('GET /api/agents/{id}', { params: { id }, ...options }),
    create: (body, options) => call('POST /api/agents', { body, ...options }),
    update: (id, body, options) => call('PATCH /api/agents/{id}', { params: { id }, body, ...options }),
    versions: (id, query, options) => call('GET /api/agents/{id}/versions', { params: { id }, query, ...options }),
    async erase(id, options) {
      const { erasure } = await call('DELETE /api/agents/{id}', {
        params: { id },
        query: { erase: 'true' },
        ...options,
      });
      return erasure as Erasure;
    },
    async delete(id, options) {
      await call('DELETE /api/agents/{id}', { params: { id }, ...options });
    },
    pause: (id, options) => call('POST /api/agents/{id}/pause', { params: { id }, ...options }),
    resume: (id, options) => call('POST /api/agents/{id}/resume', { params: { id }, ...options }),
    send: (id, event, options) =>
      call('POST /api/agents/{id}/events', {
        params: { id },
        body: { eventId: newId(), ...event },
        isRepeatable: true,
        ...options,
      }),
    inbox: (id, query, options) => call('GET /api/agents/{id}/inbox', { params: { id }, query, ...options }),
    async redrive(id, eventIds, options) {
      const body = eventIds === undefined ? undefined : { eventIds };
      return (await call('POST /api/agents/{id}/inbox/redrive', { params: { id }, body, ...options })).eventIds;
    },
    transcript: (id, options) => call('GET /api/agents/{id}/transcript', { params: { id }, ...options }),
    goals: (id, options) => call('GET /api/agents/{id}/goals', { params: { id }, ...options }),
    memories: (id, options) => call('GET /api/agents/{id}/memories', { params: { id }, ...options }),
    plans: (id, options) => call('GET /api/agents/{id}/plans', { params: { id }, ...options }),
    draft: (id, body, options) => call('POST /api/agents/{id}/drafts', { params: { id }, body, ...options }),
    tasks: (id, query, options) => call('GET /api/agents/{id}/tasks', { params: { id }, query, ...options }),
    session: (id, query, options) => call('GET /api/agents/{id}/session', { params: { id }, query, ...options }),
    machine: (id, query, options) => call('GET /api/agents/{id}/machine', { params: { id }, query, ...options }),
    command: (id, { name, ...body }, query, options) =>
      call('POST /api/agents/{id}/machine/commands/{name}', {
        params: { id, name },
        query,
        body: { idempotencyKey: newId(), ...body },
        isRepeatable: true,
        ...options,
      }),
    files: (id, query, options) => call('GET /api/agents/{id}/files', { params: { id }, query, ...options }),
    file: (id, path, query, options) =>
      call('GET /api/agents/{id}/files/{path}', { params: { id, path }, query, ...options }),
    putFile: (id, { path, content }, query, options) =>
      call('PUT /api/agents/{id}/files/{path}', {
        params: { id, path },
        query,
        body: { content },
        // Writing the same file twice leaves it as it is.
        isRepeatable: true,
        ...options,
      }),
    async deleteFile(id, path, query, options) {
      await call('DELETE /api/agents/{id}/files/{path}', { params: { id, path }, query, ...options });
    },
  };
}
