import { everyItem } from '@lastcall/client';

/** Lists that users choose from are read whole, up to this many entries: no one reads more. */
const MOST = 1_000;

export const everyPage: <T>(read: Parameters<typeof everyItem<T>>[0]) => Promise<readonly T[]> = (read) =>
  everyItem(read, { most: MOST });
