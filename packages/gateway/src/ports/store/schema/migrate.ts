import { type Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import type { Dialect } from '../dialect.ts';
import { StoreRefused } from '../store-error.ts';
import { initial } from './migrations/0001-initial.ts';
import { FRAMES_WITHOUT_TAGS, framesWithoutTags } from './migrations/0036-frames-without-tags.ts';
import { oneWordEach } from './migrations/0037-one-word-each.ts';
import { modes } from './migrations/0038-modes.ts';
import { subAgentTurns } from './migrations/0039-sub-agent-turns.ts';
import { files } from './migrations/0040-files.ts';
import { spaceNumbers } from './migrations/0041-space-numbers.ts';
import { usage } from './migrations/0042-usage.ts';
import { planSetters } from './migrations/0043-plan-setters.ts';
import { projects } from './migrations/0044-projects.ts';
import { callNodes } from './migrations/0045-call-nodes.ts';
import { audit } from './migrations/0046-audit.ts';
import { erasures } from './migrations/0047-erasures.ts';
import { notifications } from './migrations/0049-notifications.ts';
import { grants } from './migrations/0050-grants.ts';
import { attachments } from './migrations/0051-attachments.ts';
import { forks } from './migrations/0052-forks.ts';
import { filesOfConversations } from './migrations/0053-files-of-conversations.ts';
import { evaluations } from './migrations/0054-evaluations.ts';
import { callStatuses } from './migrations/0055-call-statuses.ts';
import { search } from './migrations/0056-search.ts';
import { archivedSpaces } from './migrations/0057-archived-spaces.ts';
import { toolsOfSubAgents } from './migrations/0058-tools-of-sub-agents.ts';
import { reasoningTokens } from './migrations/0059-reasoning-tokens.ts';
import { endedWaits } from './migrations/0060-ended-waits.ts';
import { callsByTool } from './migrations/0061-calls-by-tool.ts';
import { LAST_OF_TWO_TABLES, ONE_TABLE, upgradeFrom0034 } from './migrations/upgrade-from-0034.ts';
import type { Tables } from './tables.ts';

/** A database without it was not made by Lastcall. */
export const FIRST_MIGRATION = '0001-initial';

/**
 * How long one statement of an upgrade waits for a lock. While it waits, all other gateways wait behind it for the same table, and for those
 * that the upgrade has changed already: until the end of a backup, that could be hours.
 */
const LOCK_MS = 2_000;

/** Waiting for another gateway that upgrades has no limit: that lock is taken before. */
async function limitLocks(tx: Parameters<Migration['up']>[0], dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await sql.raw(`set local lock_timeout = ${LOCK_MS}`).execute(tx);
}

function withLimitedLocks({ up }: Migration, dialect: Dialect): Migration {
  return {
    async up(tx) {
      await limitLocks(tx, dialect);
      await up(tx);
    },
  };
}

/** Forward only, in this order, each once. A migration that was released is never changed. */
function migrations(dialect: Dialect): Record<string, Migration> {
  return {
    [FIRST_MIGRATION]: initial(dialect),
    [ONE_TABLE]: { async up() {} },
    [FRAMES_WITHOUT_TAGS]: framesWithoutTags(dialect),
    '0037-one-word-each': oneWordEach,
    '0038-modes': modes(dialect),
    '0039-sub-agent-turns': subAgentTurns(dialect),
    '0040-files': files(dialect),
    '0041-space-numbers': spaceNumbers,
    '0042-usage': usage(dialect),
    '0043-plan-setters': planSetters(dialect),
    '0044-projects': projects(dialect),
    '0045-call-nodes': callNodes(dialect),
    '0046-audit': audit(dialect),
    '0047-erasures': erasures(dialect),
    '0049-notifications': notifications(dialect),
    '0050-grants': grants(dialect),
    '0051-attachments': attachments(dialect),
    '0052-forks': forks(dialect),
    '0053-files-of-conversations': filesOfConversations,
    '0054-evaluations': evaluations(dialect),
    '0055-call-statuses': callStatuses(dialect),
    '0056-search': search(dialect),
    '0057-archived-spaces': archivedSpaces(),
    '0058-tools-of-sub-agents': toolsOfSubAgents(),
    '0059-reasoning-tokens': reasoningTokens(),
    '0060-ended-waits': endedWaits(),
    '0061-calls-by-tool': callsByTool(),
  };
}

/**
 * Brings the tables up to date. Most starts find nothing to do, and then take no lock. Of two gateways that start at once, one migrates
 * and one waits.
 */
export async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const known = Object.fromEntries(
    Object.entries(migrations(dialect)).map(([name, migration]) => [name, withLimitedLocks(migration, dialect)]),
  );
  if (await isUpToDate(db, Object.keys(known).sort())) return;
  await upgrade(db, dialect);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const [, missing] = /previously executed migration (\S+) is missing/.exec(String((error as Error).message)) ?? [];
  if (missing !== undefined) throw await unknownMigration(db, missing, error);
  if (failed === undefined) throw error;
  throw new StoreRefused(`The database could not be brought up to date: migration ${failed} failed, and was undone.`, {
    cause: error,
  });
}

/** A database of the last version with two tables of calls is brought to the tables of today. */
async function upgrade(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  if (!(await executedMigrations(db)).includes(LAST_OF_TWO_TABLES)) return;
  try {
    await db.transaction().execute(async (tx) => {
      // Another gateway that starts at the same time waits here, and then finds nothing to do.
      if (dialect === 'postgres') await sql`lock table ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(tx);
      await limitLocks(tx, dialect);
      if ((await executedMigrations(tx)).includes(LAST_OF_TWO_TABLES)) await upgradeFrom0034(tx as never, dialect);
    });
  } catch (cause) {
    throw new StoreRefused(
      `The database could not be brought up to date: the upgrade from ${LAST_OF_TWO_TABLES} failed, and was undone.`,
      { cause },
    );
  }
}

async function unknownMigration(db: Kysely<Tables>, missing: string, cause: unknown): Promise<StoreRefused> {
  if (!(await executedMigrations(db)).includes(FIRST_MIGRATION))
    return new StoreRefused(
      `This is a database of another program: its migration ${missing} is not one of Lastcall. Set DATABASE_URL to a database for Lastcall alone.`,
      { cause },
    );
  if (missing < LAST_OF_TWO_TABLES)
    return new StoreRefused(
      `An early version of Lastcall made this database (migration ${missing}), and this version cannot upgrade it. Start it once with a version that has ${LAST_OF_TWO_TABLES}, or use a new database.`,
      { cause },
    );
  return new StoreRefused(
    `A newer version of Lastcall has used this database (migration ${missing}). Install that version, or restore a backup from before.`,
    { cause },
  );
}

/** Whether exactly these migrations have been executed. */
async function isUpToDate(db: Kysely<Tables>, names: readonly string[]): Promise<boolean> {
  const executed = await executedMigrations(db);
  return executed.length === names.length && executed.every((name, index) => name === names[index]);
}

/** None in a new database. */
async function executedMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  const executed = db.withTables<{ [DEFAULT_MIGRATION_TABLE]: { name: string } }>().selectFrom(DEFAULT_MIGRATION_TABLE);
  try {
    return (await executed.select('name').orderBy('name').execute()).map(({ name }) => name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

/** PostgreSQL has a code for it, SQLite only a message. */
function isMissingTable(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '42P01' || String(message).startsWith('no such table');
}
