import { OptionsError } from '../errors.ts';
import type { WriteMode } from './filesystem.ts';

/** The requested mode, or 'overwrite' if there is none. */
export function writeModeOf(options: { mode?: WriteMode } | undefined): WriteMode {
  const mode = options?.mode ?? 'overwrite';
  if (mode === 'create' || mode === 'overwrite' || mode === 'append') return mode;
  throw new OptionsError('mode', `must be 'create', 'overwrite' or 'append', but ${JSON.stringify(mode)} came.`);
}
