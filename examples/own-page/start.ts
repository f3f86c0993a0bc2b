import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { z } from 'zod';
import { type ServedPage, servePage, tokenOf } from '../serve-page.ts';

export function startDesk({ port = 4175 }: { port?: number } = {}): Promise<ServedPage> {
  return servePage({ root: import.meta.dirname, port, start: startGateway, session: sessionAt });
}

const refund = tool({
  description: 'Pays a customer back.',
  inputSchema: z.object({
    letter: z.string().meta({ title: 'Letter to the customer' }),
    order: z.string().meta({ title: 'Order' }),
    euros: z.number().meta({ title: 'Amount', description: 'In euros.' }),
  }),
  approval: true,
  execute: ({ order, euros }) => `Paid ${euros} euros back for ${order}.`,
});

const resend = tool({
  description: 'Sends a parcel again.',
  inputSchema: z.object({ order: z.string() }),
  approval: true,
  execute: ({ order }) => `Sent ${order} again.`,
});

const ask = (resultSchema: object) => ({
  executionType: 'space' as const,
  description: 'Asks the people at the desk.',
  inputSchema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] } as const,
  resultSchema,
});

const LETTER = `Dear customer,\n\n${'We are sorry that your parcel was late. '.repeat(30)}\n\nYours, the support desk`;

const CALLS = {
  'money back': { toolName: 'refund', input: { letter: LETTER, order: 'A-17', euros: 40 } },
  'other address': { toolName: 'ask_address', input: { question: 'Where does the parcel go now?' } },
  'send them again': { toolName: 'resend', input: { order: 'B-2' } },
  complain: { toolName: 'ask_manager', input: { question: 'Do you call the customer?' } },
};

/** The model is scripted, so that the example needs no key: each ticket asks for something else, once. */
const model = scriptedModel(({ prompt }) => {
  const told = JSON.stringify(prompt);
  const asked = Object.entries(CALLS).find(([words, { toolName }]) => told.includes(words) && !told.includes(toolName));
  // The second parcel goes out without a question, if the answer to the first one allowed it.
  if (told.includes('Sent B-2 again.') && !told.includes('B-3')) return { toolName: 'resend', input: { order: 'B-3' } };
  return asked?.[1] ?? '';
});

async function startGateway(origin: string): Promise<TestGateway> {
  const people = [
    { name: 'Ada', externalId: 'ada' },
    { name: 'Ben', externalId: 'ben' },
  ];
  const text = { type: 'string' };
  return await startTestGateway({
    model,
    agents: [
      {
        name: 'Support',
        instructions: 'You help the desk.',
        tools: ['refund', 'resend', 'ask_address', 'ask_manager'],
      },
    ],
    tools: {
      refund,
      resend,
      ask_address: ask({
        type: 'object',
        properties: {
          street: { ...text, title: 'Street' },
          city: { ...text, title: 'City' },
          floor: { type: 'integer' },
        },
        required: ['street', 'city'],
      }),
      ask_manager: ask({ type: 'boolean' }),
    },
    spaces: ['Late parcel', 'New address', 'Lost parcels', 'Complaint'].map((name) => ({
      name,
      agents: ['Support'],
      people,
    })),
    corsOrigins: [origin],
  });
}

async function sessionAt(gateway: TestGateway): Promise<object> {
  return { url: gateway.url, token: await tokenOf(gateway, 'ada') };
}
