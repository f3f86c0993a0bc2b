// A client in a separate process: posts what it gets over IPC, and reports when it began and when it had finished.
import { Agent, request } from 'node:http';

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface PostingOrder {
  readonly posts: readonly Post[];
  /** The number of requests at a time, each on a connection that is kept alive, distributed over the servers. */
  readonly connections: number;
}

/** Milliseconds since the epoch, the same clock in all processes of this machine. */
export interface Posted {
  readonly startedAt: number;
  readonly endedAt: number;
}

process.once('disconnect', () => process.exit());
process.once('message', (order: PostingOrder) => void obey(order));

async function obey({ posts, connections }: PostingOrder): Promise<void> {
  const byOrigin = [...Map.groupBy(posts, ({ url }) => new URL(url).origin).values()];
  const startedAt = Date.now();
  await Promise.all(byOrigin.map((all) => postAll(all, Math.ceil(connections / byOrigin.length))));
  process.send?.({ startedAt, endedAt: Date.now() } satisfies Posted);
}

/** Each connection has one loop, which sends the next request at once: an idle connection may be closed just as it is used again. */
async function postAll(posts: readonly Post[], connections: number): Promise<void> {
  const waiting = posts.values();
  const postRest = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const post of waiting) await send(post, agent);
    agent.destroy();
  };
  await Promise.all(Array.from({ length: connections }, postRest));
}

function send({ url, headers, body }: Post, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const text = JSON.stringify(body);
  const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, (answer) => {
    const { statusCode = 0 } = answer;
    answer.resume();
    answer.on('end', () => (statusCode < 300 ? resolve() : reject(new Error(`${url} answered ${statusCode}.`))));
  });
  sent.on('error', reject);
  sent.end(text);
  return promise;
}
