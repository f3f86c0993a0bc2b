import type { Connection, RequestOptions } from '../connection.ts';
import type { Operations } from '../wire.generated.ts';

type List = Operations['GET /api/notifications'];
type Targets = Operations['GET /api/notifications/targets'];
type Test = Operations['POST /api/notifications/targets/{name}/test'];
type Retry = Operations['POST /api/notifications/{id}/retry'];
type Opened = Operations['POST /api/card-links'];

/** What people were notified of. */
export interface Notifications {
  /** A page of notifications, newest first. */
  list(query?: List['query'], options?: RequestOptions): Promise<List['answer']>;
  /** The targets of the configuration file. */
  targets(options?: RequestOptions): Promise<Targets['answer']>;
  /** Sends a message without content. Its status says later whether it arrived. */
  test(target: string, options?: RequestOptions): Promise<Test['answer']>;
  /** Sends a notification again that was given up. */
  retry(id: string, options?: RequestOptions): Promise<Retry['answer']>;
  /** Uses the code of a link, once. The token is for the one call, as the person whom the link was sent to. */
  openLink(code: string, options?: RequestOptions): Promise<Opened['answer']>;
}

export function notifications({ call }: Connection): Notifications {
  return {
    list: (query, options) => call('GET /api/notifications', { query, ...options }),
    targets: (options) => call('GET /api/notifications/targets', { ...options }),
    test: (name, options) => call('POST /api/notifications/targets/{name}/test', { params: { name }, ...options }),
    retry: (id, options) => call('POST /api/notifications/{id}/retry', { params: { id }, ...options }),
    openLink: (code, options) => call('POST /api/card-links', { body: { code }, ...options }),
  };
}
