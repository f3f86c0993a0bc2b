import type { Connection, RequestOptions } from '../connection.ts';
import type { Erasure, Operations } from '../wire.generated.ts';

type Ops = Operations;

/** Conversations of `chat`. Their paths begin with `/contexts`. */
export interface Conversations {
  create(
    conversation?: Ops['POST /contexts']['body'],
    options?: RequestOptions,
  ): Promise<Ops['POST /contexts']['answer']>;
  /** A conversation and its messages, oldest first, in pages. */
  get(
    id: string,
    query?: Ops['GET /contexts/{id}']['query'],
    options?: RequestOptions,
  ): Promise<Ops['GET /contexts/{id}']['answer']>;
  /** Deletes a conversation with its runs. Rejects with `context_in_use` while a run goes on in it, or a call waits. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Cancels what goes on in a conversation, erases its texts and copies of them, and then deletes it. */
  erase(id: string, options?: RequestOptions): Promise<Erasure>;
}

export function conversations({ call }: Connection): Conversations {
  return {
    create: (body = {}, options) => call('POST /contexts', { body, ...options }),
    get: (id, query, options) => call('GET /contexts/{id}', { params: { id }, query, ...options }),
    async erase(id, options) {
      const { erasure } = await call('DELETE /contexts/{id}', { params: { id }, query: { erase: 'true' }, ...options });
      return erasure as Erasure;
    },
    async delete(id, options) {
      await call('DELETE /contexts/{id}', { params: { id }, ...options });
    },
  };
}
