import type { Config } from '../config/config.ts';
import type { Settings } from '../config/settings.ts';
import type { DefaultModel } from '../models/default-model.ts';
import type { ModelFinder } from '../models/find-model.ts';
import type { Store } from '../ports/store/store.ts';

/** What a gateway found when it started. */
export interface Found {
  /** A description of the store, e.g. `SQLite in .lastcall`. */
  readonly store: string;
  /** The model of agents that name none, and why it is that one. */
  readonly model: DefaultModel;
  /** Why some agents cannot work with their model, or why a better model is not used, with the command that fixes it. */
  readonly problems: readonly string[];
  readonly agents: number;
  /** The tools of the file and of the registry. Built-in tools and tools of MCP servers do not count. */
  readonly tools: number;
  readonly spaces: number;
}

interface Looked {
  readonly store: Store;
  readonly config: Config;
  readonly settings: Settings;
  readonly models: ModelFinder;
}

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
