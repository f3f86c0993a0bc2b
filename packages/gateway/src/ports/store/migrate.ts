import type { Kysely } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import type { Dialect } from './dialect.ts';
import { initial } from './migrations/0001-initial.ts';
import { waitingIndexes } from './migrations/0002-waiting-indexes.ts';
import { streamRevocations } from './migrations/0003-stream-revocations.ts';
import { assertFound } from './migrations/0004-assert-found.ts';
import { agentTools } from './migrations/0005-agent-tools.ts';
import { mcpTools } from './migrations/0006-mcp-tools.ts';
import { jobClaims } from './migrations/0007-job-claims.ts';
import { nestedUsage } from './migrations/0008-nested-usage.ts';
import { storedArtifacts } from './migrations/0009-stored-artifacts.ts';
import { contexts } from './migrations/0010-contexts.ts';
import { questions } from './migrations/0011-questions.ts';
import { mcpCredentials } from './migrations/0012-mcp-credentials.ts';
import { factsForPeople } from './migrations/0014-facts-for-people.ts';
import { toldConversations } from './migrations/0015-told-conversations.ts';
import { signIn } from './migrations/0016-sign-in.ts';
import { requestTexts } from './migrations/0018-request-texts.ts';
import { contextRetention } from './migrations/0021-context-retention.ts';
import { usedLinks } from './migrations/0025-used-links.ts';
import { plainCollation } from './migrations/0026-plain-collation.ts';
import { leanIndexes } from './migrations/0027-lean-indexes.ts';
import { askedDefinitions } from './migrations/0028-asked-definitions.ts';
import { goneMcpTools } from './migrations/0030-gone-mcp-tools.ts';
import { givenContexts } from './migrations/0031-given-contexts.ts';
import { madeBySessions } from './migrations/0032-made-by-sessions.ts';
import { agentFailures } from './migrations/0033-agent-failures.ts';
import { takeoversCountedAnew } from './migrations/0034-takeovers-counted-anew.ts';
import { StoreRefused } from './store-error.ts';
import type { Tables } from './tables.ts';

/** A database without this migration was not made by Lastcall. */
export const FIRST_MIGRATION = '0001-initial';

/** Migrations run forward only, in this order, each once. A released migration is never changed. */
function migrations(dialect: Dialect): Record<string, Migration> {
  return {
    [FIRST_MIGRATION]: initial(dialect),
    '0002-waiting-indexes': waitingIndexes,
    '0003-stream-revocations': streamRevocations,
    '0004-assert-found': assertFound(dialect),
    '0005-agent-tools': agentTools,
    '0006-mcp-tools': mcpTools,
    '0007-job-claims': jobClaims,
    '0008-nested-usage': nestedUsage,
    '0009-stored-artifacts': storedArtifacts,
    '0010-contexts': contexts,
    '0011-questions': questions,
    '0012-mcp-credentials': mcpCredentials,
    '0014-facts-for-people': factsForPeople,
    '0015-told-conversations': toldConversations,
    '0016-sign-in': signIn,
    '0021-context-retention': contextRetention,
    '0018-request-texts': requestTexts,
    '0025-used-links': usedLinks,
    '0026-plain-collation': plainCollation(dialect),
    '0027-lean-indexes': leanIndexes,
    '0028-asked-definitions': askedDefinitions(dialect),
    '0030-gone-mcp-tools': goneMcpTools,
    '0031-given-contexts': givenContexts,
    '0032-made-by-sessions': madeBySessions(dialect),
    '0033-agent-failures': agentFailures(dialect),
    '0034-takeovers-counted-anew': takeoversCountedAnew,
  };
}

/**
 * Brings the tables up to date if they are not. The check comes first, because the migrator takes a lock and looks at
 * all tables, and most starts have nothing to migrate. Kysely holds a lock during the migration: if two gateways start
 * at once, one migrates and the other waits.
 */
export async function migrate(db: Kysely<Tables>, dialect: Dialect): Promise<void> {
  const known = migrations(dialect);
  if (await isUpToDate(db, Object.keys(known).sort())) return;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => known } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results.find(({ status }) => status === 'Error')?.migrationName;
  const [, missing] = /previously executed migration (\S+) is missing/.exec(String((error as Error).message)) ?? [];
  if (missing !== undefined && !(await executedMigrations(db)).includes(FIRST_MIGRATION))
    throw new StoreRefused(
      `This is a database of another program: its migration ${missing} is not one of Lastcall. Set DATABASE_URL to a database for Lastcall alone.`,
      { cause: error },
    );
  if (missing !== undefined)
    throw new StoreRefused(
      `A newer version of Lastcall has used this database (migration ${missing}). Install that version, or restore a backup from before.`,
      { cause: error },
    );
  if (failed === undefined) throw error;
  throw new StoreRefused(`The database could not be brought up to date: migration ${failed} failed, and was undone.`, {
    cause: error,
  });
}

/**
 * True if exactly these migrations have been executed. Other problems, such as a missing table or no connection, are
 * reported by the migrator.
 */
async function isUpToDate(db: Kysely<Tables>, names: readonly string[]): Promise<boolean> {
  const executed = await executedMigrations(db).catch(() => []);
  return executed.length === names.length && executed.every((name, index) => name === names[index]);
}

async function executedMigrations(db: Kysely<Tables>): Promise<readonly string[]> {
  const executed = db.withTables<{ [DEFAULT_MIGRATION_TABLE]: { name: string } }>().selectFrom(DEFAULT_MIGRATION_TABLE);
  return (await executed.select('name').orderBy('name').execute()).map(({ name }) => name);
}
