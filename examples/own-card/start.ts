import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway } from '@lastcall/gateway/testing';
import { type ServedPage, servePage, tokenOf } from '../serve-page.ts';

export function startOwnCard({ port = 4174 }: { port?: number } = {}): Promise<ServedPage> {
  return servePage({ root: import.meta.dirname, port, start: startStation, session: sessionAt });
}

/** The tool names its component: `display.customUI`. The model is scripted, so that the example needs no key. */
async function startStation(origin: string): Promise<TestGateway> {
  const seats = ['1A', '1B', '1C', '2A', '2B', '2C'];
  const list = { type: 'array', items: { type: 'string' } };
  return await startTestGateway({
    model: scriptedModel([
      { toolName: 'choose_seats', input: { train: 'IC 708', seats, taken: ['1B'] } },
      // Nothing to say until the choice is made.
      '',
      'They are yours. Have a good trip!',
    ]),
    agents: [{ name: 'Clerk', instructions: 'You sell seats.', tools: ['choose_seats'] }],
    tools: {
      choose_seats: {
        executionType: 'space',
        description: 'Asks which seats to take.',
        display: { customUI: 'seatMap' },
        inputSchema: {
          type: 'object',
          properties: { train: { type: 'string' }, seats: list, taken: list },
          required: ['train', 'seats', 'taken'],
        },
        resultSchema: {
          type: 'object',
          properties: { seats: { type: 'array', items: { enum: seats }, minItems: 1 } },
          required: ['seats'],
        },
      },
    },
    spaces: [{ name: 'Station', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
    corsOrigins: [origin],
  });
}

async function sessionAt(gateway: TestGateway): Promise<object> {
  const [{ id: spaceId }] = (await gateway.api('/api/spaces')).items;
  return { url: gateway.url, spaceId, token: await tokenOf(gateway, 'ada') };
}
