import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPooler, throughPooler } from '../support/pooler.ts';
import { type Database, onPostgres } from '../support/stores.ts';
import type { Pooler } from '../support/test-pooler.ts';
import { doDuties } from './answering.ts';
import { SECRET_KEY } from './api.ts';
import { openCrew } from './crew.ts';
import { findPlace, openSite, say } from './site.ts';

let database: Database;
let pooler: Pooler;
beforeAll(async () => {
  database = await onPostgres.create();
  pooler = await startPooler(database.location);
});
afterAll(async () => {
  await pooler[Symbol.asyncDispose]();
  await database.remove();
});

test('[G37] [G38] [G48] two gateways behind a pooler in transaction mode notify each other, and one takes over when the other is killed inside a call', async () => {
  const inside = Promise.withResolvers<string>();
  let isKilled = false;
  await using crew = await openCrew({
    kind: 'postgres',
    isPooled: true,
    leaseMs: 4_000,
    decide: doDuties,
    async onTool({ gateway }) {
      inside.resolve(gateway);
      if (!isKilled) await new Promise(() => {});
    },
  });
  const [a, b] = [crew.named('a'), crew.named('b')];
  const shown = [a, b].map(({ url }) => shows(url, 'Answer to m1.'));
  await say(a.url, 'North', 'Anna: answer m1');
  // Both gateways stream the answer. Only one of them has written it.
  await Promise.all(shown);
  await say(crew.first.url, 'North', 'Anna: charge m2');
  const victim = await inside.promise;
  isKilled = true;
  await crew.crash(victim);
  await crew.answered('m2');
  expect(await crew.problems()).toEqual([]);
  expect(await crew.site.effects()).toHaveLength(1);
});

test('a gateway behind a pooler in transaction mode refuses to start without a direct URL, and says what to do', async () => {
  const databaseUrl = throughPooler(database.location, pooler);
  await using site = await openSite({ databaseUrl, decide: doDuties });
  const { code, output } = await site.runToEnd();
  expect(code).toBe(1);
  expect(output).toMatch(/^A connection pooler in transaction mode answers at 127\.0\.0\.1:\d+\./);
  expect(output).toContain('Set DATABASE_DIRECT_URL to the address of the PostgreSQL server itself');
  expect(output).not.toContain('    at ');

  const twice = await site.runToEnd({ DATABASE_DIRECT_URL: databaseUrl });
  expect(twice.code).toBe(1);
  expect(twice.output).toContain(
    'which is DATABASE_DIRECT_URL. Set it to the address of the PostgreSQL server itself.',
  );
});

/** Resolves once the stream of the space in the north has shown the text. */
async function shows(url: string, text: string): Promise<void> {
  const { spaces } = await findPlace(url);
  const { body } = await fetch(`${url}/api/spaces/${spaces.North}/stream`, {
    headers: { authorization: `Bearer ${SECRET_KEY}` },
  });
  let shown = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    shown += piece;
    if (shown.includes(text)) return;
  }
}
