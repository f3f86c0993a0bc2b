import type { Config } from '../config/config.ts';
import type { Settings } from '../config/settings.ts';
import type { ModelFinder } from '../models/find-model.ts';
import type { Store } from '../ports/store/store.ts';
import type { Found } from './found.ts';

interface Looked {
  readonly store: Store;
  readonly config: Config;
  readonly settings: Settings;
  readonly models: ModelFinder;
}

/** This is not in found.ts, because the types of the package name what was found, and would load those of the whole store with it. */
export async function lookAround({ store, config, settings, models }: Looked): Promise<Found> {
  const count = async (table: 'tools' | 'spaces'): Promise<number> => {
    const rows = store.db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count'));
    return Number((await rows.executeTakeFirstOrThrow()).count);
  };
  const agents = await store.db
    .selectFrom('agents')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '!=', 'deleted')
    .executeTakeFirstOrThrow();
  return {
    store: storeInWords(settings),
    model: await models.default,
    problems: await models.problems(config.agents.map(({ model }) => model)),
    agents: Number(agents.count),
    tools: Object.keys(config.tools).length + (await count('tools')),
    spaces: await count('spaces'),
  };
}

/** The address of the database, without user and password. */
function storeInWords({ databaseUrl, home }: Settings): string {
  if (databaseUrl === undefined) return `SQLite in ${home}`;
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${host}${pathname}`;
}
