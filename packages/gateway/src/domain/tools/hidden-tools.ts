import type { Services } from '../../ports/services.ts';
import { findToolRows } from './stored-tool.ts';

/** Logs the tools of the registry whose names the configuration file now has too: agents get the file's tool. */
export async function logHiddenTools({ store, logger }: Services, namesOfFile: readonly string[]): Promise<void> {
  const rows = await store.transaction((tx) => findToolRows(tx.db, namesOfFile));
  for (const { name, id } of rows)
    if (namesOfFile.includes(name))
      logger.warn(
        `The tool "${name}" (${id}) of the registry is hidden: the configuration file has a tool of that name. Rename one.`,
      );
}
