import { expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { request } from './api.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { openWay } from './severable-database.ts';
import { openSite, relay } from './site.ts';
import { until } from './until.ts';

/** Prints in every way that foreign code may: while it is loaded, and from a tool. */
const TALKATIVE = `import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
console.log('loaded,', { with: 'details' });
console.error('in two\\nlines');
process.emitWarning('an odd thing');
export default processConfig;
`;

test('[G43] every line of a gateway is one JSON object, or the text of its start, also while its database is away', async () => {
  await using way = await openWay();
  await using site = await openSite({ databaseUrl: way.url, decide: doDuties, config: TALKATIVE });
  const gateway = await site.start('a', { LASTCALL_LOG_LEVEL: 'trace' });
  way.proxy.cut();
  await until('it is noticed', () => gateway.printed.out.includes('The bus lost a connection'));
  expect((await request(gateway.url, '/ready')).status).toBe(503);
  way.proxy.mend();
  await until('it is back', async () => (await request(gateway.url, '/ready')).status === 200);
  await relay(gateway.url, 'South', 'Cleo: answer m2');
  await until('it goes on', async () => {
    const said = await site.db.selectFrom('messages').select('id').where('content', 'like', '"Answer to%').execute();
    return said.length === 1;
  });
  gateway.send('SIGTERM');
  await gateway.exited;
  expect(linesOf(gateway).filter((line) => !isJson(line))).toEqual([
    expect.stringMatching(/^Lastcall listens on http/),
  ]);
  for (const text of ['loaded, { with:', 'in two\\nlines', 'an odd thing']) expect(gateway.printed.out).toContain(text);
});

test('an unhandled error ends the gateway with 1, and is one line of JSON', async () => {
  const config = `process.on('SIGUSR2', () => { throw new Error('nobody handles me'); });
export default {};
`;
  await using site = await openSite({ decide: doDuties, config });
  const gateway = await site.start('a');
  gateway.send('SIGUSR2');
  expect(await gateway.exited).toEqual({ code: 1, signal: null });
  const [dying] = linesOf(gateway).filter((line) => line.includes('nobody handles me'));
  expect(JSON.parse(dying ?? '')).toMatchObject({ level: 50, details: { message: 'nobody handles me' } });
  expect(linesOf(gateway).filter((line) => !isJson(line))).toEqual([expect.stringMatching(/^Lastcall listens on/)]);
});

function linesOf({ printed: { out, err } }: GatewayProcess): string[] {
  return `${out}\n${err}`.split('\n').filter((line) => line !== '');
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
