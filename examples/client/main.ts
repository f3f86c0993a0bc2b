import { createClient } from '@lastcall/client';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway } from '@lastcall/gateway/testing';

// A gateway with a scripted model, so that the example prints the same every time. Your gateway runs elsewhere.
const gateway = await startTestGateway({
  model: scriptedModel([
    { toolName: 'confirm_booking', input: { city: 'Tokyo' } },
    // Nothing to say until the answer comes.
    '',
    'Booked. Have a good trip!',
  ]),
  agents: [{ name: 'Concierge', instructions: 'You book hotels.', tools: ['confirm_booking'] }],
  tools: {
    confirm_booking: {
      executionType: 'space',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      resultSchema: { type: 'boolean' },
    },
  },
  spaces: [{ name: 'Travel desk', agents: ['Concierge'], people: [{ name: 'Ada', externalId: 'ada' }] }],
});

// Your server has the secret key, and gives each person a separate token.
const server = createClient({ url: gateway.url, auth: { key: gateway.secretKey } });
const [ada] = (await server.entities.list({ externalId: 'ada' })).items;
const token = async (): Promise<string> => (await server.entities.token(ada?.id ?? '')).token;

// This is Ada's page. It requests another token whenever the gateway no longer accepts the old one.
const page = createClient({ url: gateway.url, auth: { token } });
const [space] = (await page.spaces.list()).items;
const spaceId = space?.id ?? '';
await page.spaces.say(spaceId, { text: 'Book a hotel in Tokyo, please.' });

for await (const event of page.spaces.stream(spaceId, { after: 0 })) {
  if (event.type === 'message.complete') console.log('message:', event.message.text);
  if (event.type === 'tool-call.requires-action') {
    const { callId = '', runId = '', metadata } = event.message;
    console.log('waiting:', metadata.toolName, metadata.input);
    console.log('answer:', (await page.pending.answer({ callId, runId }, { result: true })).status);
    console.log('too late:', (await server.pending.answer({ callId, runId }, { result: false })).status);
  }
  if (event.type === 'tool-call.complete') console.log('answered by:', event.message.call?.by?.name);
  if (event.type === 'message.complete' && event.message.text.startsWith('Booked')) break;
}
await gateway.stop();
