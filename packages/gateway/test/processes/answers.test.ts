import { expect, test } from 'vitest';
import { doDuties } from './answering.ts';
import { type ApiAnswer, ask, request } from './api.ts';
import { type Crew, openCrew } from './crew.ts';
import { say } from './site.ts';
import { until } from './until.ts';

test('[G31] of ten different answers at once through two gateways one wins, and nine learn what won: one event of a result, one execution of an approval, with what the winner made of the input', async () => {
  await using crew = await openCrew({ kind: 'postgres', decide: doDuties });
  const answers = await answerTenTimes(crew, 'confirm m1', (index) => ({
    result: { confirmed: index % 2 === 0, index },
  }));
  const { won, lost } = tell(answers);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  for (const { body } of lost)
    expect(body.error.details.answer).toEqual({ result: { confirmed: won % 2 === 0, index: won } });
  expect(await crew.problems()).toEqual([]);
  const events = await crew.site.db
    .selectFrom('inbox_events')
    .select('payload')
    .where('type', '=', 'tool_result')
    .execute();
  expect(events).toHaveLength(1);
  expect(events[0]?.payload).toContain(`"index":${won}`);

  const approvals = await answerTenTimes(crew, 'transfer m2', (index) => ({
    approve: true,
    input: { ref: `edit${index}` },
  }));
  const approved = tell(approvals);
  expect(approvals.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
  await until('it ran', async () => (await crew.site.effects()).length > 0);
  expect(await crew.problems()).toEqual([]);
  expect((await crew.site.effects()).map(({ ref }) => ref)).toEqual([`edit${approved.won}`]);
});

/** Sends all at once, half of them through each gateway. */
async function answerTenTimes(crew: Crew, duty: string, answer: (index: number) => object): Promise<ApiAnswer[]> {
  await say(crew.first.url, 'North', `Anna: ${duty}`);
  const { callId, runId } = await until(
    'a card waits',
    async () => (await ask(crew.first.url, '/api/pending')).items[0],
  );
  return await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      request(crew.named(index % 2 === 0 ? 'a' : 'b').url, `/api/runs/${runId}/tool-results`, {
        body: { callId, ...answer(index) },
      }),
    ),
  );
}

function tell(answers: readonly ApiAnswer[]): { won: number; lost: ApiAnswer[] } {
  return {
    won: answers.findIndex(({ status }) => status === 200),
    lost: answers.filter(({ status }) => status === 409),
  };
}
