import { Agent, request } from 'node:http';

/** Posts JSON on connections that are kept alive. Resolves with the answer. */
export interface HttpSender {
  post(path: string, body: unknown): Promise<string>;
  close(): void;
}

export function openHttpSender(url: string, headers: Readonly<Record<string, string>> = {}): HttpSender {
  const agent = new Agent({ keepAlive: true });
  return { post: (path, body) => post(`${url}${path}`, { body, headers, agent }), close: () => agent.destroy() };
}

function post(
  url: string,
  { body, headers, agent }: { body: unknown; headers: Readonly<Record<string, string>>; agent: Agent },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const text = JSON.stringify(body);
  const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, (answer) => {
    let read = '';
    answer.setEncoding('utf8').on('data', (piece: string) => (read += piece));
    answer.on('end', () => {
      if ((answer.statusCode ?? 0) < 300) resolve(read);
      else reject(new Error(`${url} answered ${answer.statusCode}: ${read}`));
    });
  });
  sent.on('error', reject);
  sent.end(text);
  return promise;
}
