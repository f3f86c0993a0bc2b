import { describe, expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { ask } from './api.ts';
import { findPlace, openSite, say } from './site.ts';
import { until } from './until.ts';

const MODEL = 'its model cannot be used.';
const KEY = 'the provider of its model has no valid key.';

describe('an agent whose model can never answer', { concurrent: true }, () => {
  test.each([
    [
      'its package is not installed',
      { LASTCALL_MODEL: 'google/any', GOOGLE_GENERATIVE_AI_API_KEY: 'sk-none-at-all' },
      'npm install',
      MODEL,
    ],
    ['there is no such provider', { LASTCALL_MODEL: 'nobody/any' }, 'There is no model', MODEL],
    ['the provider refuses its key', {}, 'Who are you?', KEY],
  ])('[G59] because %s is tried once, and the people in the space see that', async (_case, env, error, why) => {
    const refusal = { status: 401, message: 'Who are you?' };
    await using site = await openSite({ decide: (asked) => (asked.agent === 'Anna' ? { refusal } : doDuties(asked)) });
    const gateway = await site.start('a', env);
    await say(gateway.url, 'North', 'Anna: answer m1');
    const { entities, spaces } = await findPlace(gateway.url);
    const events = await until('its event is dead', async () => {
      const { items } = await ask(gateway.url, `/api/agents/${entities.Anna}/inbox?status=dead`);
      return items.length > 0 && items;
    });
    expect(events).toMatchObject([{ attempts: 1, error: { error: expect.stringContaining(error) } }]);
    const told = await site.db
      .selectFrom('stream_events')
      .select('payload')
      .where('stream', '=', `space:${spaces.North}`)
      .where('type', '=', 'agent.failed')
      .execute();
    const ofAnna = told.map(({ payload }) => JSON.parse(payload)).filter(({ entityId }) => entityId === entities.Anna);
    const text = `The agent cannot work as it is set up: ${why} It does not try again by itself.`;
    expect(ofAnna).toEqual([{ runId: expect.any(String), entityId: entities.Anna, attempt: 1, text }]);
  });
});
