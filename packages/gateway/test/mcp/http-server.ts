import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { startWebSite, type WebSite } from '../support/web-site.ts';
import { type Files, type Message, MisbehavingServer } from './misbehaving-server.ts';

/** The misbehaving server over Streamable HTTP, with sessions that end with it. */
export async function startHttpServer(files: Files, { port = 0 }: { port?: number } = {}): Promise<WebSite> {
  const session = `session-${Math.random()}`;
  const server = new (class extends MisbehavingServer {
    override die(): void {
      for (const response of open) response.destroy();
    }
  })(files);
  const open = new Set<ServerResponse>();
  return await startWebSite(
    async ({ method, headers, body }, response) => {
      if (method === 'GET') return response.writeHead(405).end();
      if (method === 'DELETE') return response.writeHead(200).end();
      const message = JSON.parse(body) as Message;
      if (
        message.method !== 'initialize' &&
        message.method !== 'server/discover' &&
        headers['mcp-session-id'] !== session
      )
        return response.writeHead(404).end();
      if (message.id === undefined) {
        await server.handle(message, () => {});
        return response.writeHead(202).end();
      }
      response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': session });
      response.flushHeaders();
      open.add(response);
      response.once('close', () => open.delete(response));
      return await server.handle(message, (sent) => {
        response.write(`event: message\ndata: ${JSON.stringify(sent)}\n\n`);
        if ('id' in sent && !('method' in sent)) response.end();
      });
    },
    { port },
  );
}

/** The same as a separate process, so that its work is not done in the process of the gateway. */
export async function startHttpProcess(files: Files): Promise<Pick<WebSite, 'url' | 'host'> & AsyncDisposable> {
  const script = new URL('http-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, files.log, files.state], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [host] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return {
    host: host.trim(),
    url: `http://${host.trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
