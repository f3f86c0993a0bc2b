// Tests make thousands of small databases and files, and remove them soon: in memory, the system has nothing to write to a disk.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** The required free space there and in memory, many times what the tests need at once. Containers often have 64 MB there. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** A new folder in memory, which is removed when this process ends. `undefined` if there is no room, or programs cannot be run from it. */
export function memoryFolder() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (Math.min(bavail * bsize, freemem()) < ROOM_BYTES) return undefined;
    const folder = mkdtempSync(join(IN_MEMORY, 'lastcall-tests-'));
    // PostgreSQL runs as another user if this one is the superuser, and has to get through.
    chmodSync(folder, 0o711);
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return canRunFrom(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Some tests install programs and run them. Containers often forbid that there. */
function canRunFrom(folder) {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  try {
    execFileSync(program);
    return true;
  } catch {
    return false;
  }
}
