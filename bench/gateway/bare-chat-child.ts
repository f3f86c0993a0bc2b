// What a gateway's POST /chat is compared with: a route that runs the same tools in memory and stores nothing.
import { serve } from '@hono/node-server';
import { generateText, isStepCount, tool } from 'ai';
import { Hono } from 'hono';
import { z } from 'zod';
import { task } from '../overhead/contender.ts';
import { countingModel } from '../overhead/counting-model.ts';

const steps = Number(process.argv[2] ?? 10);
const add = tool({
  description: task.description,
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

const app = new Hono();
app.post('/chat', async (c) => {
  const { message } = await c.req.json<{ message: string }>();
  const { text } = await generateText({
    model: countingModel(steps),
    prompt: message,
    tools: { add },
    stopWhen: isStepCount(steps + 1),
  });
  return c.json({ response: text });
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  process.send?.({ url: `http://127.0.0.1:${port}` }),
);
process.once('disconnect', () => server.close(() => process.exit()));
