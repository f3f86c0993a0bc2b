import { everyItem } from '@lastcall/client';

/** Lists that people choose from are read whole, up to this many entries: nobody reads more. */
const MOST = 1_000;

export const everyPage: <T>(read: Parameters<typeof everyItem<T>>[0]) => Promise<readonly T[]> = (read) =>
  everyItem(read, { most: MOST });
