import { problemsOfCards, problemsOfEffects } from './check-effects.ts';
import { problemsOfSessions } from './check-sessions.ts';
import { problemsOfStore } from './check-store.ts';
import { problemsOfStreams } from './check-streams.ts';
import type { Site } from './site.ts';

/** No event waits, no run is open, and no thread is held. */
export async function isIdle({ db, gateways }: Pick<Site, 'db' | 'gateways'>): Promise<boolean> {
  const events = db.selectFrom('inbox_events').select('id').where('status', 'in', ['pending', 'claimed']);
  const runs = db.selectFrom('runs').select('id').where('status', '=', 'running');
  if ((await events.execute()).length > 0 || (await runs.execute()).length > 0) return false;
  const threads = await db.selectFrom('threads').select('lease_owner').where('lease_owner', 'is not', null).execute();
  return threads.every(({ lease_owner: owner }) => owner === null || isOfKilled(gateways, owner));
}

/** Everything that must hold of a database at rest, whatever happened to its gateways. */
export async function problemsOf({
  db,
  model,
  effects,
  gateways,
}: Pick<Site, 'db' | 'model' | 'effects' | 'gateways'>): Promise<string[]> {
  return [
    ...(await problemsOfStore(db, { isDead: (owner) => isOfKilled(gateways, owner) })),
    ...(await problemsOfStreams(db)),
    ...(await problemsOfSessions(db)),
    ...(await problemsOfEffects(db, await effects())),
    ...(await problemsOfCards(db)),
    ...model.problems,
  ];
}

/** True for the name under which a killed process held threads: host, process id and a random part. */
function isOfKilled(gateways: Site['gateways'], owner: string): boolean {
  return gateways.some(({ pid, isKilled }) => isKilled && owner.split(':').at(-2) === String(pid));
}
