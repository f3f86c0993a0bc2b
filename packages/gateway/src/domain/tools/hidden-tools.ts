import type { Services } from '../../ports/services.ts';

/** Logs the tools of the registry whose names the configuration file now has too: agents get the file's tool. */
export async function logHiddenTools({ store, logger }: Services, namesOfFile: readonly string[]): Promise<void> {
  if (namesOfFile.length === 0) return;
  const rows = await store.transaction((tx) =>
    tx.db.selectFrom('tools').select(['id', 'name']).where('name', 'in', namesOfFile).orderBy('id').execute(),
  );
  for (const { name, id } of rows)
    logger.warn(
      `The tool "${name}" (${id}) of the registry is hidden: the configuration file has a tool of that name. Rename one.`,
    );
}
