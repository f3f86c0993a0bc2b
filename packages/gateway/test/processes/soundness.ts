import { problemsOfCards, problemsOfEffects } from './check-effects.ts';
import { problemsOfSessions } from './check-sessions.ts';
import { problemsOfStore } from './check-store.ts';
import { problemsOfStreams } from './check-streams.ts';
import type { Site } from './site.ts';

/** Nothing waits, nothing runs, nobody holds anything. */
export async function isIdle({ db }: Pick<Site, 'db'>): Promise<boolean> {
  const waiting = await db
    .selectFrom('inbox_events')
    .select('id')
    .where('status', 'in', ['pending', 'claimed'])
    .execute();
  const held = await db.selectFrom('threads').select('id').where('lease_owner', 'is not', null).execute();
  return waiting.length === 0 && held.length === 0;
}

/** Everything that must hold of a database at rest, whatever happened to its gateways. */
export async function problemsOf({ db, model, effects }: Pick<Site, 'db' | 'model' | 'effects'>): Promise<string[]> {
  return [
    ...(await problemsOfStore(db)),
    ...(await problemsOfStreams(db)),
    ...(await problemsOfSessions(db)),
    ...(await problemsOfEffects(db, await effects())),
    ...(await problemsOfCards(db)),
    ...model.problems,
  ];
}
