// Loaded into the demo's processes before anything else (`env` of `heldDemo`): its slow tools take as long as the test wants, and no
// test has to be quicker than a payment.
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const sleep = timers.setTimeout;

/** Only the demo's tools wait with a signal here. Retries of HTTP tools and of lost connections do too, but this demo has none. */
const hold: typeof sleep = async (delay, value, options) => {
  if (options?.signal === undefined) return await sleep(delay, value, options);
  while (!existsSync(process.env.TEST_LET_GO ?? '')) await sleep(20, undefined, options);
  return value as never;
};

timers.setTimeout = hold;
syncBuiltinESMExports();
