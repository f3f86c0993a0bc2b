import { normalisePath } from '@lastcall/core/internal';

/** The canonical form of a path of a file, as it is stored. Throws a FilesystemError that says what is wrong with it. */
export function storedPath(path: string): string {
  return normalisePath(path, { pathBytes: MAX_PATH_BYTES });
}

/** As long as an id, so that a path can be the cursor of a list. */
const MAX_PATH_BYTES = 500;
