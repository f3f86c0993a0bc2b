import { tmpdir } from 'node:os';

/** A folder for temporary files on a disk. Tests that do not need one have theirs in memory: `vitest.config.ts`. */
export const diskFolder = (): string => process.env.DISK_FOLDER ?? tmpdir();
