// Tests make thousands of small databases and files, and remove them soon: in memory, the system has nothing to write to a disk.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const IN_MEMORY = '/dev/shm';
/** The required free space there and in memory, many times what the tests need at once. Containers often have 64 MB there. */
const ROOM_BYTES = 4 * 1024 ** 3;
const PREFIX = 'lastcall-tests-';
const DAY_MS = 86_400_000;

/** A new folder in memory, which is removed when this process ends. `undefined` if there is no room, or programs cannot be run from it. */
export function memoryFolder() {
  try {
    removeOld();
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    if (Math.min(bavail * bsize, freemem()) < ROOM_BYTES) return undefined;
    const folder = mkdtempSync(join(IN_MEMORY, PREFIX));
    // PostgreSQL runs as another user if this one is the superuser, and has to get through.
    chmodSync(folder, 0o711);
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return canRunFrom(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Folders of runs that were killed would take memory until the machine starts again. */
function removeOld() {
  const names = readdirSync(IN_MEMORY).filter((name) => name.startsWith(PREFIX));
  const isOld = (folder) => Date.now() - statSync(folder).mtimeMs > DAY_MS;
  for (const folder of names.map((name) => join(IN_MEMORY, name)).filter(isOld))
    rmSync(folder, { recursive: true, force: true });
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
