// Tests make thousands of small databases and files, and remove them soon: in memory, the system has nothing to write to a disk.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** The required free space there, and memory that this process may still use. Containers often have 64 MB there. */
const ROOM_BYTES = 4 * 1024 ** 3;
const PREFIX = 'lastcall-tests-';
const HOUR_MS = 3_600_000;

/** A new folder in memory, which is removed when this process ends. `undefined` if there is no room, or programs cannot be run from it. */
export function memoryFolder() {
  try {
    removeOld();
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (Math.min(bavail * bsize, process.availableMemory()) < ROOM_BYTES) return undefined;
    const folder = mkdtempSync(join(IN_MEMORY, PREFIX));
    process.once('exit', () => remove(folder));
    // PostgreSQL runs as another user if this one is the superuser, and has to get through.
    chmodSync(folder, 0o711);
    // Vitest may watch files for days.
    setInterval(() => touch(folder), HOUR_MS).unref();
    return canRunFrom(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Folders of runs that were killed would take memory until the machine starts again. */
function removeOld() {
  for (const name of readdirSync(IN_MEMORY)) if (name.startsWith(PREFIX)) remove(join(IN_MEMORY, name), 24 * HOUR_MS);
}

function touch(folder) {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {}
}

/** What cannot be removed now, because a process still writes to it or because it belongs to another user, stays. */
function remove(folder, olderThanMs = 0) {
  try {
    if (Date.now() - statSync(folder).mtimeMs >= olderThanMs) rmSync(folder, { recursive: true, force: true });
  } catch {}
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
