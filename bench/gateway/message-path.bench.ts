import { Session } from 'node:inspector/promises';
import { scriptedModel } from '@lastcall/core/testing';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import type { Report } from '../report.ts';
import { type BenchDatabase, openDatabases } from './databases.ts';

/** How much of our code one posted message runs through. It counts, so it needs no quiet machine. */
export async function benchGatewayMessagePath(): Promise<Report> {
  const databases = openDatabases();
  try {
    const sqlite = await pathOn(await databases.sqlite());
    const postgres = await pathOn(await databases.postgres());
    const row = (name: string, { files, functions }: Path): (string | number)[] => [name, files, functions];
    return {
      title: 'The code that one posted message runs through',
      claim:
        'A person posts a message over HTTP; the agent wakes, calls `send_message`, and its run ends. Counted by V8: the functions of ' +
        '`packages/*/src` that ran in between, and the files they are in, after twenty messages to warm up.',
      columns: ['store', 'files', 'functions'],
      rows: [row('SQLite', sqlite), row('PostgreSQL', postgres)],
    };
  } finally {
    await databases.close();
  }
}

interface Path {
  readonly files: number;
  readonly functions: number;
}

const WARM_UP = 20;

async function pathOn({ settings }: BenchDatabase): Promise<Path> {
  const replies = (count: number) =>
    Array.from({ length: count }, () => [[{ toolName: 'send_message', input: { text: 'Noted.' } }], 'Done.']).flat();
  await using gateway = await startTestGateway({
    ...settings,
    model: scriptedModel(replies(WARM_UP + 1)),
    agents: [{ name: 'Clerk', instructions: 'You keep the books.' }],
    spaces: [{ name: 'Desk', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
  });
  const { items } = await gateway.api('/api/spaces');
  const spaceId: string = items[0].id;
  for (let count = 0; count < WARM_UP; count++) await postAndWait(gateway, spaceId);
  return await countFunctions(() => postAndWait(gateway, spaceId));
}

async function postAndWait(gateway: TestGateway, spaceId: string): Promise<void> {
  const people = (await gateway.api('/api/entities?kind=human')).items;
  await gateway.api(`/api/spaces/${spaceId}/messages`, { entityId: people[0].id, text: 'Note this.' });
  await waitFor(async () => (await gateway.api('/api/runs?status=running')).items.length === 0 || undefined);
}

async function countFunctions(work: () => Promise<void>): Promise<Path> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const ours = result.filter(({ url }) => /\/packages\/\w+\/src\//.test(url) && !url.includes('/testing/'));
  const ran = ours.map(
    ({ functions }) =>
      functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0).length,
  );
  return { files: ran.filter((count) => count > 0).length, functions: ran.reduce((sum, count) => sum + count, 0) };
}
