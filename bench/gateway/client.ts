import { Agent, type IncomingMessage, request } from 'node:http';
import type { Room } from './filling.ts';
import type { BenchGateway } from './start-gateway.ts';

const connections = new Agent({ keepAlive: true });

/** Posts a message on behalf of a person. Resolves with the status of the response. */
export function post(gateway: BenchGateway, { spaceId, personId }: Room, text: string): Promise<number> {
  return send(gateway, `/api/spaces/${spaceId}/messages`, { text, entityId: personId }, connections);
}

/** Pushes an event on a new connection: the server may close one that was kept alive just before the next event. */
export function push(gateway: BenchGateway, agentId: string): Promise<number> {
  return send(gateway, `/api/agents/${agentId}/events`, { source: 'bench', name: 'go' }, false);
}

function send({ url, secretKey }: BenchGateway, path: string, given: object, agent: Agent | false): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const body = JSON.stringify(given);
  const sent = request(
    `${url}${path}`,
    {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    },
    (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    },
  );
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

/** A client that watches a space. */
export interface Watcher {
  /** Resolves with the moment at which the first byte of the next such event came. */
  next(type: string): Promise<number>;
  close(): void;
}

export async function watch({ url, secretKey }: BenchGateway, spaceId: string): Promise<Watcher> {
  const waiting = new Map<string, (at: number) => void>();
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { authorization: `Bearer ${secretKey}`, accept: 'text/event-stream' };
  const sent = request(`${url}/api/spaces/${spaceId}/stream`, { headers, agent: false }, resolve);
  sent.on('error', reject);
  sent.end();
  const stream = await promise;
  if (stream.statusCode !== 200) throw new Error(`The stream was refused: ${stream.statusCode}.`);
  stream.on('error', () => {});
  // An event's frame comes whole in one chunk: its type is never split.
  stream.setEncoding('utf8').on('data', (piece: string) => {
    const at = performance.now();
    for (const [, type = ''] of piece.matchAll(/^event: (.*)$/gm)) {
      waiting.get(type)?.(at);
      waiting.delete(type);
    }
  });
  return {
    next(type) {
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting.set(type, resolve);
      return promise;
    },
    close: () => void sent.destroy(),
  };
}
