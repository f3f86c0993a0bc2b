import { tmpdir } from 'node:os';

/** The system's folder for temporary files, usually on a disk. Most tests have theirs in memory: `vitest.config.ts`. */
export const diskFolder = (): string => process.env.DISK_FOLDER ?? tmpdir();
