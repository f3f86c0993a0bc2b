import { expect, test } from 'vitest';
import { post, SECRETS, send } from '../hooks/senders.ts';
import { doDuties } from './answering.ts';
import { openCrew } from './crew.ts';
import { until } from './until.ts';

const config = `
import { processConfig } from '${new URL('./tools-config.ts', import.meta.url).href}';
export default {
  ...processConfig,
  secrets: ['FORGE_SECRET'],
  hooks: { forge: { agent: 'Anna', verify: 'github', secret: '\${env.FORGE_SECRET}' } },
};
`;

test('[O7] a gateway is killed between the receipt of an event and its commit: the service sends it again, and it is in the inbox once', async () => {
  await using crew = await openCrew({
    kind: 'postgres',
    decide: doDuties,
    config,
    env: { FORGE_SECRET: SECRETS.github },
  });
  const stored = async (): Promise<number> =>
    (await crew.site.db.selectFrom('inbox_events').select('id').where('event_id', '=', 'hook:forge:d1').execute())
      .length;
  const sent = send('github', { id: 'd1' });

  // The transaction has to wait for the agent, and its gateway dies meanwhile.
  const client = await crew.connect();
  await client.query('begin');
  await client.query(`select id from agents where name = 'Anna' for update`);
  const cutOff = post(crew.named('a').url, 'forge', sent).then(
    () => 'answered',
    () => 'cut off',
  );
  await until('the event waits for the agent', async () => {
    await client.query('select pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ n: string }>(
      `select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return Number(rows[0]?.n) > 0;
  });
  await crew.named('a').kill();
  expect(await cutOff).toBe('cut off');
  await client.query('commit');
  await client.end();
  expect(await stored()).toBe(0);

  const { url } = crew.named('b');
  expect((await post(url, 'forge', sent)).json).toEqual({ ok: true, duplicate: false });
  expect((await post(url, 'forge', sent)).json).toEqual({ ok: true, duplicate: true });
  expect(await stored()).toBe(1);
});
