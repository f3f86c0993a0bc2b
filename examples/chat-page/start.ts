import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { build, type InlineConfig, type Plugin, preview } from 'vite';
import { z } from 'zod';

export interface ChatPageExample {
  readonly url: string;
  readonly gateway: TestGateway;
  /** What was really paid. */
  readonly paid: readonly number[];
  stop(): Promise<void>;
}

/** Builds the page, serves it, and starts a gateway that the page may use from its own origin. */
export async function startChatPage({ port = 4173 }: { port?: number } = {}): Promise<ChatPageExample> {
  let session: () => Promise<object> = async () => ({});
  const options: InlineConfig = {
    root: import.meta.dirname,
    configFile: false,
    logLevel: 'error',
    build: { target: 'es2022' },
    plugins: [sessionOf(() => session())],
  };
  await build(options);
  const server = await preview({ ...options, preview: { port, host: '127.0.0.1' } });
  const url = server.resolvedUrls?.local[0] ?? '';
  const paid: number[] = [];
  const gateway = await startTestGateway({
    model: cashierModel(),
    agents: [{ name: 'Cashier', instructions: 'You pay what people ask for.', tools: ['pay'] }],
    tools: { pay: payTool(paid) },
    spaces: [{ name: 'Shop', agents: ['Cashier'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    corsOrigins: [new URL(url).origin],
  });
  session = () => sessionAt(gateway);
  return {
    url,
    gateway,
    paid,
    async stop() {
      await server.close();
      await gateway.stop();
    },
  };
}

function payTool(paid: number[]) {
  return tool({
    description: 'Pays an amount in euros.',
    inputSchema: z.object({ amount: z.number() }),
    approval: true,
    execute: ({ amount }) => {
      paid.push(amount);
      return `Paid ${amount} euros.`;
    },
  });
}

/** The model is scripted, so that the example needs no key: it pays the number in the last message, and reports the result. */
function cashierModel() {
  return scriptedModel(({ prompt }) => {
    const last = prompt.at(-1);
    const text = JSON.stringify(last?.content);
    if (last?.role === 'tool') return text.includes('denied') ? 'Then I leave it.' : 'It is paid. Anything else?';
    const amount = Number(/\d+/.exec(text)?.[0] ?? 0);
    return { text: 'This needs your approval.', calls: [{ toolName: 'pay', input: { amount } }] };
  });
}

/** In your application, your own server serves `/session` for the person who is logged in there. The secret key stays on the server. */
function sessionOf(session: () => Promise<object>): Plugin {
  return {
    name: 'session',
    configurePreviewServer({ middlewares }) {
      middlewares.use('/session', (_request, response) => {
        void session().then((body) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body)));
      });
    },
  };
}

async function sessionAt({ url, api }: TestGateway): Promise<object> {
  const [{ id: agentId }] = (await api('/api/agents')).items;
  const { items } = await api('/api/entities');
  const { id: adaId } = items.find(({ externalId }: { externalId?: string }) => externalId === 'ada');
  const { token } = await api(`/api/entities/${adaId}/token`, {});
  return { api: `${url}/api/agents/${agentId}/chat`, token };
}
