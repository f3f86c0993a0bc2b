import { expect, test } from 'vitest';
import { forEachTest } from '../support/for-all-tests.ts';
import { onSqlite } from '../support/stores.ts';
import { fuzz } from './fuzz.ts';

const database = forEachTest(onSqlite.create);
/** `npm run fuzz` sends 100,000 with another seed each time. Here they are the same in every run. */
const [SEED, REQUESTS] = [200, 1_000];

test('[Z8] generated requests to all endpoints get documented answers, none of them 5xx, and the invariants hold afterwards', async () => {
  const { problems, statuses } = await fuzz({ seed: SEED, requests: REQUESTS, database });
  expect(problems).toEqual([]);
  // The requests are invalid in many ways, and some are valid: otherwise the test would prove nothing.
  const ways = [200, 201, 204, 400, 401, 403, 404, 409, 415, 422];
  expect(ways.filter((status) => !statuses.has(status))).toEqual([]);
});
